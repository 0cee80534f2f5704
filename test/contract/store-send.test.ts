// Sending on a real Postgres: atomic, idempotent, within the budget, and each handoff for itself.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inTransaction, sendHandoffs } from '@baton/store'
import { executing, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store send')
})
afterAll(() => store.close())

const count = async (table: string, handoffIds: readonly string[]): Promise<number> => {
  const column = table === 'handoff' ? 'id' : 'handoff_id'
  const rows = await store.rows<{ n: number }>(
    `select count(*) as n from ${table} where ${column} = any($1)`,
    [handoffIds],
  )
  return rows[0]?.n ?? -1
}
const taskOf = async (taskId: string) =>
  (await store.rows<Record<string, unknown>>('select * from task where id = $1', [taskId]))[0]

describe('a send (I1)', () => {
  it('stores task, checkpoint, body, handoff and outbox row with the exact bytes', async () => {
    const handoff = newHandoff({ priority: 0, tracestate: 'a=b', spentMicroUSD: 7 })
    expect(await sendHandoffs(store.pool, [handoff])).toEqual([
      { kind: 'sent', taskSeq: 1, state: 'QUEUED' },
    ])
    const [row] = await store.rows<Record<string, unknown>>(
      `select b.body, c.body as checkpoint, c.sha256 as checkpoint_sha256, o.queue, o.priority,
         o.sha256, o.tracestate, t.status, t.checkpoint_id, t.budget_micro_usd, t.spent_micro_usd
       from handoff h join handoff_body b on b.handoff_id = h.id
       join checkpoint c on c.id = h.checkpoint_id join outbox o on o.handoff_id = h.id
       join task t on t.id = h.task_id where h.id = $1`,
      [handoff.handoffId],
    )
    expect(row).toMatchObject({
      body: Buffer.from(handoff.body),
      checkpoint: Buffer.from(handoff.checkpoint),
      checkpoint_sha256: Buffer.from(handoff.checkpointSha256),
      sha256: Buffer.from(handoff.sha256),
      queue: 'reviewer',
      priority: 0,
      tracestate: 'a=b',
      status: 'PENDING_HANDOFF',
      checkpoint_id: handoff.checkpointId,
      budget_micro_usd: 1_000_007,
      spent_micro_usd: 7,
    })
  })

  it('leaves nothing behind when the transaction it joins rolls back', async () => {
    const handoff = newHandoff()
    const failing = inTransaction(store.pool, async (transaction) => {
      await sendHandoffs(transaction, [handoff])
      throw new Error('the caller changed its mind')
    })
    await expect(failing).rejects.toThrow()
    for (const table of ['handoff', 'handoff_body', 'outbox']) {
      expect(await count(table, [handoff.handoffId])).toBe(0)
    }
    expect(await taskOf(handoff.taskId)).toBeUndefined()
  })

  it('keeps one that needs approval out of the outbox', async () => {
    const handoff = newHandoff({ requiresApproval: true })
    const [outcome] = await sendHandoffs(store.pool, [handoff])
    expect(outcome).toMatchObject({ kind: 'sent', state: 'AWAITING_APPROVAL' })
    expect(await count('outbox', [handoff.handoffId])).toBe(0)
  })

  it('numbers the handoffs of a task without a gap, in one set and over several', async () => {
    const taskId = randomUUID()
    const of = () => newHandoff({ taskId })
    const first = await sendHandoffs(store.pool, [of(), newHandoff(), of()])
    const second = await sendHandoffs(store.pool, [of()])
    const seqs = [...first, ...second].map((outcome) =>
      'taskSeq' in outcome ? outcome.taskSeq : 0,
    )
    expect(seqs).toEqual([1, 1, 2, 3])
  })

  it('numbers concurrent sends of one new task without collision', async () => {
    const taskId = randomUUID()
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, () => sendHandoffs(store.pool, [newHandoff({ taskId })])),
    )
    const seqs = outcomes.flat().map((outcome) => ('taskSeq' in outcome ? outcome.taskSeq : 0))
    expect(seqs.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })
})

describe('the same handoff again', () => {
  it('with the same request is a duplicate and tells how the first stands', async () => {
    const handoff = newHandoff()
    await sendHandoffs(store.pool, [handoff])
    const again = { ...handoff, checkpointId: randomUUID(), body: Buffer.from('built anew') }
    expect(await sendHandoffs(store.pool, [again])).toEqual([
      { kind: 'duplicate', taskSeq: 1, state: 'QUEUED' },
    ])
    expect(await count('outbox', [handoff.handoffId])).toBe(1)
    expect((await taskOf(handoff.taskId))?.['checkpoint_id']).toBe(handoff.checkpointId)
  })

  it('with another request is a conflict and changes nothing', async () => {
    const handoff = newHandoff()
    await sendHandoffs(store.pool, [handoff])
    const before = await taskOf(handoff.taskId)
    const other = { ...newHandoff(), handoffId: handoff.handoffId, taskId: handoff.taskId }
    expect(await sendHandoffs(store.pool, [other])).toEqual([{ kind: 'conflict' }])
    expect(await taskOf(handoff.taskId)).toEqual(before)
  })

  it('sent concurrently is BATON_SEND_RACE for the later one, which then is a duplicate', async () => {
    const handoff = newHandoff()
    const client = await store.pool.connect()
    await client.query('begin')
    await sendHandoffs(client, [handoff])
    const later = sendHandoffs(store.pool, [handoff]).catch((error: unknown) => error)
    await waitingForLock(1)
    await client.query('commit')
    client.release()
    expect(await later).toMatchObject({ code: 'BATON_SEND_RACE', kind: 'transient' })
    expect(await sendHandoffs(store.pool, [handoff])).toMatchObject([{ kind: 'duplicate' }])
  })
})

// The other side waits in Postgres itself, so Postgres says when it does.
async function waitingForLock(sessions: number): Promise<void> {
  const { eventually } = await import('@baton/testkit')
  await eventually(
    async () => {
      const rows = await store.rows(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = $1`,
        [store.database],
      )
      return rows.length >= sessions
    },
    { deadlineMs: 30_000, describe: 'a session waits for a lock' },
  )
}

describe('the budget (I8)', () => {
  it('refuses spent + remaining that is not the task’s budget', async () => {
    const first = newHandoff()
    await sendHandoffs(store.pool, [first])
    const raised = newHandoff({ taskId: first.taskId, spentMicroUSD: 1 })
    expect(await sendHandoffs(store.pool, [raised])).toEqual([
      { kind: 'budget_mismatch', budgetMicroUSD: 1_000_000, parentRemainingMicroUSD: null },
    ])
  })

  it('refuses more remaining than the parent handoff left over', async () => {
    const first = newHandoff({ spentMicroUSD: 400_000, remainingMicroUSD: 600_000 })
    await sendHandoffs(store.pool, [first])
    const raised = newHandoff({
      taskId: first.taskId,
      parentId: first.handoffId,
      spentMicroUSD: 300_000,
      remainingMicroUSD: 700_000,
    })
    expect(await sendHandoffs(store.pool, [raised])).toMatchObject([
      { kind: 'budget_mismatch', parentRemainingMicroUSD: 600_000 },
    ])
  })

  it.each([
    ['without a parent', () => null],
    ['with a parent nobody knows', () => randomUUID()],
  ])('refuses more remaining than the task began with, %s', async (_, parentId) => {
    const first = newHandoff({ spentMicroUSD: 400_000, remainingMicroUSD: 600_000 })
    await sendHandoffs(store.pool, [first])
    const raised = newHandoff({ taskId: first.taskId, parentId: parentId() })
    expect(await sendHandoffs(store.pool, [raised])).toMatchObject([{ kind: 'budget_mismatch' }])
  })

  it('adds what a sender spent since to the task, in the same statement', async () => {
    const first = newHandoff({ spentMicroUSD: 10, remainingMicroUSD: 90, addedCostMicroUSD: 10 })
    await sendHandoffs(store.pool, [first])
    const of = (spentMicroUSD: number) =>
      newHandoff({
        taskId: first.taskId,
        parentId: first.handoffId,
        spentMicroUSD,
        remainingMicroUSD: 100 - spentMicroUSD,
        addedCostMicroUSD: 5,
      })
    await sendHandoffs(store.pool, [of(15), of(20)])
    expect((await taskOf(first.taskId))?.['spent_micro_usd']).toBe(20)
    const statements: string[] = []
    const counting = {
      query: (statement: { name?: string }) => {
        statements.push(statement.name ?? '')
        return store.pool.query(statement as never)
      },
    }
    await sendHandoffs(counting as never, [of(25)])
    expect(statements).toEqual(['send_handoffs'])
    expect((await taskOf(first.taskId))?.['spent_micro_usd']).toBe(25)
  })
})

describe('a set', () => {
  it('sends every good one although one is refused', async () => {
    const known = newHandoff()
    await sendHandoffs(store.pool, [known])
    const ended = await executing(store.pool)
    await store.rows(`update task set status = 'COMPLETED' where id = $1`, [ended.taskId])
    const good = [newHandoff(), newHandoff()] as const
    const outcomes = await sendHandoffs(store.pool, [
      good[0],
      known,
      newHandoff({ taskId: ended.taskId, parentId: ended.handoffId }),
      newHandoff({ taskId: known.taskId, remainingMicroUSD: 5 }),
      good[1],
    ])
    expect(outcomes.map((outcome) => outcome.kind)).toEqual([
      'sent',
      'duplicate',
      'task_ended',
      'budget_mismatch',
      'sent',
    ])
    expect(await count('outbox', [good[0].handoffId, good[1].handoffId])).toBe(2)
  })

  it('with a bad handoff for a new task leaves the task at a checkpoint that exists', async () => {
    const good = newHandoff()
    const bad = newHandoff({ taskId: good.taskId, remainingMicroUSD: 5 })
    const outcomes = await sendHandoffs(store.pool, [good, bad])
    expect(outcomes.map((outcome) => outcome.kind)).toEqual(['sent', 'budget_mismatch'])
    expect(await taskOf(good.taskId)).toMatchObject({
      checkpoint_id: good.checkpointId,
      next_seq: 2,
    })
  })
})
