// `mend`: what a person starts when the archiver has stopped at missing objects, before it is started again.
import { mendColdStore } from '@baton/audit'
import type { ColdStore, Pool } from '@baton/audit'
import type { KeyObject } from 'node:crypto'

interface Parts {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly store: ColdStore
  readonly sealKey: KeyObject
}

interface CommandParts {
  /** One JSON object instead of words. */
  readonly json: boolean
  readonly write: (text: string) => void
}

const WHOLE = 0
/** Objects are missing that the database cannot make anew, or others stand in their place. */
const LEFT = 3
const SHOWN_MAX = 20

/** Answers the exit code. */
export async function mendByCommand(parts: Parts, { json, write }: CommandParts): Promise<number> {
  const mended = await mendColdStore(parts)
  write(`${json ? JSON.stringify(mended) : wordsOf(mended).join('\n')}\n`)
  return mended.findings.length === 0 ? WHOLE : LEFT
}

type Mended = Awaited<ReturnType<typeof mendColdStore>>

function wordsOf({ written, findings }: Mended): readonly string[] {
  const left = findings.map(({ origin, seq, rule, message }) => {
    return `  ${rule} ${origin}${seq === null ? '' : ` ${seq}`}: ${message}`
  })
  return [
    `Written anew from the database, whose records lead to the signed root: ${written.length} objects.`,
    ...shortened(written.map((name) => `  ${name}`)),
    ...(left.length === 0
      ? ['Next: start the archiver.']
      : ['NOT mended:', ...shortened(left), NEXT]),
  ]
}

const NEXT =
  'Next: move objects that were changed away and mend again; restore from a copy what the database has no more.'

const shortened = (lines: readonly string[]): readonly string[] =>
  lines.length <= SHOWN_MAX
    ? lines
    : [...lines.slice(0, SHOWN_MAX), `  … and ${lines.length - SHOWN_MAX} more`]
