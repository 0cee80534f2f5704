// `recover`: what a person starts when the state file is gone, and reads to the end before the sealer starts again.
import { openColdStore } from '@baton/audit'
import type { Finding } from '@baton/ledger'
import { codeOf, describeStartFailure, readTls } from '@baton/runtime'
import type { BatonError, Logger } from '@baton/runtime'
import { openParts } from './parts.ts'
import type { SealerSettings } from './parts.ts'
import { recoverState } from './recover.ts'
import type { Recovered } from './recover.ts'

interface CommandParts {
  readonly logger: Logger
  /** One JSON object instead of words. */
  readonly json: boolean
  readonly write: (text: string) => void
}

const RECOVERED = 0
/** What stands in the database is not what was signed, or not what an anchor knows. */
const REFUSED = 3
/** Nothing outside the database vouches for it now. */
const CANNOT_SAY = 4
const FINDINGS_SHOWN_MAX = 20

/** Answers the exit code. Throws what a start throws: unusable settings, a database that is away. */
export async function recoverByCommand(
  settings: SealerSettings,
  { logger, json, write }: CommandParts,
): Promise<number> {
  const tls = readTls(settings)
  const parts = await openParts(settings, { tls })
  const cold = openColdStore(settings, tls)
  try {
    const recovery = await recoverState({ ...parts, cold, logger })
    const words =
      recovery.kind === 'refused'
        ? refusalLines(recovery.findings)
        : recoveryLines(recovery.recovered, { ...parts, ...recovery })
    write(`${json ? JSON.stringify(recovery) : words.join('\n')}\n`)
    return recovery.kind === 'refused' ? REFUSED : RECOVERED
  } catch (error) {
    if (!UNCERTAIN.has(codeOf(error))) throw error
    const { message, fix } = error as BatonError
    if (json) write(`${JSON.stringify({ kind: 'unvouched', code: codeOf(error), message, fix })}\n`)
    else write(`NOT recovered, nothing was written. ${describeStartFailure(error as Error)}\n`)
    return CANNOT_SAY
  } finally {
    await parts.pool.end()
  }
}

const UNCERTAIN: ReadonlySet<string> = new Set([
  'BATON_SEALER_UNVOUCHED',
  'BATON_ANCHOR_UNAVAILABLE',
])

function recoveryLines(
  { seals, sealedAt, records, vouchedBy }: Recovered,
  { statePath, evidencePath }: { readonly statePath: string; readonly evidencePath: string },
): string[] {
  const newest = Math.max(...vouchedBy.map(({ size }) => size))
  const alone = seals - newest
  return [
    `Recovered: ${seals} seals until ${sealedAt}; ${records} records hash to the signed roots.`,
    ...vouchedBy.map(({ anchor, size }) => `  vouched for by ${anchor}: ${size} seals`),
    ...(alone > 0 ? [`  the newest ${alone} by the sealer’s own signature alone`] : []),
    `State     ${statePath}`,
    `Evidence  ${evidencePath}`,
    'Next: read both counts, keep the evidence, start the sealer.',
  ]
}

function refusalLines(findings: readonly Finding[]): string[] {
  const shown = findings.slice(0, FINDINGS_SHOWN_MAX)
  const more = findings.length - shown.length
  return [
    'NOT recovered, nothing was written: database and cold store do not hold what was sealed.',
    ...shown.map(({ origin, seq, rule, message }) => {
      return `  ${rule} ${origin}${seq === null ? '' : ` ${seq}`}: ${message}`
    }),
    ...(more > 0 ? [`  … and ${more} more`] : []),
    'Next: keep a copy of the database, the cold store and every anchor. Restore what the anchors know, then recover again.',
  ]
}
