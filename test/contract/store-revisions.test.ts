// Corrections on a real Postgres: same handoff, other bytes, old bytes kept; a claim and a correction never both win.
import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewHandoff } from '@baton/store'
import {
  applyRevisions,
  claimExecutions,
  completeExecutions,
  findHandoff,
  findTask,
  findTaskCheckpoint,
  inTransaction,
  lockRevisable,
  retryHandoffs,
  sendHandoffs,
  storeInvariants,
  WRITABLE_ROWS,
} from '@baton/store'
import { decideAs } from './signed-fixture.ts'
import { claim, executing, newHandoff, openStore, outboxEventOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store revisions')
})
afterAll(() => store.close())

const lock = ({ handoffId }: NewHandoff, revision: number) =>
  inTransaction(store.pool, (tx) => lockRevisable(tx, [{ handoffId, revision }]))

/** The correction of a handoff: other bytes, everything else the same. */
function corrected(handoff: NewHandoff, changes: Partial<NewHandoff> = {}): NewHandoff {
  const other = newHandoff({ taskId: handoff.taskId })
  const { body, sha256, checkpoint, checkpointSha256, checkpointId, requestSha256 } = other
  const bytes = { body, sha256, checkpoint, checkpointSha256, checkpointId, requestSha256 }
  return { ...handoff, ...bytes, signature: `hmac-sha256:${'1'.repeat(64)}`, ...changes }
}

const apply = (message: NewHandoff, revision = 2) =>
  inTransaction(store.pool, async (tx) => {
    const [facts] = await lockRevisable(tx, [{ handoffId: message.handoffId, revision }])
    if (facts?.live === true || facts?.revision !== revision - 1) return 'refused'
    await applyRevisions(tx, [{ revision, message }])
    return 'revised'
  })

async function returned(changes: Partial<NewHandoff> = {}): Promise<NewHandoff> {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  const { handoffId } = handoff
  const { fencingToken } = await claim(store.pool, handoff)
  const change = { handoffId, fencingToken, reason: 'SCHEMA_INVALID', details: '[]', delayMs: 0 }
  await retryHandoffs(store.pool, [{ ...change, returned: true }], [outboxEventOf(handoffId)])
  return handoff
}

describe('a correction', () => {
  it('replaces the message, keeps the exact bytes before it, and publishes at once', async () => {
    const handoff = await returned()
    expect(await lock(handoff, 2)).toMatchObject([
      { revision: 1, askedSha256: null, returned: true, live: false, attempt: 2, state: 'QUEUED' },
    ])
    const message = corrected(handoff)
    expect(await apply(message)).toBe('revised')
    expect(await findHandoff(store.pool, handoff.handoffId)).toMatchObject({
      state: 'QUEUED',
      reason: null,
      attempt: 2,
      details: null,
    })
    const claimed = await claim(store.pool, handoff, { publishAttempt: 2 })
    expect(Buffer.from(claimed.body)).toEqual(message.body)
    expect(claimed).toMatchObject({ signature: message.signature, attempt: 2, fencingToken: 2 })
    const [kept] = await store.rows<{ body: Buffer; body_sha256: Buffer; signature: string }>(
      'select body, body_sha256, signature from handoff_revision where handoff_id = $1 and revision = 1',
      [handoff.handoffId],
    )
    expect(kept?.body).toEqual(handoff.body)
    expect(kept?.body_sha256).toEqual(handoff.sha256)
    expect(kept?.signature).toBe(handoff.signature)
    expect(
      await store.rows('select from retry where handoff_id = $1', [handoff.handoffId]),
    ).toEqual([])
    expect((await findTaskCheckpoint(store.pool, handoff.taskId))?.body).toEqual(message.checkpoint)
  })

  it('is recognised when it is repeated, also after a later one, and is never the first send', async () => {
    const handoff = await returned()
    const [second, third] = [corrected(handoff), corrected(handoff)]
    await apply(second, 2)
    await apply(third, 3)
    const askedAt = async (revision: number) =>
      Buffer.from((await lock(handoff, revision))[0]?.askedSha256 ?? [])
    expect(await askedAt(2)).toEqual(second.requestSha256)
    expect(await askedAt(3)).toEqual(third.requestSha256)
    expect(await askedAt(4)).toEqual(Buffer.alloc(0))
    expect(await sendHandoffs(store.pool, [handoff])).toMatchObject([{ kind: 'duplicate' }])
  })

  it('charges what it cost, once, so that the task still adds up', async () => {
    const handoff = await returned({ spentMicroUSD: 100, remainingMicroUSD: 900 })
    await apply(corrected(handoff, { spentMicroUSD: 150, remainingMicroUSD: 850 }))
    expect(await findTask(store.pool, handoff.taskId)).toMatchObject({ spentMicroUSD: 150 })
    const reads = storeInvariants(store.pool)
    for (const invariant of reads)
      expect([invariant.rule, await invariant.check()]).toEqual([invariant.rule, []])
  })

  it('waits for a person again where it asks for approval', async () => {
    const handoff = await returned()
    await apply(corrected(handoff, { requiresApproval: true }))
    const view = await findHandoff(store.pool, handoff.handoffId)
    expect(view?.state).toBe('AWAITING_APPROVAL')
    await expect(claim(store.pool, handoff, { publishAttempt: 2 })).rejects.toThrow('refused')
  })

  it('waits for a person again as if nobody had decided, which is all that who delivers may write', async () => {
    const handoff = newHandoff({ requiresApproval: true })
    const { handoffId } = handoff
    await sendHandoffs(store.pool, [handoff])
    await inTransaction(store.pool, (tx) =>
      decideAs(tx, {
        handoffId,
        decision: 'approve',
        decidedBy: 'ann',
        decidedAs: 'Ann of Risk',
        reasonCode: null,
      }),
    )
    await apply(corrected(handoff, { requiresApproval: true }))
    const [{ table, rows } = { table: '', rows: '' }] = WRITABLE_ROWS
    expect(table).toBe('approval')
    expect(
      await store.rows(`select ${rows} as mine, closed_at from approval where handoff_id = $1`, [
        handoffId,
      ]),
    ).toEqual([{ mine: true, closed_at: null }])
  })

  it('takes back what its sender had not been told yet', async () => {
    const handoff = await returned()
    await apply(corrected(handoff))
    expect(
      await store.rows(
        'select from sender_notification where handoff_id = $1 and acknowledged_at is null',
        [handoff.handoffId],
      ),
    ).toEqual([])
  })
})

describe('a correction and a claim of the same handoff', () => {
  const tryClaim = (handoff: NewHandoff, publishAttempt: number) =>
    claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId: handoff.handoffId, publishAttempt },
    ])

  it('that is claimed first: the correction sees the live lease', async () => {
    const handoff = await returned()
    await claim(store.pool, handoff)
    expect(await lock(handoff, 2)).toMatchObject([{ live: true }])
    expect(await apply(corrected(handoff))).toBe('refused')
  })

  it('that is corrected first: a claim that waited for it is refused, never given the bytes before', async () => {
    const handoff = await returned()
    const waiting = await inTransaction(store.pool, async (tx) => {
      await lockRevisable(tx, [{ handoffId: handoff.handoffId, revision: 2 }])
      // Reads the old message now, then waits for the lock on the execution.
      const claiming = tryClaim(handoff, 1)
      await lockIsWaitedFor()
      await applyRevisions(tx, [{ revision: 2, message: corrected(handoff) }])
      return { claiming }
    })
    expect(await waiting.claiming).toEqual([{ kind: 'refused' }])
  })

  async function lockIsWaitedFor(): Promise<void> {
    for (;;) {
      const rows = await store.rows(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = $1`,
        [store.database],
      )
      if (rows.length > 0) return
    }
  }

  it('raced many times: exactly one of both happens, and what is claimed is what stands', async () => {
    for (let round = 0; round < 25; round += 1) {
      const handoff = await returned()
      const message = corrected(handoff)
      const [revised, [claimed]] = await Promise.all([apply(message), tryClaim(handoff, 1)])
      expect(revised === 'revised', `round ${round}`).toBe(claimed?.kind === 'refused')
      const seen = claimed?.kind === 'claimed' ? Buffer.from(claimed.body) : handoff.body
      expect(seen).toEqual(handoff.body)
    }
  })

  it('raced by two senders: one wins, the other finds a later revision', async () => {
    for (let round = 0; round < 10; round += 1) {
      const handoff = await returned()
      const outcomes = await Promise.all([apply(corrected(handoff)), apply(corrected(handoff))])
      expect(outcomes.toSorted()).toEqual(['refused', 'revised'])
    }
  })

  it('fences a zombie: whoever held an expired lease can commit nothing afterwards', async () => {
    const zombie = await executing(store.pool)
    const handoff = { ...newHandoff({ taskId: zombie.taskId }), handoffId: zombie.handoffId }
    await store.rows(`update execution set lease_until = clock_timestamp() where handoff_id = $1`, [
      zombie.handoffId,
    ])
    expect(await apply(corrected(handoff))).toBe('revised')
    const late = { ...zombie, costMicroUSD: 1, result: '1', taskResult: '1' }
    expect((await completeExecutions(store.pool, [late], [])).size).toBe(0)
  })
})

it('a checkpoint without bytes is refused: such a sender cannot hand off (E16)', async () => {
  const empty = newHandoff({ checkpoint: Buffer.alloc(0), body: randomBytes(10) })
  await expect(sendHandoffs(store.pool, [empty])).rejects.toMatchObject({
    code: 'BATON_DATABASE_REFUSED',
  })
})
