// Approvals on a real Postgres: one decision wins, nothing executes before it, and none comes after the end.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  claimExecutions,
  claimOutbox,
  countApprovals,
  expireHandoffs,
  findApproval,
  findHandoff,
  findTask,
  inTransaction,
  listApprovals,
  sendHandoffs,
} from '@baton/store'
import type { ApprovalDecision } from '@baton/store'
import { newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'
import { decideAs } from './signed-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store approvals')
})
afterAll(() => store.close())

async function held(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff({ requiresApproval: true, ...changes })
  await sendHandoffs(store.pool, [handoff])
  return handoff
}
const decide = (handoffId: string, decision: ApprovalDecision, decidedBy = 'ann') =>
  inTransaction(store.pool, (transaction) =>
    decideAs(transaction, { handoffId, decision, decidedBy, reasonCode: null }),
  )
const queue = async () =>
  (
    await claimOutbox(store.pool, [
      { tenant: 'default', queue: 'reviewer', priority: 2, afterSeq: 0, limit: 500 },
    ])
  ).map((row) => row.handoffId)
const tryClaim = async (handoffId: string) =>
  (
    await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId, publishAttempt: 1 },
    ])
  )[0]?.kind
const pastDue = (handoffId: string) =>
  store.rows(`update handoff set expires_at = now() - interval '1 s' where id = $1`, [handoffId])

describe('a handoff that requires approval (R13)', () => {
  it('is listed with who sent it, is published by nobody and claimed by nobody', async () => {
    const first = await held({ sentBy: 'carol', priority: 1 })
    const second = await held({ expiresAt: '2100-01-01T00:00:00Z' })
    const listed = await listApprovals(store.pool, { limit: 500 })
    expect(listed).toMatchObject([
      { handoffId: first.handoffId, sentBy: 'carol', priority: 1, expiresAt: null },
      { handoffId: second.handoffId, sentBy: null, expiresAt: new Date('2100-01-01T00:00:00Z') },
    ])
    const [page] = await listApprovals(store.pool, { limit: 1 })
    const rest = await listApprovals(store.pool, { limit: 2, cursor: page?.position })
    expect([page?.handoffId, ...rest.map(({ handoffId }) => handoffId)]).toEqual([
      first.handoffId,
      second.handoffId,
    ])
    expect(await countApprovals(store.pool)).toBe(2)
    expect(await queue()).toEqual([])
    expect(await tryClaim(first.handoffId)).toBe('refused')
  })

  it('is queued once approved, with its latency counted from then', async () => {
    const { handoffId } = await held()
    await store.rows(`update handoff set queued_at = now() - interval '1 hour' where id = $1`, [
      handoffId,
    ])
    expect(await decide(handoffId, 'approve')).toMatchObject({ handoffId, fencingToken: 0 })
    expect(await queue()).toEqual([handoffId])
    expect(await findApproval(store.pool, handoffId)).toMatchObject({
      decision: 'approve',
      decidedBy: 'ann',
      state: 'QUEUED',
    })
    const [row] = await store.rows<{ fresh: boolean }>(
      `select queued_at > now() - interval '1 minute' as fresh from handoff where id = $1`,
      [handoffId],
    )
    expect(row?.fresh).toBe(true)
    expect(await tryClaim(handoffId)).toBe('claimed')
    expect(await listApprovals(store.pool, { limit: 500 })).not.toContainEqual(
      expect.objectContaining({ handoffId }),
    )
  })

  it('ends when it is refused: the checkpoint stands, the sender is told, its execution is shut', async () => {
    const { handoffId, taskId, checkpointId } = await held()
    expect(await decide(handoffId, 'reject')).toMatchObject({ handoffId })
    expect(await findHandoff(store.pool, handoffId)).toMatchObject({
      state: 'REJECTED',
      reason: 'APPROVAL_REFUSED',
    })
    expect(await findTask(store.pool, taskId)).toMatchObject({
      status: 'PENDING_HANDOFF',
      checkpointId,
    })
    expect(
      await store.rows('select kind, reason from sender_notification where handoff_id = $1', [
        handoffId,
      ]),
    ).toEqual([{ kind: 'rollback', reason: 'APPROVAL_REFUSED' }])
    expect(await tryClaim(handoffId)).toBe('refused')
    expect(await queue()).toEqual([])
  })

  it('is decided once, whoever asks at the same moment', async () => {
    const handoffs = await Promise.all(Array.from({ length: 12 }, () => held()))
    for (const { handoffId } of handoffs) {
      const answers = await Promise.all([
        decide(handoffId, 'approve', 'ann'),
        decide(handoffId, 'reject', 'bob'),
        decide(handoffId, 'approve', 'cyd'),
      ])
      expect(answers.filter((answer) => answer !== undefined)).toHaveLength(1)
      const approval = await findApproval(store.pool, handoffId)
      expect(approval?.state).toBe(approval?.decision === 'approve' ? 'QUEUED' : 'REJECTED')
      expect(await decide(handoffId, 'approve')).toBeUndefined()
    }
    await queue()
  })

  it('cannot be decided after its expiry, also before a sweeper came by', async () => {
    const { handoffId } = await held()
    await pastDue(handoffId)
    expect(await decide(handoffId, 'approve')).toBeUndefined()
    expect(await listApprovals(store.pool, { limit: 500 })).not.toContainEqual(
      expect.objectContaining({ handoffId }),
    )
    expect(await expireHandoffs(store.pool)).toMatchObject([{ handoffId, fencingToken: 0 }])
    expect(await findApproval(store.pool, handoffId)).toMatchObject({
      decision: null,
      decidedAt: expect.any(Date),
      state: 'EXPIRED',
    })
    expect(await queue()).toEqual([])
  })

  it('that expires at the moment of its approval ends expired or not at all, and never executes late', async () => {
    for (let round = 0; round < 15; round += 1) {
      const { handoffId } = await held()
      const soon = `update handoff set expires_at = clock_timestamp() + $2 * interval '1 ms' where id = $1`
      await store.rows(soon, [handoffId, round % 4])
      await Promise.all([decide(handoffId, 'approve'), expireHandoffs(store.pool)])
      await pastDue(handoffId)
      expect(await tryClaim(handoffId)).toBe('refused')
      await expireHandoffs(store.pool)
      expect((await findHandoff(store.pool, handoffId))?.state).toBe('EXPIRED')
    }
  })

  it('holds back the later handoffs of its task until it is decided', async () => {
    const first = await held()
    const second = newHandoff({ taskId: first.taskId })
    await store.rows('delete from outbox')
    await sendHandoffs(store.pool, [second])
    expect(await queue()).toEqual([second.handoffId])
    await store.rows(`update handoff set state = 'DISPATCHED' where id = $1`, [second.handoffId])
    expect(await tryClaim(second.handoffId)).toBe('refused')
    await decide(first.handoffId, 'reject')
    expect(await queue()).toEqual([second.handoffId])
    const claims = await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId: second.handoffId, publishAttempt: 2 },
    ])
    expect(claims[0]?.kind).toBe('claimed')
  })

  it('that nobody ever held is unknown', async () => {
    const handoff = newHandoff()
    await sendHandoffs(store.pool, [handoff])
    expect(await decide(handoff.handoffId, 'approve')).toBeUndefined()
    expect(await findApproval(store.pool, handoff.handoffId)).toBeUndefined()
  })
})
