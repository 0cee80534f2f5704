// Commits a correction: the row locks decide between it, another correction and an execution that begins.
import type {
  AuditIntent,
  RevisableHandoff,
  Revision,
  RevisionBase,
  RevisionOutcome,
} from '@baton/store'
import { crashPoint, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { randomUUID } from 'node:crypto'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import type { PrepareOptions } from './prepare-handoff.ts'
import { prepareRevision } from './prepare-revision.ts'
import type { Correction } from './prepare-revision.ts'

/** What becomes of a revision, and the event that commits with it. */
export interface RevisionDecision {
  readonly outcome: RevisionOutcome
  readonly intents: readonly AuditIntent[]
}

export interface ReviseDeps extends PrepareOptions {
  /** In one transaction: locks the handoff, asks `decide`, and applies what was decided to be revised. */
  commitRevision(
    revision: Revision,
    decide: (standing: RevisableHandoff | undefined) => RevisionDecision,
  ): Promise<RevisionOutcome>
  wakeRelays(): void
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface ReviseRequest {
  readonly base: RevisionBase
  readonly correction: Correction
  /** The revision that it wants to be: the one that was returned, plus one. */
  readonly revision: number
  /** Who answers for it: the operator, or the sending agent itself. */
  readonly actor: string
}

/**
 * Makes the correction the next revision of its handoff and publishes it at once (E09). Repeating the
 * same correction answers `duplicate`. Throws permanent errors where it cannot be prepared.
 */
export async function reviseHandoff(
  deps: ReviseDeps,
  { base, correction, revision, actor }: ReviseRequest,
): Promise<RevisionOutcome> {
  const prepared = prepareRevision(base, correction, { ...deps, revision })
  crashPoint('returns.before_commit')
  const outcome = await deps.commitRevision(prepared, (standing) =>
    decideRevision(standing, prepared, actor),
  )
  crashPoint('returns.after_commit')
  if (outcome.kind === 'revised') {
    deps.wakeRelays()
    deps.metrics.revisionsTotal.inc()
    const { handoffId, taskId } = prepared.message
    deps.logger.info({ event: 'handoff.revised', handoffId, taskId, revision })
  }
  return outcome
}

/** What a revision meets decides what becomes of it; pure. */
export function decideRevision(
  standing: RevisableHandoff | undefined,
  revision: Revision,
  actor: string,
): RevisionDecision {
  const outcome = outcomeOf(standing, revision)
  if (standing === undefined || outcome.kind !== 'revised') return { outcome, intents: [] }
  const act = { id: randomUUID(), actor }
  return {
    outcome,
    intents: [toIntent({ ...lifecycleEntry(standing, 'HANDOFF_REVISED'), act })],
  }
}

const OPEN_TASK: readonly string[] = ['PENDING_HANDOFF', 'RUNNING', 'AWAITING_HUMAN']

function outcomeOf(
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
  if (!isOpen || !OPEN_TASK.includes(standing.taskStatus)) return { kind: 'closed' }
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

type RefusedRevision = Exclude<RevisionOutcome, { readonly kind: 'revised' | 'duplicate' }>

/** Why a correction was not taken, as an error a caller can act on. */
export function refusedRevision(handoffId: string, outcome: RefusedRevision): Error {
  switch (outcome.kind) {
    case 'unknown':
      return permanent('BATON_HANDOFF_UNKNOWN', `there is no handoff ${handoffId}`, {
        fix: 'Use the handoffId as it was answered.',
      })
    case 'stale':
      return permanent(
        'BATON_REVISION_CONFLICT',
        `handoff ${handoffId} stands at revision ${outcome.revision}`,
        { fix: `Correct revision ${outcome.revision}, or leave it as somebody else corrected it.` },
      )
    case 'claimed':
      return permanent(
        'BATON_HANDOFF_CLAIMED',
        `handoff ${handoffId} is being tried at this moment`,
        { fix: 'Wait: if it is refused again, its sender is told again and can correct it then.' },
      )
    case 'closed':
      return permanent(
        'BATON_HANDOFF_NOT_RETURNED',
        `handoff ${handoffId} waits for no correction`,
        {
          fix: 'Only a returned handoff, or a dead letter whose sender was asked, takes a correction; after a rollback resume the task.',
        },
      )
    case 'budget':
      return permanent(
        'BATON_BUDGET_MISMATCH',
        '/costTracking: the budget of the task would change, or more would remain than before, or less than for a handoff that names this one as its parent',
        { fix: 'Keep spent + remaining as they were; add what the correction cost to spent.' },
      )
  }
}
