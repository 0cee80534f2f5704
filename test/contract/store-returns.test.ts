// What senders are told, on a real Postgres: inserted with what it tells of, taken by one, told at least once, bounded.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  acknowledgeNotifications,
  endHandoffs,
  expireHandoffs,
  retryHandoffs,
  sendHandoffs,
  sweepNotifications,
  sweepRetries,
  takeNotifications,
} from '@baton/store'
import type { NewHandoff } from '@baton/store'
import { eventually } from '@baton/testkit'
import { claim, newHandoff, openStore, outboxEventOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store returns')
})
afterAll(() => store.close())

let agents = 0
/** A sender of its own, so that tests do not take each other's notices. */
const sender = (): string => `sender-${(agents += 1)}`

const take = (agent: string, { taker = 'one', leaseMs = 30_000, limit = 10 } = {}) =>
  takeNotifications(store.pool, {
    agents: [agent, 'nobody'],
    kinds: ['return', 'rollback'],
    taker,
    leaseMs,
    limit,
  })

/** Sends, claims and returns one handoff; its next attempt is an hour away unless told. */
async function returned(changes: Partial<NewHandoff>, delayMs = 3_600_000): Promise<NewHandoff> {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  await returnToSender(handoff, delayMs)
  return handoff
}

async function returnToSender(
  handoff: NewHandoff,
  delayMs: number,
  publishAttempt = 1,
): Promise<void> {
  const { fencingToken } = await claim(store.pool, handoff, { publishAttempt })
  const { handoffId } = handoff
  const details = '[{"pointer":"/currentState/text","rule":"required"}]'
  const change = {
    handoffId,
    fencingToken,
    reason: 'INCOMPLETE_CONTEXT',
    details,
    delayMs,
    returned: true,
  }
  await retryHandoffs(store.pool, [change], [outboxEventOf(handoffId)])
}

const dueMs = async ({ handoffId }: NewHandoff): Promise<number> => {
  const [row] = await store.rows<{ ms: number }>(
    `select extract(epoch from due - clock_timestamp())::float8 * 1000 as ms from retry where handoff_id = $1`,
    [handoffId],
  )
  return row?.ms ?? Number.NaN
}

describe('a return', () => {
  it('is told to its sender with reason, places, attempt, message and checkpoint', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent })
    const [notice, ...others] = await take(fromAgent)
    expect(others).toEqual([])
    expect(notice).toMatchObject({
      kind: 'return',
      handoffId: handoff.handoffId,
      taskId: handoff.taskId,
      fromAgent,
      toAgent: 'reviewer',
      attempt: 1,
      attemptsMax: 3,
      revision: 1,
      reason: 'INCOMPLETE_CONTEXT',
      details: [{ pointer: '/currentState/text', rule: 'required' }],
      signature: handoff.signature,
    })
    expect(Buffer.from(notice?.body ?? [])).toEqual(handoff.body)
    expect(Buffer.from(notice?.checkpoint ?? [])).toEqual(handoff.checkpoint)
  })

  it('is taken by one of many at once, and by nobody who answers for other agents', async () => {
    const fromAgent = sender()
    await Promise.all(Array.from({ length: 6 }, () => returned({ fromAgent })))
    expect(await take('somebody else')).toEqual([])
    const takers = ['a', 'b', 'c'].map((taker) => take(fromAgent, { taker, limit: 4 }))
    const told = (await Promise.all(takers)).flat()
    const rest = await take(fromAgent)
    const ids = [...told, ...rest].map((notice) => notice.noticeId)
    expect(ids).toHaveLength(6)
    expect(new Set(ids).size).toBe(6)
  })

  it('holds its next attempt back while it is taken, never past its expiry', async () => {
    const fromAgent = sender()
    const soon = new Date(Date.now() + 20_000).toISOString()
    const plain = await returned({ fromAgent }, 0)
    const expiring = await returned({ fromAgent, expiresAt: soon }, 0)
    await take(fromAgent, { leaseMs: 30_000 })
    expect(await dueMs(plain)).toBeGreaterThan(25_000)
    expect(await dueMs(expiring)).toBeLessThan(20_500)
    expect(await dueMs(expiring)).toBeGreaterThan(5_000)
  })

  it('is held back also where its next attempt was published already', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent }, 0)
    await sweepRetries(store.pool)
    expect(await dueMs(handoff)).toBeNaN()
    await take(fromAgent)
    expect(await dueMs(handoff)).toBeGreaterThan(25_000)
    await expect(claim(store.pool, handoff, { publishAttempt: 2 })).rejects.toThrow('refused')
  })

  it('never shortens a longer wait', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent })
    await take(fromAgent, { leaseMs: 1_000 })
    expect(await dueMs(handoff)).toBeGreaterThan(3_000_000)
  })

  it('that nobody acknowledged is told again after its lease, at most five times', async () => {
    const fromAgent = sender()
    await returned({ fromAgent })
    for (let told = 1; told <= 5; told += 1) {
      const found = await eventually(
        async () => {
          const notices = await take(fromAgent, { leaseMs: 1 })
          return notices.length === 1 && notices
        },
        { deadlineMs: 30_000, describe: `told for the time ${told}` },
      )
      expect(found).toHaveLength(1)
    }
    expect(await take(fromAgent, { leaseMs: 1 })).toEqual([])
  })

  it('that cannot be corrected is tried again at once; acknowledging twice changes nothing', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent })
    const [notice] = await take(fromAgent, { taker: 'mine' })
    const ids = [notice?.noticeId ?? '']
    expect((await acknowledgeNotifications(store.pool, ids, 'not mine')).size).toBe(0)
    expect(await dueMs(handoff)).toBeGreaterThan(3_000_000)
    expect([...(await acknowledgeNotifications(store.pool, ids, 'mine'))]).toEqual(ids)
    expect(await dueMs(handoff)).toBeLessThan(100)
    expect([...(await acknowledgeNotifications(store.pool, ids, 'mine'))]).toEqual(ids)
    expect(await take(fromAgent, { leaseMs: 1 })).toEqual([])
  })

  it('is not told once it was tried again, and does not hide what stands behind it', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent }, 0)
    await sweepRetries(store.pool)
    await returnToSender(handoff, 3_600_000, 2)
    expect((await take(fromAgent, { limit: 1 })).map((notice) => notice.attempt)).toEqual([2])
  })

  it('leaves an execution alone that has begun meanwhile', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent }, 0)
    await sweepRetries(store.pool)
    await claim(store.pool, handoff, { publishAttempt: 2 })
    await take(fromAgent)
    expect(await dueMs(handoff)).toBeNaN()
  })
})

const endRolledBack = (fence: { readonly handoffId: string; readonly fencingToken: number }) => {
  const why = { reason: 'BATON_AGENT_FAILED', details: '[]', costMicroUSD: 0 }
  const ending = { ...fence, ...why, state: 'ROLLED_BACK', taskStatus: 'PENDING_HANDOFF' } as const
  return endHandoffs(store.pool, [{ ...ending, alert: true, escalate: false }], [])
}

describe('a rollback', () => {
  async function rolledBack(fromAgent: string): Promise<NewHandoff> {
    const handoff = newHandoff({ fromAgent })
    await sendHandoffs(store.pool, [handoff])
    const { fencingToken } = await claim(store.pool, handoff)
    await endRolledBack({ handoffId: handoff.handoffId, fencingToken })
    return handoff
  }

  it('is told to the sender with the exact bytes of its checkpoint', async () => {
    const fromAgent = sender()
    const { handoffId, checkpoint, checkpointSha256 } = await rolledBack(fromAgent)
    const [notice] = await take(fromAgent)
    expect(notice).toMatchObject({ kind: 'rollback', handoffId, reason: 'BATON_AGENT_FAILED' })
    expect(Buffer.from(notice?.checkpoint ?? [])).toEqual(checkpoint)
    expect(Buffer.from(notice?.checkpointSha256 ?? [])).toEqual(checkpointSha256)
  })

  it('takes the place of a return that was not told yet', async () => {
    const fromAgent = sender()
    const handoff = await returned({ fromAgent }, 0)
    await sweepRetries(store.pool)
    const { fencingToken } = await claim(store.pool, handoff, { publishAttempt: 2 })
    await endRolledBack({ handoffId: handoff.handoffId, fencingToken })
    expect((await take(fromAgent)).map((notice) => notice.kind)).toEqual(['rollback'])
  })

  it('is told of a handoff that has expired, too', async () => {
    const fromAgent = sender()
    const expiresAt = new Date(Date.now() - 1_000).toISOString()
    const handoff = newHandoff({ fromAgent, expiresAt })
    await sendHandoffs(store.pool, [handoff])
    await expireHandoffs(store.pool)
    expect(await take(fromAgent)).toMatchObject([
      { kind: 'rollback', handoffId: handoff.handoffId, reason: 'EXPIRED' },
    ])
  })

  it('is not told where the task has ended', async () => {
    const fromAgent = sender()
    const { taskId } = await rolledBack(fromAgent)
    await store.rows(`update task set status = 'CANCELED' where id = $1`, [taskId])
    expect(await take(fromAgent)).toEqual([])
  })
})

describe('the sweeper', () => {
  it('forgets what was dealt with an hour ago, and everything after seven days, only that', async () => {
    const fromAgent = sender()
    for (let count = 0; count < 4; count += 1) await returned({ fromAgent })
    const waiting = () =>
      store.rows<{ id: string }>(
        'select id from sender_notification where from_agent = $1 order by created_at',
        [fromAgent],
      )
    const ids = await waiting()
    const age = (index: number, column: string, interval: string) =>
      store.rows(
        `update sender_notification set ${column} = clock_timestamp() - interval '${interval}' where id = $1`,
        [ids[index]?.id],
      )
    await age(0, 'acknowledged_at', '2 hours')
    await age(1, 'acknowledged_at', '10 minutes')
    await age(2, 'created_at', '8 days')
    await sweepNotifications(store.pool)
    expect(await waiting()).toEqual([ids[1], ids[3]])
  })
})
