// Every rule of the promises notices when it is broken, names what broke it, and says nothing otherwise.
import { randomUUID } from 'node:crypto'
import { endingInvariant, PROMISES, receiptInvariant } from '@baton/engine'
import type { Invariant } from '@baton/engine'
import { recordId } from '@baton/ledger'
import type { AuditEvent } from '@baton/ledger'
import {
  addOutboxEvents,
  completeExecutions,
  discardDeadLetter,
  endHandoffs,
  reopenHandoffs,
  sendHandoffs,
  storeInvariants,
} from '@baton/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { claim, executing, newHandoff, openStore, receiptOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeEach(async () => {
  store = await openStore('invariants')
})
afterEach(() => store.close())

async function broken(rules: readonly Invariant[]): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const { promise, rule, check } of rules) {
    const ids = await check()
    if (ids.length > 0) found[`${promise}: ${rule}`] = ids
  }
  return found
}

const brokenNow = () => broken(storeInvariants(store.pool))

async function send(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  return handoff
}

const completion = (handoffId: string, fencingToken: number) => ({
  handoffId,
  fencingToken,
  costMicroUSD: 10,
  result: '"done"',
  taskResult: '"done"',
})

const ending = (
  handoffId: string,
  fencingToken: number,
  state: 'ROLLED_BACK' | 'DEAD_LETTERED',
) => ({
  handoffId,
  fencingToken,
  state,
  taskStatus: state === 'ROLLED_BACK' ? ('PENDING_HANDOFF' as const) : ('AWAITING_HUMAN' as const),
  reason: 'SAFETY_VIOLATION',
  details: '[]',
  costMicroUSD: 0,
  alert: true,
  escalate: false,
})

const complete = async () => {
  const claimed = await executing(store.pool)
  await completeExecutions(store.pool, [completion(claimed.handoffId, claimed.fencingToken)], [])
  return claimed
}

const end = async (state: 'ROLLED_BACK' | 'DEAD_LETTERED') => {
  const claimed = await claim(store.pool, await send())
  await endHandoffs(store.pool, [ending(claimed.handoffId, claimed.fencingToken, state)], [])
  return claimed
}

describe('the rules of the promises', () => {
  it('hold at every step of a normal life', async () => {
    await send()
    await claim(store.pool, await send())
    await executing(store.pool)
    await complete()
    await end('ROLLED_BACK')
    await end('DEAD_LETTERED')
    expect(await brokenNow()).toEqual({})
  })

  it.each<[string, () => Promise<readonly [text: string, ...values: unknown[]]>]>([
    [
      'I1: every handoff has',
      async () => ['delete from handoff_body where handoff_id = $1', (await send()).handoffId],
    ],
    [
      'I1: every handoff has',
      async () => ['delete from checkpoint where id = $1', (await send()).checkpointId],
    ],
    [
      'I2: every open handoff',
      async () => ['delete from outbox where handoff_id = $1', (await send()).handoffId],
    ],
    [
      'I2: every open handoff',
      async () => [
        `update execution set status = 'ABANDONED' where handoff_id = $1`,
        (await executing(store.pool)).handoffId,
      ],
    ],
    [
      'I2: an approval is open',
      async () => [
        'update approval set closed_at = clock_timestamp() where handoff_id = $1',
        (await send({ requiresApproval: true })).handoffId,
      ],
    ],
    [
      'I2: no handoff that has ended',
      async () => [
        `update execution set status = 'EXECUTING' where handoff_id = $1`,
        (await complete()).handoffId,
      ],
    ],
    [
      'I2: every quarantined',
      async () => [
        'delete from dead_letter where handoff_id = $1',
        (await end('DEAD_LETTERED')).handoffId,
      ],
    ],
    [
      'I3: nothing executes',
      async () => [
        'update execution set audit_hash = null where handoff_id = $1',
        (await complete()).handoffId,
      ],
    ],
    [
      'I4: every completed',
      async () => [
        `update execution set status = 'ABANDONED' where handoff_id = $1`,
        (await complete()).handoffId,
      ],
    ],
    [
      'I6: no rejected handoff',
      async () => [
        `update execution set result = '1' where handoff_id = $1`,
        (await end('DEAD_LETTERED')).handoffId,
      ],
    ],
    [
      'I8: spent and remaining',
      async () => [
        'update handoff set spent_micro_usd = 1 where id = $1',
        (await send()).handoffId,
      ],
    ],
    [
      'I12: nothing is tried',
      async () => ['update handoff set attempt = 4 where id = $1', (await send()).handoffId],
    ],
    [
      'I12: no message',
      async () => [
        'update handoff set body_bytes = 1048577 where id = $1',
        (await send()).handoffId,
      ],
    ],
  ])('%s names the handoff that breaks it', async (rule, breaking) => {
    const [text, id] = await breaking()
    await store.rows(text, [id])
    const found = Object.entries(await brokenNow()).find(([name]) => name.startsWith(rule))
    const [row] = await store.rows<{ id: string }>('select id from handoff')
    expect(found?.[1]).toEqual([row?.id])
  })

  it.each<[string, () => Promise<{ taskId: string }>, string]>([
    ['I5: no task runs', complete, `update task set status = 'RUNNING' where id = $1`],
    ['I5: no task runs', () => send(), `update task set status = 'COMPLETED' where id = $1`],
    [
      'I7: a rolled-back task',
      () => end('ROLLED_BACK'),
      'update task set checkpoint_id = gen_random_uuid() where id = $1',
    ],
    [
      'I7: a rolled-back task',
      () => end('ROLLED_BACK'),
      `update task set status = 'RUNNING' where id = $1`,
    ],
    ['I8: every execution', complete, 'update task set spent_micro_usd = 9 where id = $1'],
  ])('%s names the task that breaks it', async (rule, live, breaking) => {
    const { taskId } = await live()
    await store.rows(breaking, [taskId])
    const found = Object.entries(await brokenNow()).find(([name]) => name.startsWith(rule))
    expect(found?.[1]).toEqual([taskId])
  })

  it('names an id of another protocol without handoff, a task without one, a split trace, a raised budget and a changed checkpoint', async () => {
    const lone = randomUUID()
    await store.rows(`insert into task (id, status, budget_micro_usd) values ($1, 'RUNNING', 1)`, [
      lone,
    ])
    await store.rows(
      `insert into external_ref (protocol, id, handoff_id, sender, recipient) values ('p', 'x', $1, 'a', 'b')`,
      [lone],
    )
    const parent = await complete()
    const child = await send({
      taskId: randomUUID(),
      parentId: parent.handoffId,
      remainingMicroUSD: 999_990,
      spentMicroUSD: 10,
    })
    await store.rows('update handoff set remaining_micro_usd = 999991 where id = $1', [
      child.handoffId,
    ])
    const split = await send()
    await send({ taskId: split.taskId })
    await store.rows(
      `update handoff set traceparent = '00-' || repeat('a', 32) || '-' || repeat('b', 16) || '-01'
       where id = $1`,
      [split.handoffId],
    )
    await store.rows(`update checkpoint set body = '\\x00' where id = $1`, [split.checkpointId])
    expect(await brokenNow()).toMatchObject({
      'I1: every id of another protocol names a handoff': [lone],
      'I1: every task has a handoff': [lone],
      'I8: no handoff has more left over than its parent gave on': [child.handoffId],
      'I9: all handoffs of a task belong to one trace': [split.taskId],
      'I7: the newest 5,000 checkpoints have the bytes that were saved': [split.checkpointId],
    })
  })

  it('compares the receipts of executions with what the audit store recorded', async () => {
    const [kept, lost] = [await executing(store.pool), await executing(store.pool)]
    const idOf = ({ handoffId, fencingToken }: { handoffId: string; fencingToken: number }) =>
      recordId({ handoffId, epoch: fencingToken, event: 'HANDOFF_ACCEPTED' })
    const recorded = new Map([
      [idOf(kept), receiptOf(kept).auditHash],
      [idOf(lost), 'cd'.repeat(32)],
    ])
    const { check, promise } = receiptInvariant(store.pool, async () => recorded)
    expect([promise, await check()]).toEqual(['I3', [lost.handoffId]])
  })

  it.each<[AuditEvent, state: string, reason: string | null]>([
    ['EXECUTION_COMPLETED', 'COMPLETED', null],
    ['EXECUTION_COMPLETED', 'PARTIAL', null],
    ['EXECUTION_FAILED', 'REJECTED', 'DECLINED'],
    ['HANDOFF_REJECTED', 'REJECTED', 'BUDGET_EXHAUSTED'],
    ['ROLLED_BACK', 'ROLLED_BACK', 'BATON_HOPELESS'],
    ['DEAD_LETTERED', 'DEAD_LETTERED', 'SAFETY_VIOLATION'],
    ['HANDOFF_EXPIRED', 'EXPIRED', 'EXPIRED'],
    ['HANDOFF_CANCELED', 'CANCELED', 'CANCELED'],
    ['HANDOFF_BLOCKED', 'BLOCKED', 'BLOCKED'],
  ])('look for %s of what is %s (%s), once it does not wait any more', async (event, ...how) => {
    const { handoffId, fencingToken } = await claim(store.pool, await send())
    const endedAt = (minutes: number) =>
      store.rows(
        `update handoff set state = $2, reason = $3, ended_at = now() - $4 * interval '1 minute' where id = $1`,
        [handoffId, ...how, minutes],
      )
    const recorded = new Map<string, string>()
    const { check } = endingInvariant(store.pool, async () => recorded)
    await endedAt(9)
    expect(await check()).toEqual([])
    await endedAt(11)
    expect(await check()).toEqual([`${event} ${handoffId}`])
    const wait = (epoch: number) =>
      store.rows('insert into audit_outbox (id, handoff_id, entry) values ($1, $2, $3)', [
        randomUUID(),
        handoffId,
        JSON.stringify({ event, handoffId, epoch, attempt: 1 }),
      ])
    await wait(fencingToken + 1)
    expect(await check()).toHaveLength(1)
    await wait(fencingToken)
    expect(await check()).toEqual([])
    await store.rows('delete from audit_outbox')
    recorded.set(recordId({ event, handoffId, epoch: fencingToken }), 'ab'.repeat(32))
    expect(await check()).toEqual([])
    recorded.clear()
    await endedAt(8 * 24 * 60)
    expect(await check()).toEqual([])
  })

  it('look for the quarantine of what went on, and leave what a person refused to its decision', async () => {
    const [released, refused] = [await end('DEAD_LETTERED'), await claim(store.pool, await send())]
    await store.rows(`update handoff set state = 'QUEUED', ended_at = null where id = $1`, [
      released.handoffId,
    ])
    await store.rows('update execution set fencing_token = 2 where handoff_id = $1', [
      released.handoffId,
    ])
    await store.rows(
      `update handoff set state = 'REJECTED', reason = 'APPROVAL_REFUSED', ended_at = now() where id = $1`,
      [refused.handoffId],
    )
    const recorded = new Map<string, string>()
    const { check } = endingInvariant(store.pool, async () => recorded, 0)
    expect(await check()).toEqual([`DEAD_LETTERED ${released.handoffId}`])
    const { handoffId, fencingToken: epoch } = released
    recorded.set(recordId({ event: 'DEAD_LETTERED', handoffId, epoch }), 'ab'.repeat(32))
    expect(await check()).toEqual([])
  })

  it('name what a person is said to have discarded, released or refused, where no such decision was told of', async () => {
    const tell = (event: string, { handoffId }: { readonly handoffId: string }) => {
      const act = { id: randomUUID(), actor: 'ann', signed: {} }
      const entry = JSON.stringify({ event, epoch: 1, act })
      return addOutboxEvents(store.pool, [{ id: randomUUID(), handoffId, entry }])
    }
    const [discarded, released] = [await end('DEAD_LETTERED'), await end('DEAD_LETTERED')]
    const refused = await claim(store.pool, await send())
    await tell('RELEASE_APPROVED', discarded)
    await discardDeadLetter(store.pool, discarded.handoffId)
    await reopenHandoffs(
      store.pool,
      [{ handoffId: released.handoffId, approvalOverrideId: null }],
      'REDACTED',
    )
    await store.rows(
      `update handoff set state = 'REJECTED', reason = 'APPROVAL_REFUSED', ended_at = now() where id = $1`,
      [refused.handoffId],
    )
    const untold = storeInvariants(store.pool).filter(({ promise }) => promise === 'I10')
    const found = Object.values(await broken(untold)).flat()
    const ids = [discarded, released, refused].map(({ handoffId }) => handoffId)
    expect(found.toSorted()).toEqual(ids.toSorted())
    await tell('DEAD_LETTER_DISCARDED', discarded)
    await tell('RELEASE_APPROVED', released)
    await tell('APPROVAL_REFUSED', refused)
    // Shipped, or forgotten: the note of it stays, and the log is asked for it.
    await store.rows('delete from audit_outbox')
    expect(await broken(untold)).toEqual({})
  })

  it('cover the promises that the operational database can show', () => {
    const covered = new Set<string>(storeInvariants(store.pool).map(({ promise }) => promise))
    const elsewhere = new Set(['I11'])
    expect(Object.keys(PROMISES).filter((id) => !covered.has(id))).toEqual([...elsewhere])
  })
})
