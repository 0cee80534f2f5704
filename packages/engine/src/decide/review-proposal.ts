// What reviewers vote about, as one text: two people agree only where their texts are equal.
import { createHash } from 'node:crypto'
import type { HeldDeadLetter, VotedAction } from '@baton/store'
import type { Redaction } from './redact-message.ts'

export interface Proposal {
  readonly action: VotedAction
  /** JSON, in one spelling. */
  readonly text: string
  /** Lower-case hex digest of the text. */
  readonly sha256: string
}

/** To let these bytes pass this scanner; `validHours` is null where no check is overridden. */
export const proposeRelease = (letter: HeldDeadLetter, validHours: number | null): Proposal =>
  proposalOf('RELEASE', {
    handoffId: letter.handoffId,
    round: letter.round,
    sha256: letter.sha256,
    artefactId: letter.artefactId,
    validHours,
  })

/** To let these bytes go on without the texts at these places, in whatever order they were named. */
export function proposeRedaction(letter: HeldDeadLetter, asked: readonly Redaction[]) {
  const redactions = asked
    .map(({ pointer, spans }) =>
      spans === undefined ? { pointer } : { pointer, spans: inOrder(spans) },
    )
    .toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)))
  const proposal = proposalOf('REDACT', {
    handoffId: letter.handoffId,
    round: letter.round,
    sha256: letter.sha256,
    redactions,
  })
  return { ...proposal, redactions }
}

const inOrder = (spans: NonNullable<Redaction['spans']>) =>
  spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

function proposalOf(action: VotedAction, content: object): Proposal {
  const text = JSON.stringify(content)
  const sha256 = createHash('sha256').update(`baton/proposal/v1\n${action}\n${text}`).digest('hex')
  return { action, text, sha256 }
}
