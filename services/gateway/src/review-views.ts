// What the API shows of a review: the evidence, who voted for what, and what is still needed. Never the text.
import { reviewersNeeded } from '@baton/engine'
import type { DeadLetterCase, RedriveView, Vote } from '@baton/store'
import { showDeadLetter } from './views.ts'

interface CaseContext {
  readonly votes: readonly Vote[]
  /** Who asks. */
  readonly operator: string
  /** The scanner that judges now. */
  readonly artefactId: string
}

export function showCase(letter: DeadLetterCase, { votes, operator, artefactId }: CaseContext) {
  const waits = letter.resolvedAt === null
  return {
    ...showDeadLetter(letter),
    scanner: { reviewed: letter.artefactId, now: artefactId },
    /** Nobody decides about what was sent with their own key. */
    own: letter.sentBy === operator,
    release: waits ? { needed: reviewersNeeded(letter.reason, 'RELEASE') } : null,
    redact: waits ? { needed: reviewersNeeded(letter.reason, 'REDACT') } : null,
    proposals: proposalsOf(votes),
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
