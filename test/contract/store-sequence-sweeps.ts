// What happens to handoffs from outside their executions, on Postgres and on the model beside it.
import assert from 'node:assert/strict'
import type { NewHandoff } from '@baton/store'
import {
  cancelAtOnce,
  endCanceledHandoffs,
  expireHandoffs,
  graceExecutions,
  inTransaction,
  listUndelivered,
  lockForCancel,
  redriveHandoffs,
  sweepExpiredLeases,
  sweepRetries,
} from '@baton/store'
import { ALL_RULES as RULES } from '../model/protocol.ts'
import * as model from '../model/statements.ts'
import type { World } from '../model/world.ts'
import type { StoreFixture } from './store-fixture.ts'

/** What the commands act on: two handoffs of one task, the jobs published so far, and three workers. */
export interface Real {
  readonly store: StoreFixture
  readonly handoffs: readonly NewHandoff[]
  readonly jobs: { readonly on: number; readonly publishAttempt: number }[]
  /** The fencing token that each worker believes to hold. */
  readonly fencingTokens: number[]
  readonly publishAttempts: number[]
}

export interface Doing {
  readonly name: string
  possible(world: World): boolean
  /** Does it on both sides and compares the answers. */
  act(world: World, real: Real): Promise<void>
}

export const LEASE_MS = 60_000

export const idOf = (real: Real, on: number): string => real.handoffs[on]?.handoffId ?? ''
export const isSent = (world: World, on: number): boolean => world.handoffs[on]?.state !== 'UNSENT'
const isOpen = (world: World, on: number): boolean =>
  isSent(world, on) && !model.isEnded(model.handoffAt(world, on))
const both = (world: World, change: (on: number) => void): void =>
  world.handoffs.forEach((_, on) => change(on))

export const leaseExpiry = (on: number): Doing => ({
  name: `the lease of ${on} passes`,
  possible: (world) => isOpen(world, on),
  async act(world, real) {
    await real.store.leaseExpiry(idOf(real, on))
    model.handoffAt(world, on).leased = false
  },
})

export const comesDue = (on: number): Doing => ({
  name: `the deadline of ${on} passes`,
  possible: (world) => isOpen(world, on),
  async act(world, real) {
    await real.store.rows(`update handoff set expires_at = now() - interval '1 s' where id = $1`, [
      idOf(real, on),
    ])
    model.handoffAt(world, on).due = true
  },
})

export const cancel = (on: number): Doing => ({
  name: `${on} is canceled`,
  possible: (world) => isOpen(world, on) && !world.handoffs[on]?.cancel,
  async act(world, real) {
    await inTransaction(real.store.pool, async (transaction) => {
      const ids = await lockForCancel(
        transaction,
        { handoffId: idOf(real, on) },
        real.handoffs[on]?.taskId ?? '',
      )
      const graced = await graceExecutions(transaction, ids, LEASE_MS)
      const waiting = new Set(graced.map((one) => one.handoffId))
      await cancelAtOnce(
        transaction,
        ids.filter((id) => !waiting.has(id)),
      )
    })
    model.requestCancel(world, on, RULES)
  },
})

const sweep = (name: string, act: Doing['act']): Doing => ({
  name: `sweep ${name}`,
  possible: (world) => isSent(world, 0),
  act,
})

export const sweeps: readonly Doing[] = [
  sweep('retries', async (world, { store }) => {
    await store.rows(`update retry set due = now() - interval '1 s'`)
    await sweepRetries(store.pool)
    both(world, (on) => {
      const one = model.handoffAt(world, on)
      if (one.retry) model.requeue(world, on, RULES)
      one.retry = false
    })
  }),
  sweep('expired leases', async (world, { store }) => {
    await sweepExpiredLeases(store.pool)
    both(world, (on) => model.sweepExpiredLeases(world, on, RULES))
  }),
  sweep('lost jobs', async (world, real) => {
    const undelivered = await listUndelivered(real.store.pool, 0)
    const expected = world.handoffs.flatMap((_, on) =>
      model.isQuiet(world, on) ? [idOf(real, on)] : [],
    )
    assert.deepEqual(
      undelivered.map((one) => one.handoffId),
      expected,
    )
    await redriveHandoffs(real.store.pool, undelivered)
    both(world, (on) => {
      if (expected.includes(idOf(real, on))) model.requeue(world, on, RULES)
    })
  }),
  sweep('deadlines', async (world, { store }) => {
    await inTransaction(store.pool, (transaction) => expireHandoffs(transaction))
    both(world, (on) => model.expire(world, on, RULES))
  }),
  sweep('cancellations', async (world, { store }) => {
    await store.rows(`update handoff set cancel_grace_until = now() - interval '1 s'
      where cancel_grace_until is not null and ended_at is null`)
    await endCanceledHandoffs(store.pool)
    both(world, (on) => model.cancel(world, on, RULES))
  }),
]
