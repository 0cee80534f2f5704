// What the API shows of a review: the evidence, who voted for what, and what is still needed. Never the text.
import { hasSent, reviewersNeeded } from '@baton/engine'
import type { DeadLetterCase, RedriveView, Vote } from '@baton/store'
import type { RecordedCase } from './recorded-case.ts'
import { showDeadLetter } from './views.ts'

interface CaseContext {
  readonly votes: readonly Vote[]
  /** Who asks. */
  readonly operator: string
  /** The scanner that judges now. */
  readonly rulesetVersion: string
  /** What the log says of it. */
  readonly recorded: RecordedCase | null
}

/** HTTP calls a ruleset version `artefactId`. */
export function showCase(
  { rulesetVersion: reviewed, ...deadLetter }: DeadLetterCase,
  { votes, operator, rulesetVersion, recorded }: CaseContext,
) {
  const waits = deadLetter.resolvedAt === null
  return {
    ...showDeadLetter(deadLetter),
    artefactId: reviewed,
    scanner: { reviewed, now: rulesetVersion },
    /** Nobody decides about what was sent with their own key. */
    own: hasSent(deadLetter, operator),
    release: waits ? { needed: reviewersNeeded(deadLetter.reason, 'RELEASE') } : null,
    redact: waits ? { needed: reviewersNeeded(deadLetter.reason, 'REDACT') } : null,
    proposals: proposalsOf(votes),
    recorded,
  }
}

function proposalsOf(votes: readonly Vote[]): readonly object[] {
  const byProposal = Map.groupBy(votes, (vote) => vote.proposalSha256)
  return [...byProposal].map(([proposal, agreeing]) => ({
    proposal,
    action: agreeing[0]?.action,
    content: agreeing[0]?.proposal,
    reviewers: agreeing.map(({ reviewer, createdAt }) => ({ reviewer, at: createdAt })),
  }))
}

export const showRedrive = (redrive: RedriveView): object => ({
  ...redrive,
  links: { self: `/v2/dead-letters/redrives/${redrive.redriveId}` },
})
