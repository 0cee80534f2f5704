// Control operations against everything else at the same moment: one of them wins, and what has ended never executes or commits.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { requestCancel } from '@baton/engine'
import {
  claimExecutions,
  claimOutbox,
  completeExecutions,
  endCanceledHandoffs,
  endHandoffs,
  expireHandoffs,
  findHandoff,
  findTask,
  markExecuting,
  releaseLeases,
  releaseLeasesLater,
  retryHandoffs,
  sendHandoffs,
  storeInvariants,
  sweepExpiredLeases,
  sweepRetries,
} from '@baton/store'
import { seededRandom } from '@baton/testkit'
import { executing, newHandoff, openStore, receiptOf } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'
import { answerSigned } from './signed-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store control races')
})
afterAll(() => store.close())

type Fence = { readonly handoffId: string; readonly fencingToken: number }
const cancel = (handoffId: string, graceMs = 60_000) =>
  requestCancel(store.pool, { handoffId, graceMs, actor: 'ann' })
const cancelTask = (taskId: string, graceMs = 60_000) =>
  requestCancel(store.pool, { taskId, graceMs, actor: 'ann' })
const complete = async (fence: Fence, taskResult: string | null = null) => {
  const completion = { ...fence, costMicroUSD: 30, result: '1', taskResult }
  return completeExecutions(store.pool, [completion], [])
}
const stateOf = async (handoffId: string) => (await findHandoff(store.pool, handoffId))?.state
const statusOf = async (taskId: string) => (await findTask(store.pool, taskId))?.status
async function sent(changes: Parameters<typeof newHandoff>[0] = {}) {
  const handoff = newHandoff(changes)
  await sendHandoffs(store.pool, [handoff])
  return handoff
}

describe('at the same moment', () => {
  it('a claim, a start and a cancellation: it never executes once it is canceled', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { handoffId } = await sent()
      const claimAndStart = async () => {
        const [claimed] = await claimExecutions(
          store.pool,
          { owner: randomUUID(), leaseMs: 60_000 },
          [{ handoffId, publishAttempt: 1 }],
        )
        if (claimed?.kind !== 'claimed') return false
        return (await markExecuting(store.pool, [receiptOf(claimed)]))[0] !== undefined
      }
      const [started, answer] = await Promise.all([claimAndStart(), cancel(handoffId)])
      const { stopping } = answer as typeof answer & { kind: 'canceled' }
      expect(stopping.length === 1).toBe(started)
      expect(await stateOf(handoffId)).toBe(started ? 'EXECUTING' : 'CANCELED')
    }
  })

  it('a result and a cancellation without grace: exactly one of them wins', async () => {
    for (let round = 0; round < 20; round += 1) {
      const claimed = await executing(store.pool)
      const [done, answer] = await Promise.all([
        complete(claimed, '1'),
        cancel(claimed.handoffId, 0),
      ])
      const won = done.size === 1
      expect(answer.kind).toBe(won ? 'ended' : 'canceled')
      expect(await stateOf(claimed.handoffId)).toBe(won ? 'COMPLETED' : 'CANCELED')
    }
  })

  it('two cancellations and a step that hands on: nothing of the task stays open', async () => {
    for (let round = 0; round < 10; round += 1) {
      const { taskId } = await sent()
      await Promise.all([
        sendHandoffs(store.pool, [newHandoff({ taskId })]),
        cancelTask(taskId),
        cancelTask(taskId, 0),
      ])
      expect(await statusOf(taskId)).toBe('CANCELED')
      expect(
        await store.rows('select from handoff where task_id = $1 and ended_at is null', [taskId]),
      ).toEqual([])
      await claimOutbox(store.pool, [
        { tenant: 'default', queue: 'reviewer', priority: 2, afterSeq: 0, limit: 500 },
      ])
    }
  })
})

const FAILED = { reason: 'X', details: '[]', costMicroUSD: 0 }
const ENDINGS = ['EXPIRED', 'CANCELED', 'REJECTED', 'ROLLED_BACK', 'COMPLETED']

/** One handoff under everything that a service may do to it, in any order and at the same time. */
function actionsOn({ handoffId, taskId }: { handoffId: string; taskId: string }) {
  const fences: Fence[] = []
  const seen = { starts: 0, commits: 0 }
  const { pool } = store
  const each = (work: (fence: Fence) => Promise<unknown>) => async () => {
    for (const fence of fences.slice(-2)) await work(fence)
  }
  const set = (assignment: string, table = 'handoff') =>
    store.rows(
      `update ${table} set ${assignment} where ${table === 'handoff' ? 'id' : 'handoff_id'} = $1`,
      [handoffId],
    )
  const actions = {
    async claim() {
      const [row] = await store.rows<{ publishAttempt: number }>(
        'select publish_attempt as "publishAttempt" from handoff where id = $1',
        [handoffId],
      )
      const [claimed] = await claimExecutions(pool, { owner: randomUUID(), leaseMs: 60_000 }, [
        { handoffId, publishAttempt: row?.publishAttempt ?? 1 },
      ])
      if (claimed?.kind === 'claimed')
        fences.push({ handoffId, fencingToken: claimed.fencingToken })
    },
    start: each(async (fence) => {
      const [started] = await markExecuting(pool, [receiptOf(fence)])
      if (started !== undefined) seen.starts += 1
    }),
    complete: each(async (fence) => {
      const { size } = await complete(fence, '1')
      seen.commits += size
    }),
    retry: each((fence) =>
      retryHandoffs(pool, [{ ...fence, ...FAILED, delayMs: 0, returned: false }], []),
    ),
    rollBack: each((fence) =>
      endHandoffs(
        pool,
        [
          {
            ...fence,
            ...FAILED,
            state: 'ROLLED_BACK',
            taskStatus: 'PENDING_HANDOFF',
            alert: true,
            escalate: false,
          },
        ],
        [],
      ),
    ),
    release: each((fence) => releaseLeasesLater(pool, [fence], 0)),
    releaseLease: each((fence) => releaseLeases(pool, [fence])),
    leaseExpiry: () => set(`lease_until = now() - interval '1 s'`, 'execution'),
    sweepLeases: () => sweepExpiredLeases(pool),
    sweepRetries: () => sweepRetries(pool),
    expire: () => expireHandoffs(pool),
    endCanceled: () => endCanceledHandoffs(pool),
    passDeadline: () => set(`expires_at = now() - interval '1 ms'`),
    cancel: () => cancel(handoffId, 60_000),
    cancelNow: () => cancel(handoffId, 0),
    cancelTask: () => cancelTask(taskId),
    endGrace: () => set(`cancel_grace_until = least(cancel_grace_until, now() - interval '1 ms')`),
    approve: () =>
      answerSigned(store.pool, { handoffId, decision: 'approve', actor: 'ann', reasonCode: null }),
    refuse: () =>
      answerSigned(store.pool, { handoffId, decision: 'reject', actor: 'ann', reasonCode: null }),
  }
  return { actions, seen }
}

const USUAL = ['claim', 'start', 'complete', 'claim', 'start', 'approve'] as const

describe('in any order, two or three at a time', () => {
  const random = seededRandom('control')
  const rounds = Array.from({ length: 40 }, (_, round) => round)

  it.each(rounds)('what has ended starts and commits nothing more (%i)', async () => {
    const handoff = await sent({ requiresApproval: random.next() < 0.3 })
    const { actions, seen } = actionsOn(handoff)
    const names = Object.keys(actions) as (keyof typeof actions)[]
    let ended: string | undefined
    let atEnd = { starts: 0, commits: 0 }
    for (let step = 0; step < 25; step += 1) {
      const picked = [random.pick(USUAL), random.pick(names), random.pick(names)]
      await Promise.all(picked.map((name) => settled(actions[name]())))
      const state = await stateOf(handoff.handoffId)
      if (ended === undefined && ENDINGS.includes(state ?? '')) {
        ended = state
        atEnd = { ...seen }
      }
      const expected = ended === undefined ? { ...seen, state } : { ...atEnd, state: ended }
      expect({ ...seen, state }).toEqual(expected)
    }
    expect(seen.commits).toBe((await stateOf(handoff.handoffId)) === 'COMPLETED' ? 1 : 0)
  })

  it('and every promise about the database holds afterwards', async () => {
    const rules = storeInvariants(store.pool)
    const broken = await Promise.all(rules.map(async ({ rule, check }) => [rule, await check()]))
    expect(broken.filter(([, ids]) => ids !== undefined && ids.length > 0)).toEqual([])
  })
})

// Of two that wait for each other Postgres lets one go; whoever lost tries again later.
const settled = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: { code?: string }) => {
    if (error.code !== 'BATON_DATABASE_UNAVAILABLE') throw error
  })
