// What people decide about handoffs under way: approve, refuse, cancel. Safe to repeat; the first decision stands.
import { approvalEvent, cancelRequestEvents } from './steer-handoff.ts'
import type { Actor } from './steer-handoff.ts'
import { canceledEvents } from './sweep.ts'
import { crashPoint } from '@baton/runtime'
import {
  addAuditIntents,
  cancelAtOnce,
  cancelIdleTask,
  closeCanceledTask,
  decideApproval,
  findApproval,
  findCancelState,
  graceExecutions,
  inTransaction,
  isConflict,
  lockForCancel,
} from '@baton/store'
import type {
  ApprovalDecision,
  AuditIntent,
  CancelTarget,
  Database,
  DecidedApproval,
  ExpiredHandoff,
  Pool,
} from '@baton/store'
import { createNotifier } from './notifier.ts'

export interface ApprovalRequest extends Actor {
  readonly handoffId: string
  readonly decision: ApprovalDecision
  readonly reasonCode: string | null
}

export type Decided =
  | { readonly kind: 'decided'; readonly repeated: boolean; readonly approval: DecidedApproval }
  /** Decided otherwise before, expired or canceled; `approval` says which. */
  | { readonly kind: 'closed'; readonly approval: DecidedApproval }
  | { readonly kind: 'unknown' }

export type CancelRequest = Actor & CancelTarget & { readonly graceMs: number }

export type Canceled =
  | {
      readonly kind: 'canceled'
      /** Ended by this request. */
      readonly ended: readonly string[]
      /** Still executing; until when a result of each commits. */
      readonly stopping: readonly { readonly handoffId: string; readonly graceUntil: Date }[]
      readonly taskId: string
      readonly taskStatus: string
      /** True where it had been asked for before, so that nothing was left to do. */
      readonly repeated: boolean
    }
  /** It ended before, in this state. */
  | { readonly kind: 'ended'; readonly state: string }
  | { readonly kind: 'unknown' }

export interface Steering {
  decide(request: ApprovalRequest): Promise<Decided>
  cancel(request: CancelRequest): Promise<Canceled>
}

export function createSteering(pool: Pool): Steering {
  const wakeRelays = createNotifier(pool)
  return {
    async decide(request) {
      const changed = await inTransaction(pool, (transaction) => decide(transaction, request))
      if (changed) {
        crashPoint('approval.after_commit')
        wakeRelays()
      }
      const approval = await findApproval(pool, request.handoffId)
      if (approval === undefined) return { kind: 'unknown' }
      const agreed = changed || approval.decision === request.decision
      return agreed
        ? { kind: 'decided', repeated: !changed, approval }
        : { kind: 'closed', approval }
    },
    async cancel(request) {
      const outcome = await inTurns(() =>
        inTransaction(pool, (transaction) => cancel(transaction, request)),
      )
      if (outcome.kind === 'canceled' && !outcome.repeated) {
        crashPoint('cancel.after_commit')
        wakeRelays()
      }
      return outcome
    },
  }
}

const TRIES_MAX = 3

// A step that hands on while its task is canceled may hold what the cancellation needs, and wait for it.
async function inTurns<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!isConflict(error) || tried >= TRIES_MAX) throw error
    }
  }
}

async function decide(transaction: Database, request: ApprovalRequest): Promise<boolean> {
  const { handoffId, decision, actor, reasonCode } = request
  const act = { handoffId, decision, decidedBy: actor, reasonCode }
  const known = await decideApproval(transaction, act)
  if (known === undefined) return false
  await addAuditIntents(transaction, [approvalEvent(known, request)])
  crashPoint('approval.before_commit')
  return true
}

async function cancel(transaction: Database, request: CancelRequest): Promise<Canceled> {
  const before = await findCancelState(transaction, request)
  if (before === undefined) return { kind: 'unknown' }
  const open = await lockForCancel(transaction, request, before.taskId)
  const { taskStatus, state } = (await findCancelState(transaction, request)) ?? before
  const had = request.handoffId === undefined ? taskStatus : state
  if (open.length === 0 && ENDED.has(had)) return { kind: 'ended', state: had }
  const stopping = await graceExecutions(transaction, open, request.graceMs)
  const graced = new Set(stopping.map((one) => one.handoffId))
  const ended = await cancelAtOnce(
    transaction,
    open.filter((id) => !graced.has(id)),
  )
  const idle = request.taskId !== undefined && (await cancelIdleTask(transaction, request.taskId))
  if (request.taskId !== undefined) await closeCanceledTask(transaction, request.taskId)
  const repeated = isRepeated(request, before, { ended, idle })
  if (!repeated) {
    const reached = open.length === 0 ? [before.known] : [...stopping, ...ended]
    await addAuditIntents(transaction, eventsOf(request, { reached, ended }))
    crashPoint('cancel.before_commit')
  }
  const after = await findCancelState(transaction, request)
  return {
    kind: 'canceled',
    ended: ended.map((one) => one.handoffId),
    stopping: stopping.map(({ handoffId, graceUntil }) => ({ handoffId, graceUntil })),
    taskId: before.taskId,
    taskStatus: after?.taskStatus ?? before.taskStatus,
    repeated,
  }
}

/** States in which there is nothing left to cancel; CANCELED itself is the answer that was asked for. */
const ENDED = new Set([
  'COMPLETED',
  'PARTIAL',
  'FAILED',
  'REJECTED',
  'BLOCKED',
  'EXPIRED',
  'DEAD_LETTERED',
  'ROLLED_BACK',
])

interface Reach {
  readonly ended: readonly ExpiredHandoff[]
  readonly idle: boolean
}

function isRepeated(
  { handoffId }: CancelRequest,
  before: { readonly cancelRequested: boolean; readonly taskCancelRequested: boolean },
  { ended, idle }: Reach,
): boolean {
  const asked = handoffId === undefined ? before.taskCancelRequested : before.cancelRequested
  return asked && ended.length === 0 && !idle
}

function eventsOf(
  actor: Actor,
  { reached, ended }: Pick<Reach, 'ended'> & { readonly reached: readonly ExpiredHandoff[] },
): readonly AuditIntent[] {
  return [...cancelRequestEvents(reached, actor), ...canceledEvents(ended)]
}
