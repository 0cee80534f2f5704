// Ids of other protocols on a real Postgres: taken once, found again, listed in order, and empty of text once erased.
import { randomBytes, randomUUID } from 'node:crypto'
import {
  countErased,
  createTenantPool,
  eraseHandoffs,
  findForeignHandoff,
  findForeignHandoffs,
  findHandoffAs,
  inTransaction,
  listForeignHandoffs,
  sendHandoffs,
  takeExternalRef,
} from '@baton/store'
import type { Database, ExternalRef, NewHandoff } from '@baton/store'
import { permanent } from '@baton/runtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'
import { decideAs } from './signed-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('external_refs')
})
afterAll(() => store.close())

const newRef = (changes: Partial<ExternalRef> = {}): ExternalRef => ({
  protocol: 'session',
  id: randomUUID(),
  sender: 'planner',
  recipient: 'coder',
  requestSha256: randomBytes(32),
  ...changes,
})

async function sendAs(ref: ExternalRef, changes: Partial<NewHandoff> = {}): Promise<string> {
  const handoff = newHandoff(changes)
  await inTransaction(store.pool, async (transaction) => {
    await takeExternalRef(transaction, { ...ref, handoffId: handoff.handoffId })
    await sendHandoffs(transaction, [handoff])
  })
  return handoff.handoffId
}

describe('taking an id', () => {
  it('is done once: the same request again is a repetition, another one is not', async () => {
    const ref = newRef()
    const handoffId = await sendAs(ref)
    const again = (changes: Partial<ExternalRef>) =>
      takeExternalRef(store.pool, { ...ref, ...changes, handoffId: randomUUID() })
    expect(await again({})).toEqual({ kind: 'repeated', handoffId })
    expect(await again({ requestSha256: randomBytes(32) })).toEqual({ kind: 'other_request' })
    expect(await again({ protocol: 'sw4rm' })).toEqual({ kind: 'new' })
  })

  it('has one of a hundred at once', async () => {
    const ref = newRef()
    const ids = Array.from({ length: 100 }, () => randomUUID())
    const taken = await Promise.all(
      ids.map((handoffId) => takeExternalRef(store.pool, { ...ref, handoffId })),
    )
    const winner = taken.findIndex(({ kind }) => kind === 'new')
    expect(taken.filter(({ kind }) => kind === 'new')).toHaveLength(1)
    expect(taken.filter(({ kind }) => kind === 'repeated')).toEqual(
      Array.from({ length: 99 }, () => ({ kind: 'repeated', handoffId: ids[winner] })),
    )
  })

  it('commits with the handoff or not at all', async () => {
    const ref = newRef()
    const failed = inTransaction(store.pool, async (transaction) => {
      await takeExternalRef(transaction, { ...ref, handoffId: randomUUID() })
      throw permanent('BATON_TASK_ENDED', 'refused')
    })
    await expect(failed).rejects.toThrow('refused')
    expect(await takeExternalRef(store.pool, { ...ref, handoffId: randomUUID() })).toEqual({
      kind: 'new',
    })
  })
})

describe('finding', () => {
  it('finds a handoff by its id there and by its own, with the bytes of its message', async () => {
    const ref = newRef({ depth: 3 })
    const body = randomBytes(64)
    const handoffId = await sendAs(ref, { body, requiresApproval: true })
    const act = { handoffId, decision: 'approve', decidedBy: 'ann', reasonCode: null } as const
    await decideAs(store.pool, { ...act, decidedAs: 'Ann of the board' })
    const found = await findForeignHandoff(store.pool, ref)
    expect(found).toMatchObject({
      id: ref.id,
      sender: 'planner',
      recipient: 'coder',
      depth: 3,
      handoffId,
      state: 'QUEUED',
      body,
      result: null,
      approval: { decision: 'approve', decidedBy: 'ann', decidedAs: 'Ann of the board' },
    })
    expect(Math.abs((found?.approval?.decidedAt ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(await findForeignHandoffs(store.pool, 'session', [handoffId, randomUUID()])).toEqual([
      found,
    ])
    expect(await findForeignHandoffs(store.pool, 'sw4rm', [handoffId])).toEqual([])
    expect(await findForeignHandoff(store.pool, { ...ref, id: 'nobody' })).toBeUndefined()
    expect(await findHandoffAs(store.pool, 'session', handoffId)).toEqual(found)
  })

  it('shows any handoff in a protocol it did not come in by, between its agents', async () => {
    const handoffId = await sendAs(newRef())
    const shown = await findHandoffAs(store.pool, 'sw4rm', handoffId)
    expect(shown).toMatchObject({
      id: handoffId,
      sender: 'intake',
      recipient: 'reviewer',
      depth: 0,
    })
    expect(await findHandoffAs(store.pool, 'sw4rm', randomUUID())).toBeUndefined()
  })

  it('has of a partial result what its next handoff was given to do', async () => {
    const remaining = [{ subtaskId: 'b', description: 'the rest' }]
    const { handoffId, taskId } = newHandoff()
    await sendAs(newRef(), { handoffId, taskId })
    await store.rows(`update handoff set state = 'PARTIAL', ended_at = now() where id = $1`, [
      handoffId,
    ])
    const find = async () => (await findHandoffAs(store.pool, 'session', handoffId))?.remaining
    expect(await find()).toBeNull()
    const body = Buffer.from(JSON.stringify({ remainingSubtasks: remaining }))
    await sendHandoffs(store.pool, [newHandoff({ taskId, parentId: handoffId, body })])
    expect(await find()).toEqual(remaining)
  })

  it('lists the newest first, by sender, recipient and state, together and alone', async () => {
    const sent: string[] = []
    for (const [sender, recipient, requiresApproval] of [
      ['a', 'x', false],
      ['a', 'y', true],
      ['b', 'x', true],
    ] as const)
      sent.push(
        await sendAs(newRef({ protocol: 'listed', sender, recipient }), { requiresApproval }),
      )
    const [first, second, third] = sent
    const list = async (filter: object) =>
      (await listForeignHandoffs(store.pool, 'listed', { limit: 100, ...filter })).map(
        ({ handoffId }) => handoffId,
      )
    expect(await list({})).toEqual([third, second, first])
    expect(await list({ limit: 1 })).toEqual([third])
    expect(await list({ sender: 'a' })).toEqual([second, first])
    expect(await list({ recipient: 'x' })).toEqual([third, first])
    expect(await list({ states: ['AWAITING_APPROVAL'] })).toEqual([third, second])
    expect(await list({ states: ['QUEUED', 'AWAITING_APPROVAL'], recipient: 'y' })).toEqual([
      second,
    ])
    expect(await list({ states: [] })).toEqual([])
    const act = { decision: 'approve', decidedBy: 'ann', reasonCode: null } as const
    await decideAs(store.pool, { ...act, handoffId: third ?? '' })
    const waiting = { states: ['QUEUED'], approvedStates: [] }
    expect(await list(waiting)).toEqual([first])
    expect(await list({ states: [], approvedStates: ['QUEUED'] })).toEqual([third])
  })
})

describe('listing among thousands', () => {
  const RECIPIENTS = 10
  beforeAll(async () => {
    await sendHandoffs(
      store.pool,
      Array.from({ length: 2_000 }, () => newHandoff({ fromAgent: 'crowd' })),
    )
    await store.rows(
      `insert into external_ref (protocol, id, handoff_id, sender, recipient, created_at)
       select 'crowd', id, id, 's' || nth % $1, 'r' || nth % $1, now() - nth * interval '1 s'
       from (select id, row_number() over () as nth from handoff where from_agent = 'crowd') h`,
      [RECIPIENTS],
    )
    await store.rows('analyze')
  })

  it.each([
    ['nothing', {}],
    ['a recipient', { recipient: 'r1' }],
    ['a sender', { sender: 's1' }],
    ['a recipient and states', { recipient: 'r1', states: ['QUEUED'] }],
    ['states', { states: ['QUEUED'] }],
  ])('by %s reads the newest from an index and sorts nothing', async (_, filter) => {
    let plan = ''
    const own = createTenantPool(
      { url: store.databaseUrl, applicationName: 'test' },
      () => 'default',
    )
    const explaining: Database = {
      async query(statement) {
        const { text, values } = statement as { text: string; values: unknown[] }
        const { rows } = await own.query<{ 'QUERY PLAN': string }>({
          text: `explain ${text}`,
          values,
        })
        plan = rows.map((row) => row['QUERY PLAN']).join('\n')
        return own.query(statement)
      },
    }
    const listed = await listForeignHandoffs(explaining, 'crowd', { limit: 100, ...filter })
    await own.end()
    expect(listed).toHaveLength(100)
    expect(plan).not.toMatch(/Seq Scan|Bitmap|\bSort\b/)
    expect(plan).toMatch(/Index Scan using external_ref_/)
  })
})

it('keeps no digest and no name of a handoff that was erased, and its row', async () => {
  const ref = newRef()
  const handoffId = await sendAs(ref, { requiresApproval: true })
  const act = { handoffId, decision: 'reject', decidedBy: 'ann', reasonCode: null } as const
  await decideAs(store.pool, { ...act, decidedAs: 'Ann of the board' })
  const held = async () =>
    Object.fromEntries(
      (await countErased(store.pool, [handoffId])).map(({ name, after }) => [name, after]),
    )
  expect(await held()).toMatchObject({ 'external ids': 1, 'names of approvers': 1 })
  await inTransaction(store.pool, (transaction) => eraseHandoffs(transaction, [handoffId]))
  expect(await held()).toMatchObject({ 'external ids': 0, 'names of approvers': 0 })
  expect(await findForeignHandoff(store.pool, ref)).toMatchObject({
    handoffId,
    approval: { decidedBy: 'ann', decidedAs: null },
  })
  expect(await takeExternalRef(store.pool, { ...ref, handoffId: randomUUID() })).toEqual({
    kind: 'other_request',
  })
})
