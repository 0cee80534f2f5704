// The outbox and the sweeper on a real Postgres: everything is taken once, however many take at the same time.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewHandoff } from '@baton/store'
import {
  addOutboxEvents,
  claimOutbox,
  deleteOutboxEvents,
  expireHandoffs,
  inTransaction,
  listOutboxEvents,
  listPriorityClasses,
  listUndelivered,
  markDispatched,
  markExecuting,
  outboxDepth,
  redriveHandoffs,
  sendHandoffs,
  sweepExpiredLeases,
  sweepRetries,
  sweepStuck,
} from '@baton/store'
import { eventually } from '@baton/testkit'
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
  store = await openStore('store sweeps')
})
afterAll(() => store.close())
beforeEach(async () => {
  await store.rows(
    'truncate task, checkpoint, handoff, handoff_body, outbox, retry, execution, alert_occurrence, alert, audit_outbox',
  )
})

const send = async (count: number, changes: Partial<NewHandoff> = {}) => {
  const handoffs = Array.from({ length: count }, () => newHandoff(changes))
  await sendHandoffs(store.pool, handoffs)
  return handoffs
}
const quota = (priority: number, limit = 100, afterSeq = 0) => ({
  tenant: 'default',
  queue: 'reviewer',
  priority,
  afterSeq,
  limit,
})
const idsOf = (rows: readonly { handoffId: string }[]) =>
  rows.map((row) => row.handoffId).toSorted()
const statesOf = async () =>
  Object.fromEntries(
    (await store.rows<{ id: string; state: string }>('select id, state from handoff')).map(
      (row) => [row.id, row.state],
    ),
  )
const dispatched = async (handoffs: readonly NewHandoff[]) => {
  await store.rows('delete from outbox')
  await markDispatched(
    store.pool,
    handoffs.map((one) => one.handoffId),
  )
}

describe('the outbox', () => {
  it('names its priority classes and gives each priority class’s oldest rows first, up to the quota', async () => {
    const urgent = await send(3, { priority: 0 })
    await send(2, { priority: 3, toAgent: 'archivist' })
    expect(await listPriorityClasses(store.pool)).toEqual([
      { tenant: 'default', queue: 'archivist', priority: 3, granted: false },
      { tenant: 'default', queue: 'reviewer', priority: 0, granted: false },
    ])
    const rows = await claimOutbox(store.pool, [quota(0, 2)])
    expect(idsOf(rows)).toEqual(idsOf(urgent.slice(0, 2)))
    expect(rows[0]).toMatchObject({ publishAttempt: 1, bytes: 200, priority: 0, queue: 'reviewer' })
    expect(await outboxDepth(store.pool)).toMatchObject({ depth: 3 })
  })

  it('gives every row to exactly one of several relays', async () => {
    const handoffs = await send(40)
    const claims = await Promise.all(
      Array.from({ length: 4 }, () =>
        inTransaction(store.pool, (transaction) => claimOutbox(transaction, [quota(2, 15)])),
      ),
    )
    const rest = await claimOutbox(store.pool, [quota(2)])
    expect(idsOf([...claims.flat(), ...rest])).toEqual(idsOf(handoffs))
  })

  it('has its rows back when the relay’s transaction does not commit', async () => {
    const handoffs = await send(2)
    const failing = inTransaction(store.pool, async (transaction) => {
      await markDispatched(transaction, idsOf(await claimOutbox(transaction, [quota(2)])))
      throw new Error('the queue is down')
    })
    await expect(failing).rejects.toThrow()
    expect(idsOf(await claimOutbox(store.pool, [quota(2)]))).toEqual(idsOf(handoffs))
    expect(Object.values(await statesOf())).toEqual(['QUEUED', 'QUEUED'])
  })

  it('does not put a handoff back to DISPATCHED that a receiver holds already', async () => {
    const [handoff] = await send(1)
    const claimed = await claim(store.pool, handoff as NewHandoff)
    await markExecuting(store.pool, [receiptOf(claimed)])
    await markDispatched(store.pool, [claimed.handoffId])
    expect(Object.values(await statesOf())).toEqual(['EXECUTING'])
  })
})

describe('the sweeper', () => {
  it('publishes what a relay passed over because somebody held it, once, and nothing that waits', async () => {
    const [passedOver] = await send(1)
    await inTransaction(store.pool, async (person) => {
      await person.query({ text: 'select from handoff for update' })
      await inTransaction(store.pool, async (relay) =>
        markDispatched(relay, idsOf(await claimOutbox(relay, [quota(2)]))),
      )
    })
    const [retried, held] = await send(2)
    await store.rows('delete from outbox')
    await store.rows(`insert into retry select $1, now() + interval '1 h'`, [retried?.handoffId])
    await claim(store.pool, held as NewHandoff)
    await send(1)
    expect(await sweepStuck(store.pool, 60_000)).toBe(0)
    await store.rows(`update handoff set queued_at = now() - interval '61 s'`)
    const counts = await Promise.all(
      Array.from({ length: 4 }, () => sweepStuck(store.pool, 60_000)),
    )
    expect(counts.reduce((sum, count) => sum + count)).toBe(1)
    const rows = await claimOutbox(store.pool, [quota(2)])
    expect(rows.filter((row) => row.publishAttempt === 2)).toMatchObject([
      { handoffId: passedOver?.handoffId },
    ])
  })

  it('re-drives due retries once, with a new publish attempt, however many sweep', async () => {
    const handoffs = await send(30)
    await store.rows('delete from outbox')
    await store.rows(`insert into retry select id, now() - interval '1 s' from handoff`)
    await store.rows(`update retry set due = now() + interval '1 h' where handoff_id = $1`, [
      handoffs[0]?.handoffId,
    ])
    const counts = await Promise.all(Array.from({ length: 4 }, () => sweepRetries(store.pool)))
    expect(counts.reduce((sum, count) => sum + count)).toBe(29)
    const rows = await claimOutbox(store.pool, [quota(2)])
    expect(rows).toHaveLength(29)
    expect(new Set(rows.map((row) => row.publishAttempt))).toEqual(new Set([2]))
  })

  it('takes expired leases away once and leaves live ones alone', async () => {
    const expired = [await executing(store.pool), await executing(store.pool)]
    const live = await executing(store.pool)
    await store.rows('delete from outbox')
    await store.rows(
      `update execution set lease_until = now() - interval '1 s' where handoff_id = any($1)`,
      [idsOf(expired)],
    )
    const swept = await Promise.all(Array.from({ length: 3 }, () => sweepExpiredLeases(store.pool)))
    expect(swept.flat().toSorted()).toEqual(idsOf(expired).toSorted())
    expect(idsOf(await claimOutbox(store.pool, [quota(2)]))).toEqual(idsOf(expired))
    expect((await statesOf())[live.handoffId]).toBe('EXECUTING')
    expect(await claim(store.pool, expired[0] as never, { publishAttempt: 2 })).toMatchObject({
      fencingToken: 2,
      leaseExpiries: 1,
    })
  })

  it('finds published handoffs that nobody claimed, but none whose turn has not come', async () => {
    const [first] = (await send(1)) as [NewHandoff]
    const second = newHandoff({ taskId: first.taskId })
    await sendHandoffs(store.pool, [second])
    const [held] = (await send(1)) as [NewHandoff]
    await dispatched([first, second, held])
    await claim(store.pool, held)
    const undelivered = await eventually(
      async () => {
        const found = await listUndelivered(store.pool, 1)
        return found.length > 0 && found
      },
      { deadlineMs: 30_000, describe: 'an undelivered handoff' },
    )
    expect(undelivered).toEqual([
      { handoffId: first.handoffId, publishAttempt: 1, queue: 'reviewer' },
    ])
    expect(await listUndelivered(store.pool, 60_000)).toEqual([])
    const twice = await Promise.all(
      [undelivered, undelivered].map((lost) => redriveHandoffs(store.pool, lost)),
    )
    expect(twice.toSorted()).toEqual([0, 1])
    expect(await claimOutbox(store.pool, [quota(2)])).toMatchObject([
      { handoffId: first.handoffId, publishAttempt: 2 },
    ])
  })
})

describe('expiry', () => {
  const past = { expiresAt: '2020-01-01T00:00:00Z' }

  it('ends what is due once, restores the checkpoint, alerts, and clears what would re-drive it', async () => {
    const handoffs = await send(20, past)
    const open = await send(1, { expiresAt: '2100-01-01T00:00:00Z' })
    await store.rows(`insert into retry select id, now() from handoff where expires_at < now()`)
    await store.rows('update task set checkpoint_id = null')
    const expired = await Promise.all(Array.from({ length: 3 }, () => expireHandoffs(store.pool)))
    expect(idsOf(expired.flat())).toEqual(idsOf(handoffs))
    expect(idsOf(await claimOutbox(store.pool, [quota(2)]))).toEqual(idsOf(open))
    expect(await store.rows('select from retry')).toEqual([])
    expect(
      await store.rows(`select from alert_occurrence where kind = 'handoff.expired'`),
    ).toHaveLength(20)
    const tasks = await store.rows<{ status: string }>(
      `select t.status from task t join handoff h on h.task_id = t.id
       where h.state = 'EXPIRED' and t.checkpoint_id = h.checkpoint_id`,
    )
    expect(tasks).toHaveLength(20)
    expect(await sweepRetries(store.pool)).toBe(0)
  })

  it('ends also what somebody holds at its deadline, and shuts its execution', async () => {
    const [handoff] = (await send(1)) as [NewHandoff]
    await claim(store.pool, handoff)
    await store.rows(`update handoff set expires_at = now() - interval '1 s'`)
    expect(await expireHandoffs(store.pool)).toMatchObject([
      { handoffId: handoff.handoffId, fencingToken: 1 },
    ])
  })

  it('of a predecessor publishes the next of its task that waited for it', async () => {
    const [first] = (await send(1, past)) as [NewHandoff]
    const second = newHandoff({ taskId: first.taskId })
    await sendHandoffs(store.pool, [second])
    await dispatched([first, second])
    await expireHandoffs(store.pool)
    expect(await claimOutbox(store.pool, [quota(2)])).toMatchObject([
      { handoffId: second.handoffId, publishAttempt: 2 },
    ])
  })
})

it('keeps events until they are acknowledged, oldest first', async () => {
  const [handoff] = (await send(1)) as [NewHandoff]
  const events = [outboxEventOf(handoff.handoffId, '1'), outboxEventOf(handoff.handoffId, '2')]
  await addOutboxEvents(store.pool, events)
  expect(await listOutboxEvents(store.pool, 60_000)).toEqual([])
  expect(new Set((await listOutboxEvents(store.pool, -1)).map((one) => one.id))).toEqual(
    new Set(events.map((one) => one.id)),
  )
  await deleteOutboxEvents(store.pool, [events[0]?.id ?? ''])
  const [left] = await listOutboxEvents(store.pool, -1)
  expect(left).toMatchObject(events[1] ?? {})
  const behind = outboxEventOf(handoff.handoffId, '3')
  await addOutboxEvents(store.pool, [behind])
  const [first] = await listOutboxEvents(store.pool, -60_000, { max: 1 })
  expect(first?.id).toBe(left?.id)
  const next = await listOutboxEvents(store.pool, -60_000, { after: first, max: 1 })
  expect(next).toMatchObject([behind])
  expect(await listOutboxEvents(store.pool, -60_000, { after: next[0], max: 1 })).toEqual([])
})
