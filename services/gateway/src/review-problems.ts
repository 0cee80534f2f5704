// Why a review decided nothing, as a problem with a stable code and the next thing to do.
import type { ReviewRefusal } from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { invalidHandoff } from './problem.ts'
import { unsignedProblem } from './signed-decision.ts'

export const DEAD_LETTER_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_DEAD_LETTER_UNKNOWN',
  detail: 'there is no dead letter of this handoff',
  fix: 'GET /v2/dead-letters lists those that wait.',
})

const OWN = new ProblemError({
  status: 403,
  code: 'BATON_REVIEW_OWN_HANDOFF',
  detail: 'this handoff was sent with a key of the same operator; nobody reviews their own',
  fix: 'Have two other people decide.',
})

const conflict = (code: `BATON_${string}`, detail: string, fix: string) =>
  new ProblemError({ status: 409, code, detail, fix })

const TASK_ENDED = conflict(
  'BATON_TASK_ENDED',
  'the task has ended or is being canceled; the handoff would not execute any more',
  'Discard the dead letter.',
)

const OVERDUE = conflict(
  'BATON_HANDOFF_OVERDUE',
  'the deadline of this handoff has passed; it would not execute any more',
  'Discard the dead letter, and have its sender send a new handoff.',
)

const NO_VERDICT = conflict(
  'BATON_RELEASE_IMPOSSIBLE',
  'no scanner gave a verdict about this message, so there is none that a release could override',
  'Try a dry run; if the message passes now, re-drive it. Otherwise redact it or ask its sender.',
)

const NO_PROPOSAL = conflict(
  'BATON_PROPOSAL_UNKNOWN',
  'nobody has proposed this about the message as it waits now',
  'Read the dead letter again and name a proposal it lists, or name the redactions themselves.',
)

/** Throws, whatever the reason. */
export function throwRefusal(refusal: ReviewRefusal): never {
  switch (refusal.why) {
    case 'unknown':
      throw DEAD_LETTER_UNKNOWN
    case 'own':
      throw OWN
    case 'task_ended':
      throw TASK_ENDED
    case 'overdue':
      throw OVERDUE
    case 'no_verdict':
      throw NO_VERDICT
    case 'no_proposal':
      throw NO_PROPOSAL
    case 'resolved':
      throw conflict(
        'BATON_DEAD_LETTER_RESOLVED',
        `it was decided before: ${refusal.resolution}`,
        'Read the handoff to see what became of it.',
      )
    case 'not_allowed':
      throw conflict(
        'BATON_REVIEW_NOT_ALLOWED',
        `a message refused for ${refusal.reason} is never passed on: nobody vouches for its bytes`,
        'Discard it, or ask its sender to send it again.',
      )
    case 'unsigned':
      throw unsignedProblem(refusal)
    case 'redaction': {
      const code = refusal.unsafe ? 'BATON_REDACTION_UNSAFE' : 'BATON_REDACTION_INVALID'
      throw invalidHandoff(code, refusal.details)
    }
  }
}
