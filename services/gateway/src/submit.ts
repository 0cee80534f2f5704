// Commits a handoff: many share one commit; one with an Idempotency-Key or an id of another protocol commits together with them.
import { branchesOf, createHandoffSender, sendOutgoing } from '@baton/engine'
import type { HandoffSender, KnownReceivers, LargeWork, Outgoing, Sent } from '@baton/engine'
import type { Summariser } from '@baton/sdk'
import { ProtocolError } from '@baton/protocol'
import type { Jurisdiction, KeyRing } from '@baton/protocol'
import {
  findHandoff,
  inTransaction,
  isConflict,
  repointIdempotencyKey,
  takeExternalRef,
  takeIdempotencyKey,
} from '@baton/store'
import type { Database, FanOutBounds, KeyedRequest, NewHandoff, Pool } from '@baton/store'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { ProblemError } from '@baton/http/server'
import { codeForCaller, invalidHandoff } from './problem.ts'
import type { Submission } from './submission.ts'

interface SubmitterOptions {
  readonly pool: Pool
  readonly receivers: KnownReceivers
  readonly largeWork: LargeWork
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  readonly fanOuts?: FanOutBounds | undefined
  readonly jurisdiction?: Jurisdiction
  readonly summariser?: Summariser | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

export type RequestKey = Omit<KeyedRequest, 'handoffId'>

export interface Submitted extends Pick<
  Sent,
  'handoffId' | 'taskId' | 'taskSeq' | 'traceparent' | 'branches'
> {
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
      const alone = key !== undefined || commitsAlone(submission)
      const own = alone
        ? sender.through((one) => sendOnce(pool, one, { ...submission, key }))
        : sender
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
    throw invalidHandoff(codeForCaller(error.code), error.details, submission.place)
  }
}

// What was sent before is answered as it was then, with the trace it has carried since.
async function answerFor(pool: Pool, sent: Sent): Promise<Submitted> {
  const { state: _, duplicate, ...first } = sent
  if (!duplicate) return { ...first, repeated: false }
  const { handoffId } = sent
  const stored = await findHandoff(pool, handoffId)
  if (stored === undefined) throw KEY_REUSED
  const { taskId, taskSeq, traceparent } = stored
  return { ...first, taskId, taskSeq, traceparent, repeated: true }
}

/** What makes a send recognisable, and what else commits with it. */
interface Once extends Pick<Submission, 'externalRef' | 'within'> {
  readonly key: RequestKey | undefined
}

const commitsAlone = ({ externalRef, within }: Submission): boolean =>
  externalRef !== undefined || within !== undefined

// A refused send throws, which gives key and id back: the caller may mend the body and use them again.
function sendOnce(pool: Pool, outgoing: Outgoing, once: Once): Promise<Sent> {
  const { handoff } = outgoing
  return inTransaction(pool, async (transaction) => {
    const earlier = await findEarlier(transaction, handoff, once)
    if (earlier !== undefined) return repeatedOf(outgoing, earlier)
    await once.within?.(transaction, handoff)
    return sendOutgoing(transaction, outgoing)
  })
}

// The handoff that the same request sent before.
async function findEarlier(
  transaction: Database,
  { handoffId, tenant }: NewHandoff,
  { key, externalRef }: Once,
): Promise<string | undefined> {
  if (key !== undefined) {
    const taken = await taking(takeIdempotencyKey(transaction, { ...key, handoffId }))
    if (taken.kind === 'other_request') throw KEY_REUSED
    if (taken.kind === 'repeated') return taken.handoffId
  }
  if (externalRef === undefined) return undefined
  const taken = await taking(takeExternalRef(transaction, { ...externalRef, handoffId, tenant }))
  if (taken.kind === 'other_request') throw EXTERNAL_ID_REUSED
  if (taken.kind === 'new') return undefined
  if (key !== undefined)
    await repointIdempotencyKey(transaction, { ...key, handoffId: taken.handoffId })
  return taken.handoffId
}

const repeatedOf = ({ handoff, branching }: Outgoing, handoffId: string): Sent => ({
  handoffId,
  taskId: handoff.taskId,
  traceparent: handoff.traceparent,
  taskSeq: 0,
  state: '',
  duplicate: true,
  ...(branching && { branches: branchesOf(branching, handoffId) }),
})

// Waits for a first request that is about to commit, but not longer than the lock time-out.
async function taking<Outcome>(taken: Promise<Outcome>): Promise<Outcome> {
  try {
    return await taken
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

const EXTERNAL_ID_REUSED = new ProblemError({
  status: 409,
  code: 'BATON_EXTERNAL_ID_REUSED',
  detail: 'another handoff was sent before under this id of its protocol',
  fix: 'Use a new id for a new handoff; repeat exactly the same request to repeat it.',
})

const STILL_RUNNING = new ProblemError({
  status: 409,
  code: 'BATON_IDEMPOTENCY_KEY_RUNNING',
  detail: 'a request with this Idempotency-Key or this id is still under way',
  fix: 'Repeat the request after the time in Retry-After to get its answer.',
  headers: { 'retry-after': '1' },
})
