// A classifier on the whole system: what it raises waits for people, who can release it; while it thinks, nothing waits for it but its handoff.
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createHttpClassifier } from '@baton/sdk'
import { startClassifierServer } from '@baton/engine/fixtures/classifier-server'
import type { ClassifierAnswer, ClassifierServer } from '@baton/engine/fixtures/classifier-server'
import { eventually } from '@baton/testkit'
import { newTask } from '../fault/driver.ts'
import { recordingAgent } from './pipeline-fixture.ts'
import { openPullWorld } from './pull-fixture.ts'
import { openReview } from './review-fixture.ts'
import type { ReviewSystem } from './review-fixture.ts'

const LEASE_MS = 1_000
const recording = recordingAgent('asked')

let server: ClassifierServer
let review: ReviewSystem
beforeAll(async () => {
  server = await startClassifierServer()
  review = await openReview('classifier')
  const classifier = createHttpClassifier({ url: server.url, name: 'guard', timeoutMs: 20_000 })
  await review.pipeline.start([recording.agent], { classifier, leaseMs: LEASE_MS })
})
afterAll(async () => {
  await review.close()
  server.close()
})
beforeEach(() => {
  server.answer = () => ({ version: '3.1', verdict: 'allow' })
})

/** Carl sends what no rule of the scanner finds. */
async function send(text = 'The supplier delivers every item.', targetAgentType = 'asked') {
  const { timestamp: _, ...state } = newTask()
  const agentState = { ...state, currentState: { text } }
  const asked = { agentState, targetAgentType }
  const { status, body } = await review.call('carl', 'POST', '/v2/handoffs', asked)
  expect(status).toBe(202)
  return { handoffId: body.handoffId as string, taskId: body.taskId as string }
}

const decisionsOf = async (taskId: string) => {
  const text = 'select body from audit.record where task_id = $1 order by seq'
  const { rows } = await review.pipeline.audit.query<{ body: Buffer }>({ text, values: [taskId] })
  return rows
    .map(({ body }) => JSON.parse(body.toString()) as Readonly<Record<string, unknown>>)
    .filter(({ verdicts }) => verdicts !== null)
}

interface Claim {
  readonly leaseMs: number
  readonly fencingToken: string
  /** Of workers, for longer than any statement takes. */
  readonly openTransactions: number
}

async function claimOf(handoffId: string): Promise<Claim> {
  const [claim] = await review.pipeline.rows<Claim>(
    `select extract(epoch from lease_until)::float8 * 1000 as "leaseMs", fencing_token::text as "fencingToken",
       (select count(*)::int from pg_stat_activity where application_name = 'baton-worker'
         and xact_start < now() - interval '500 milliseconds') as "openTransactions"
     from execution where handoff_id = $1`,
    [handoffId],
  )
  if (claim === undefined) throw new Error('nobody has claimed it')
  return claim
}

it('stops what it rejects until two people release it, and is named in every decision', async () => {
  server.answer = () => ({ version: '3.1', verdict: 'reject', pointer: '/currentState/text' })
  const { handoffId, taskId } = await send()
  await review.pipeline.reaches(handoffId, 'DEAD_LETTERED')
  expect(recording.executed).toEqual([])
  const { body } = await review.call('ann', 'GET', `/v2/dead-letters/${handoffId}`)
  expect(body).toMatchObject({
    reason: 'SAFETY_VIOLATION',
    details: [{ rule: 'classifier', pointer: '/currentState/text' }],
  })
  await review.decide('ann', handoffId, 'release')
  await review.decide('bob', handoffId, 'release')
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  const classifier = { name: 'guard', version: '3.1', decision: 'reject', scanner: 'allow' }
  const safety = { decision: 'reject' }
  expect(await decisionsOf(taskId)).toMatchObject([
    { event: 'HANDOFF_REJECTED', verdicts: { safety }, classifier },
    {
      event: 'HANDOFF_ACCEPTED',
      verdicts: { safety },
      classifier,
      release: expect.any(String) as string,
    },
  ])
})

it('holds no connection while it thinks, keeps the claim, and lets other handoffs pass', async () => {
  const thinking = Promise.withResolvers<ClassifierAnswer>()
  server.answer = ({ texts }) =>
    texts.some(({ text }) => text.includes('slow'))
      ? thinking.promise
      : { version: '3.1', verdict: 'allow' }
  const slow = await send('The supplier is slow.')
  const asked = { deadlineMs: 15_000, describe: () => 'the classifier is asked' }
  await eventually(
    async () => server.asked.at(-1)?.texts.some(({ text }) => text.includes('slow')) === true,
    asked,
  )
  const quick = await send()
  await review.pipeline.reaches(quick.handoffId, 'COMPLETED')
  // Three leases later the claim is still the first one's, and no transaction is open meanwhile.
  const first = await claimOf(slow.handoffId)
  await eventually(
    async () => {
      const { leaseMs, fencingToken, openTransactions } = await claimOf(slow.handoffId)
      expect({ fencingToken, openTransactions }).toEqual({ fencingToken: '1', openTransactions: 0 })
      return leaseMs > first.leaseMs + 3 * LEASE_MS
    },
    { deadlineMs: 15_000, describe: () => 'the claim is kept' },
  )
  thinking.resolve({ version: '3.1', verdict: 'flag' })
  await review.pipeline.reaches(slow.handoffId, 'COMPLETED')
  expect(await decisionsOf(slow.taskId)).toMatchObject([
    { event: 'HANDOFF_ACCEPTED', epoch: 1, classifier: { decision: 'flag', scanner: 'allow' } },
  ])
})

it('has what it flags rejected for an agent type that takes nothing flagged, until two people release it', async () => {
  const strict = recordingAgent('strict')
  const classifier = createHttpClassifier({ url: server.url, name: 'guard', timeoutMs: 20_000 })
  await review.pipeline.start([strict.agent], { classifier, rejectFlagged: ['strict'] })
  server.answer = () => ({ version: '3.1', verdict: 'flag' })
  const { handoffId, taskId } = await send(undefined, 'strict')
  const { details } = await review.pipeline.reaches(handoffId, 'DEAD_LETTERED')
  expect(details).toMatchObject([{ rule: 'rejects-flagged' }, { rule: 'classifier' }])
  await review.decide('ann', handoffId, 'release')
  await review.decide('bob', handoffId, 'release')
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  expect(strict.executed).toHaveLength(1)
  const judged = { policy: 'REJECTS_FLAGGED', classifier: { decision: 'flag', scanner: 'allow' } }
  expect(await decisionsOf(taskId)).toMatchObject([
    { event: 'HANDOFF_REJECTED', ...judged },
    { event: 'HANDOFF_ACCEPTED', ...judged, release: expect.any(String) as string },
  ])
})

it('is asked by gateways too, about what agents outside claim', async () => {
  server.answer = () => ({ version: '3.1', verdict: 'reject' })
  const world = await openPullWorld('classifier of a gateway', undefined)
  try {
    await world.startGateway({ BATON_CLASSIFIER_URL: server.url, BATON_CLASSIFIER_NAME: 'guard' })
    const asking = world.claim('pulled', { waitMs: 2_000 })
    const { handoffId } = await world.send('pulled')
    const { reason, details } = await world.reaches(handoffId, 'DEAD_LETTERED')
    expect({ reason, details }).toMatchObject({
      reason: 'SAFETY_VIOLATION',
      details: [{ rule: 'classifier' }],
    })
    expect(await asking).toEqual([])
  } finally {
    await world.close()
  }
})
