// A person cancels a handoff or a whole task (R16). Safe to repeat; what executes gets a grace, the rest ends at once.
import { randomUUID } from 'node:crypto'
import { hasHandoffEnded } from '@baton/protocol'
import pRetry from 'p-retry'
import type { Options } from 'p-retry'
import { crashPoint } from '@baton/runtime'
import {
  addOutboxEvents,
  cancelAtOnce,
  cancelIdleTask,
  closeCanceledTask,
  endCanceledHandoffs,
  findCancelState,
  GIVEN_UP_FROM,
  giveUpBranch,
  graceExecutions,
  inTransaction,
  isConflict,
  lockForCancel,
} from '@baton/store'
import type {
  CancelState,
  CancelTarget,
  Database,
  ExpiredHandoff,
  OutboxEvent,
  Pool,
} from '@baton/store'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { wakeRelays } from './wake.ts'

export type CancelRequest = CancelTarget & {
  /** How long a result of what executes still commits. */
  readonly graceMs: number
  /** The operator of the API key that was used. */
  readonly actor: string
}

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

/** Commits the request with its events, one per handoff that it reached, and wakes relays. */
export async function requestCancel(pool: Pool, request: CancelRequest): Promise<Canceled> {
  const outcome = await pRetry(
    () => inTransaction(pool, (transaction) => cancel(transaction, request)),
    IN_TURNS,
  )
  if (outcome.kind === 'canceled' && !outcome.repeated) {
    crashPoint('cancel.after_commit')
    wakeRelays(pool)
  }
  return outcome
}

/** Ends canceled handoffs that execute no more or whose grace is over; answers the events that committed with it. */
export function endCanceled(pool: Pool): Promise<readonly OutboxEvent[]> {
  return inTransaction(pool, async (transaction) => {
    const events = (await endCanceledHandoffs(transaction)).map(canceledEvent)
    if (events.length > 0) await addOutboxEvents(transaction, events)
    return events
  })
}

// A step that hands on while its task is canceled may hold what the cancellation needs, and wait for it.
const IN_TURNS: Options = {
  retries: 2,
  minTimeout: 0,
  shouldRetry: ({ error }) => isConflict(error),
}

async function cancel(transaction: Database, request: CancelRequest): Promise<Canceled> {
  const { taskId } = request
  const before = await findCancelState(transaction, request)
  if (before === undefined) return { kind: 'unknown' }
  const open = await lockForCancel(transaction, request, before.taskId)
  const { taskStatus, state } = (await findCancelState(transaction, request)) ?? before
  const had = request.handoffId === undefined ? taskStatus : state
  if (open.length === 0 && endedOtherwise(had))
    return request.handoffId === undefined
      ? { kind: 'ended', state: had }
      : giveUp(transaction, { ...request, handoffId: request.handoffId }, before)
  const stopping = await graceExecutions(transaction, open, request.graceMs)
  const graced = new Set(stopping.map((one) => one.handoffId))
  const ended = await cancelAtOnce(
    transaction,
    open.filter((id) => !graced.has(id)),
  )
  const idle = taskId !== undefined && (await cancelIdleTask(transaction, taskId))
  if (taskId !== undefined) await closeCanceledTask(transaction, taskId)
  const asked = taskId === undefined ? before.cancelRequested : before.taskCancelRequested
  const repeated = asked && ended.length === 0 && !idle
  if (!repeated) {
    const reached = open.length === 0 ? [before.known] : [...stopping, ...ended]
    const events = [...requestEvents(reached, request.actor), ...ended.map(canceledEvent)]
    await addOutboxEvents(transaction, events)
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

/** A handoff that had ended without a result is given up where its branch is still waited for. */
async function giveUp(
  transaction: Database,
  { handoffId, actor }: { readonly handoffId: string; readonly actor: string },
  { taskId, taskStatus, state, cancelRequested, known }: CancelState,
): Promise<Canceled> {
  const answer = { kind: 'canceled', stopping: [], taskId, taskStatus } as const
  if (await giveUpBranch(transaction, { handoffId, taskId })) {
    await addOutboxEvents(transaction, requestEvents([known], actor))
    crashPoint('cancel.before_commit')
    return { ...answer, ended: [handoffId], repeated: false }
  }
  const wasGivenUp = cancelRequested && GIVEN_UP_FROM.includes(state)
  return wasGivenUp ? { ...answer, ended: [], repeated: true } : { kind: 'ended', state }
}

/** There is nothing left to cancel; CANCELED itself is the answer that was asked for. */
const endedOtherwise = (state: string): boolean => state !== 'CANCELED' && hasHandoffEnded(state)

function requestEvents(reached: readonly ExpiredHandoff[], actor: string): readonly OutboxEvent[] {
  const act = { id: randomUUID(), actor }
  return reached.map((one) => toOutboxEvent({ ...lifecycleEntry(one, 'CANCEL_REQUESTED'), act }))
}

const canceledEvent = (one: ExpiredHandoff): OutboxEvent =>
  toOutboxEvent(lifecycleEntry(one, 'HANDOFF_CANCELED', 'CANCELED'))
