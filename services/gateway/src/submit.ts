// Commits a handoff: many share one commit; one with an Idempotency-Key commits together with its key.
import { createHandoffSender, sendOne } from '@baton/engine'
import type { HandoffSender, Sent } from '@baton/engine'
import { ProtocolError } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import { findHandoff, inTransaction, isConflict, takeIdempotencyKey } from '@baton/store'
import type { Database, KeyedRequest, NewHandoff, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { ProblemError } from '@baton/http/server'
import { invalidHandoff } from './problem.ts'
import type { Submission } from './submission.ts'

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
  submit(submission: Submission, key: RequestKey | undefined): Promise<Submitted>
  drain(): Promise<void>
}

export function createSubmitter(options: SubmitterOptions): Submitter {
  const { pool } = options
  const sender = createHandoffSender(options)
  return {
    async submit(submission, key) {
      const own = key === undefined ? sender : sender.through((one) => sendOnce(pool, one, key))
      return answerFor(pool, await sendPlaced(submission, own))
    },
    drain: () => sender.drain(),
  }
}

async function sendPlaced(submission: Submission, sender: HandoffSender): Promise<Sent> {
  try {
    return await submission.send(sender)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw invalidHandoff('BATON_HANDOFF_INVALID', error.details, submission.place)
  }
}

// What was sent before is answered as it was then, with the trace it has carried since.
async function answerFor(pool: Pool, sent: Sent): Promise<Submitted> {
  const { handoffId, taskId, taskSeq, traceparent, duplicate } = sent
  if (!duplicate) return { handoffId, taskId, taskSeq, traceparent, repeated: false }
  const first = await findHandoff(pool, handoffId)
  if (first === undefined) throw KEY_REUSED
  return {
    handoffId,
    taskId: first.taskId,
    taskSeq: first.taskSeq,
    traceparent: first.traceparent,
    repeated: true,
  }
}

// A refused send throws, which gives the key back: the caller may mend the body and use it again.
function sendOnce(pool: Pool, handoff: NewHandoff, key: RequestKey): Promise<Sent> {
  return inTransaction(pool, async (transaction) => {
    const taken = await takeKey(transaction, { ...key, handoffId: handoff.handoffId })
    if (taken.kind === 'other_request') throw KEY_REUSED
    if (taken.kind === 'new') return sendOne(transaction, handoff)
    const { taskId, traceparent } = handoff
    return {
      handoffId: taken.handoffId,
      taskId,
      traceparent,
      taskSeq: 0,
      state: '',
      duplicate: true,
    }
  })
}

// Waits for a first request that is about to commit, but not longer than the lock time-out.
async function takeKey(transaction: Database, request: KeyedRequest) {
  try {
    return await takeIdempotencyKey(transaction, request)
  } catch (error) {
    throw isConflict(error) ? STILL_RUNNING : error
  }
}

const KEY_REUSED = new ProblemError({
  status: 422,
  code: 'BATON_IDEMPOTENCY_KEY_REUSED',
  detail: 'this Idempotency-Key was used for another body',
  fix: 'Use a new key for a new handoff; repeat exactly the same body to repeat a request.',
})

const STILL_RUNNING = new ProblemError({
  status: 409,
  code: 'BATON_IDEMPOTENCY_KEY_RUNNING',
  detail: 'a request with this Idempotency-Key is still under way',
  fix: 'Repeat the request after the time in Retry-After to get its answer.',
  headers: { 'retry-after': '1' },
})
