// Commits a handoff: many share one commit; one with an Idempotency-Key commits together with its key.
import { type ReadyMessage, type Sent, createHandoffSender, refusedSend } from '@baton/pipeline'
import type { KeyRing } from '@baton/protocol'
import type { NewHandoff, SendOutcome } from '@baton/protocol/delivery'
import { createNotifier } from '@baton/sdk'
import {
  type KeyedRequest,
  type Pool,
  findHandoff,
  inTransaction,
  isConflict,
  sendHandoffs,
  takeIdempotencyKey,
} from '@baton/store'
import { type Metrics, messagingAttributes, startSpan } from '@baton/telemetry'
import { ProblemError } from './problem.ts'

interface SubmitterOptions {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  readonly metrics: Metrics
}

export type RequestKey = Omit<KeyedRequest, 'handoffId'>

export interface Submitted extends Pick<Sent, 'handoffId' | 'taskId' | 'taskSeq' | 'traceparent'> {
  /** True where an earlier request had sent it; the answer is the earlier one. */
  readonly repeated: boolean
}

export interface Submitter {
  /** Resolves once the handoff is durable (I1). Throws problems and classified errors. */
  submit(ready: ReadyMessage, key: RequestKey | undefined): Promise<Submitted>
  drain(): Promise<void>
}

export function createSubmitter(options: SubmitterOptions): Submitter {
  const { pool } = options
  const wakeRelays = createNotifier(pool)
  const shared = { ...options, wakeRelays }
  const sender = createHandoffSender({ ...shared, sendHandoffs: (handoffs) => sendHandoffs(pool, handoffs) })

  async function submitOnce(ready: ReadyMessage, key: RequestKey): Promise<Submitted> {
    let firstId: string | undefined
    const once = createHandoffSender({
      ...shared,
      sendHandoffs: ([handoff]) =>
        inTransaction(pool, async (transaction) => {
          const { outcome, repeatOf } = await sendWithKey(transaction, handoff as NewHandoff, key)
          firstId = repeatOf
          return [outcome]
        }),
    })
    const sent = await once.sendMessage(ready)
    if (firstId === undefined) return submitted(sent)
    const first = await findHandoff(pool, firstId)
    if (first === undefined) throw KEY_REUSED
    return { ...submitted(first), repeated: true }
  }

  return {
    submit: (ready, key) =>
      traced(ready, async () => {
        if (key !== undefined) return submitOnce(ready, key)
        return submitted(await sender.sendMessage(ready))
      }),
    drain: () => sender.drain(),
  }
}

const submitted = (sent: Omit<Submitted, 'repeated'> & { readonly duplicate?: boolean }): Submitted => {
  const { handoffId, taskId, taskSeq, traceparent, duplicate = false } = sent
  return { handoffId, taskId, taskSeq, traceparent, repeated: duplicate }
}

// The span belongs to the message's own trace, also where the request came in another one.
async function traced(ready: ReadyMessage, work: () => Promise<Submitted>): Promise<Submitted> {
  const { handoffId, taskId, toAgent, traceparent, tracestate } = ready.message
  const destination = toAgent.agentType
  const span = startSpan({
    name: `send ${destination}`,
    kind: 'producer',
    parent: traceparent,
    tracestate,
    attributes: messagingAttributes({ operation: 'send', destination, handoffId, taskId }),
  })
  try {
    return await work()
  } finally {
    span.end()
  }
}

interface KeyedOutcome {
  readonly outcome: SendOutcome
  readonly repeatOf?: string
}

// A refused send throws, which gives the key back: the caller may mend the body and use it again.
async function sendWithKey(
  transaction: Parameters<typeof sendHandoffs>[0],
  handoff: NewHandoff,
  key: RequestKey,
): Promise<KeyedOutcome> {
  const taken = await takeKey(transaction, { ...key, handoffId: handoff.handoffId })
  if (taken.kind === 'other_request') throw KEY_REUSED
  if (taken.kind === 'repeated') {
    return { outcome: { kind: 'duplicate', taskSeq: 0, state: '' }, repeatOf: taken.handoffId }
  }
  const [outcome = { kind: 'conflict' }] = await sendHandoffs(transaction, [handoff])
  if (outcome.kind !== 'sent' && outcome.kind !== 'duplicate') throw refusedSend(handoff, outcome)
  return { outcome }
}

// Waits for a first request that is about to commit, but not longer than the lock time-out.
async function takeKey(transaction: Parameters<typeof sendHandoffs>[0], request: KeyedRequest) {
  try {
    return await takeIdempotencyKey(transaction, request)
  } catch (error) {
    throw isConflict(error) ? STILL_RUNNING : error
  }
}

const KEY_REUSED = new ProblemError({
  status: 422,
  code: 'BATON_IDEMPOTENCY_KEY_REUSED',
  detail: 'This Idempotency-Key was used for another body',
  fix: 'Use a new key for a new handoff; repeat exactly the same body to repeat a request.',
})

const STILL_RUNNING = new ProblemError({
  status: 409,
  code: 'BATON_IDEMPOTENCY_KEY_RUNNING',
  detail: 'A request with this Idempotency-Key is still under way',
  fix: 'Repeat the request after the time in Retry-After to get its answer.',
  headers: { 'retry-after': '1' },
})
