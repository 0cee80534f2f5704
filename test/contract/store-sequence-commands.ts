// Commands on a real Postgres and on the model beside it: the model check rests on statements that do the same.
import fc from 'fast-check'
import { randomUUID } from 'node:crypto'
import { expect } from 'vitest'
import {
  claimExecutions,
  claimOutbox,
  extendLeases,
  inTransaction,
  listPriorityClasses,
  markDispatched,
  markExecuting,
  releaseLeasesLater,
  sendHandoffs,
} from '@baton/store'
import { ALL_RULES as RULES } from '../model/protocol.ts'
import * as model from '../model/statements.ts'
import { IDLE } from '../model/world.ts'
import type { World } from '../model/world.ts'
import { agree, settleAs } from './store-sequence-state.ts'
import type { Ways } from './store-sequence-state.ts'
import { receiptOf } from './store-fixture.ts'
import {
  cancel,
  comesDue,
  idOf,
  isSent,
  LEASE_MS,
  leaseExpiry,
  sweeps,
} from './store-sequence-sweeps.ts'
import type { Doing, Real } from './store-sequence-sweeps.ts'

const QUOTA = { afterSeq: 0, limit: 100 }
const command = ({ name, possible, act }: Doing): fc.AsyncCommand<World, Real> => ({
  toString: () => name,
  check: possible,
  async run(world, real) {
    world.relays = [0, 1].map((on) => ({ step: 'claimed', on, live: true }))
    await act(world, real)
    await agree(world, real)
  },
})

// A task whose only handoff is canceled takes no other, also when its result still came in the grace.
const isTaskCanceled = ({ handoffs: [first] }: World): boolean =>
  first?.state === 'CANCELED' || (first?.state === 'COMPLETED' && first.cancel)

const send = (on: number): Doing => ({
  name: `send ${on}`,
  possible: (world) => on === 0 || isSent(world, 0),
  async act(world, { store, handoffs }) {
    const one = model.handoffAt(world, on)
    const isNew = one.state === 'UNSENT'
    const refused = isNew && isTaskCanceled(world)
    const kind = refused ? 'task_ended' : isNew ? 'sent' : 'duplicate'
    expect(await sendHandoffs(store.pool, handoffs.slice(on, on + 1))).toMatchObject([{ kind }])
    if (kind === 'sent') Object.assign(one, { state: 'QUEUED', row: true })
  },
})

const relay = (commits: boolean): Doing => ({
  name: commits ? 'relay' : 'relay that publishes and rolls back',
  possible: (world) => world.handoffs.some((one) => one.row || one.staleRow),
  async act(world, { store, handoffs, jobs }) {
    const lost = new Error('rolled back')
    const classes = (await listPriorityClasses(store.pool)).map((priorityClass) => ({
      ...priorityClass,
      ...QUOTA,
    }))
    const publishing = inTransaction(store.pool, async (transaction) => {
      const rows = await claimOutbox(transaction, classes)
      for (const { handoffId, publishAttempt } of rows) {
        jobs.push({ on: handoffs.findIndex((one) => one.handoffId === handoffId), publishAttempt })
      }
      await markDispatched(
        transaction,
        rows.map((row) => row.handoffId),
      )
      if (!commits) throw lost
    })
    if (!commits) {
      await expect(publishing).rejects.toThrow()
      return
    }
    await publishing
    for (const one of world.handoffs) {
      if ((one.row || one.staleRow) && one.state === 'QUEUED') one.state = 'DISPATCHED'
      Object.assign(one, { row: false, staleRow: false })
    }
  },
})

const deliver = (ring: number, worker: number): Doing => ({
  name: `job ${ring} reaches worker ${worker}`,
  possible: (world) => isSent(world, 0),
  async act(world, real) {
    const job = real.jobs.at(-1 - (ring % Math.max(1, real.jobs.length)))
    if (job === undefined) return
    const { on, publishAttempt } = job
    const [answer] = await claimExecutions(
      real.store.pool,
      { owner: randomUUID(), leaseMs: LEASE_MS },
      [{ handoffId: idOf(real, on), publishAttempt }],
    )
    const claimed = publishAttempt === real.publishAttempts[on] && model.claim(world, on)
    expect(answer?.kind).toBe(claimed ? 'claimed' : 'refused')
    if (answer?.kind !== 'claimed') return
    world.workers[worker] = { ...IDLE, step: 'claimed', on, holds: true }
    real.fencingTokens[worker] = answer.fencingToken
  },
})

const held = (index: number, name: string, act: (parts: Held) => Promise<void>): Doing => ({
  name: `worker ${index} ${name}`,
  possible: (world) => world.workers[index]?.step === 'claimed',
  async act(world, real) {
    const { on, holds } = world.workers[index] ?? IDLE
    const fence = { handoffId: idOf(real, on), fencingToken: real.fencingTokens[index] ?? 0 }
    await act({ world, real, on, holds, fence })
  },
})

interface Held {
  readonly world: World
  readonly real: Real
  readonly on: number
  readonly holds: boolean
  readonly fence: { readonly handoffId: string; readonly fencingToken: number }
}

const start = (index: number): Doing =>
  held(index, 'starts', async ({ world, real, on, holds, fence }) => {
    const [latency] = await markExecuting(real.store.pool, [receiptOf(fence)])
    expect(latency !== undefined).toBe(model.start(world, on, holds))
  })

const beat = (index: number): Doing =>
  held(index, 'extends its lease', async ({ world, real, on, holds, fence }) => {
    const leases = await extendLeases(real.store.pool, [fence], LEASE_MS)
    expect(leases.length === 1).toBe(model.extend(world, on, holds))
  })

const settle = (index: number, way: Ways): Doing =>
  held(index, `settles: ${way}`, async ({ world, real, on, holds, fence }) => {
    const before = structuredClone(model.handoffAt(world, on))
    if (way === 'complete') model.complete(world, on, holds, RULES)
    else model.settle(world, on, holds, { decision: way, rules: RULES })
    const changed = JSON.stringify(before) !== JSON.stringify(model.handoffAt(world, on))
    expect(await settleAs(real.store.pool, way, fence)).toBe(changed)
  })

const releaseLease = (index: number): Doing =>
  held(index, 'gives its claim back', async ({ world, real, on, holds, fence }) => {
    await releaseLeasesLater(real.store.pool, [fence], 60_000)
    model.release(world, on, holds)
  })

const handoff = fc.integer({ min: 0, max: 1 })
const worker = fc.integer({ min: 0, max: 2 })
const way = fc.constantFrom<Ways>('complete', 'complete', 'retry', 'ROLLED_BACK', 'DEAD_LETTERED')

/** What every sequence begins with. */
export const opening = command(send(0))

/** Arbitrary commands; the frequent ones let most sequences reach an effect. */
export const storeCommands = [
  handoff.map(send),
  fc.boolean().map(relay),
  fc.constant(relay(true)),
  fc.tuple(fc.nat(3), worker).map(([ring, index]) => deliver(ring, index)),
  fc.tuple(fc.constant(0), worker).map(([ring, index]) => deliver(ring, index)),
  worker.map(start),
  worker.map(beat),
  fc.tuple(worker, way).map(([index, how]) => settle(index, how)),
  worker.map(releaseLease),
  handoff.map(leaseExpiry),
  // What ends a handoff for good comes seldom, so that most sequences get far.
  fc.tuple(fc.nat(8), handoff).map(([dice, on]) => [comesDue, cancel, send][dice]?.(on) ?? beat(0)),
  fc.constantFrom(...sweeps),
  fc.constant(relay(true)),
  fc.constant(deliver(0, 0)),
  fc.constant(start(0)),
  way.map((how) => settle(0, how)),
].map((doing) => doing.map(command))
