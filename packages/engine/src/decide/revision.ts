// What becomes of a correction, by what it meets; pure.
import { hasTaskEnded } from '@baton/protocol'
import type { RevisableHandoff, Revision } from '@baton/store'

/**
 * `stale`: another correction was there first. `claimed`: it is being tried at this moment.
 * `closed`: it was not returned, or has ended. `budget`: the task's budget or what remains would change.
 */
export type RevisionOutcome =
  | { readonly kind: 'revised'; readonly state: string }
  | { readonly kind: 'duplicate'; readonly state: string }
  | { readonly kind: 'stale'; readonly revision: number }
  | { readonly kind: 'unknown' | 'claimed' | 'closed' | 'budget' }

/** Decides between it, another correction and an execution that begins; `standing` has its rows locked. */
export function decideRevision(
  standing: RevisableHandoff | undefined,
  { revision, message }: Revision,
): RevisionOutcome {
  if (standing === undefined) return { kind: 'unknown' }
  const { askedSha256, state } = standing
  if (askedSha256 !== null && Buffer.from(askedSha256).equals(message.requestSha256)) {
    return { kind: 'duplicate', state }
  }
  if (revision !== standing.revision + 1) return { kind: 'stale', revision: standing.revision }
  if (standing.live) return { kind: 'claimed' }
  const isOpen = standing.returned || standing.asked
  if (!isOpen || hasTaskEnded(standing.taskStatus)) return { kind: 'closed' }
  if (!keepsBudget(standing, message)) return { kind: 'budget' }
  return { kind: 'revised', state: message.requiresApproval ? 'AWAITING_APPROVAL' : 'QUEUED' }
}

type Budget = Pick<RevisableHandoff, 'spentMicroUSD' | 'remainingMicroUSD'>

// What the correction itself cost is spent of what remained, and not of what a child was promised.
const keepsBudget = (
  before: Budget & Pick<RevisableHandoff, 'childRemainingMicroUSD'>,
  after: Budget,
): boolean =>
  after.spentMicroUSD + after.remainingMicroUSD ===
    before.spentMicroUSD + before.remainingMicroUSD &&
  after.remainingMicroUSD <= before.remainingMicroUSD &&
  (before.childRemainingMicroUSD === null ||
    after.remainingMicroUSD >= before.childRemainingMicroUSD)
