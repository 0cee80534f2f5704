// Two fencing tokens of one handoff in one set, as of a process that claimed it again: only the later one commits anything (I4, I5).
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CompletedStep } from '@baton/engine'
import type { ClaimedHandoff } from '@baton/store'
import { completeSteps, endSet, retrySet } from '@baton/engine'
import { markExecuting } from '@baton/store'
import {
  claim,
  executing,
  newHandoff,
  openStore,
  outboxEventOf,
  receiptOf,
} from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('settlement fencing tokens')
})
afterAll(() => store.close())

/** This process has claimed the handoff again: the lease of its first execution passed. */
async function claimedAgain(): Promise<readonly [ClaimedHandoff, ClaimedHandoff]> {
  const first = await executing(store.pool)
  await store.leaseExpiry(first.handoffId)
  return [first, await claim(store.pool, first)]
}

async function overtaken(): Promise<readonly [ClaimedHandoff, ClaimedHandoff]> {
  const [first, second] = await claimedAgain()
  await markExecuting(store.pool, [receiptOf(second)])
  return [first, second]
}

/** The fencing tokens whose event is to be recorded. */
const eventsOf = async (handoffId: string): Promise<readonly string[]> => {
  const text = 'select entry from audit_outbox where handoff_id = $1'
  return (await store.rows<{ entry: string }>(text, [handoffId])).map(({ entry }) => entry)
}

const eventOf = ({ handoffId, fencingToken }: ClaimedHandoff) =>
  outboxEventOf(handoffId, `{"fencingToken":${fencingToken}}`)

it('a start: only the later one may run', async () => {
  const [first, second] = await claimedAgain()
  const answers = await markExecuting(store.pool, [receiptOf(first), receiptOf(second)])
  expect(answers).toEqual([undefined, expect.any(Number)])
})

it('a result: only the later one hands on, is charged and is told of', async () => {
  const [first, second] = await overtaken()
  const { handoffId, taskId } = first
  const stepOf = (claimed: ClaimedHandoff): CompletedStep => ({
    completion: {
      handoffId,
      fencingToken: claimed.fencingToken,
      costMicroUSD: 10,
      result: `${claimed.fencingToken}`,
      taskResult: null,
    },
    events: [eventOf(claimed)],
    next: [newHandoff({ taskId, parentId: handoffId, fromAgent: `epoch-${claimed.fencingToken}` })],
    fanOut: null,
  })
  expect(await completeSteps(store.pool, [stepOf(first), stepOf(second)])).toEqual([false, true])
  const text = 'select from_agent from handoff where parent_id = $1'
  expect(await store.rows(text, [handoffId])).toEqual([
    { from_agent: `epoch-${second.fencingToken}` },
  ])
  expect(await eventsOf(handoffId)).toEqual([`{"fencingToken":${second.fencingToken}}`])
})

it('another attempt, and an end: only the later one is told of', async () => {
  const why = { reason: 'X', details: '[]' }
  const retried = await overtaken()
  const retries = retried.map((claimed) => ({
    change: { ...claimed, ...why, delayMs: 1, returned: true },
    events: [eventOf(claimed)],
  }))
  expect(await retrySet(store.pool, retries)).toEqual([false, true])
  expect(await eventsOf(retried[0].handoffId)).toEqual([
    `{"fencingToken":${retried[1].fencingToken}}`,
  ])
  const ended = await overtaken()
  const endings = ended.toReversed().map((claimed) => ({
    change: {
      ...claimed,
      ...why,
      state: 'ROLLED_BACK' as const,
      taskStatus: 'PENDING_HANDOFF' as const,
      costMicroUSD: 0,
      alert: true,
      escalate: false,
    },
    events: [eventOf(claimed)],
  }))
  expect(await endSet(store.pool, endings)).toEqual([true, false])
  expect(await eventsOf(ended[0].handoffId)).toEqual([`{"fencingToken":${ended[1].fencingToken}}`])
})
