// The outbox is bounded for each tenant by depth and by age for each agent type and in all, and read seldom.
import type { QueueDepth } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import { createOutboxBound } from './outbox-bound.ts'

const DEPTH_MAX = 5_000

interface World {
  now: number
  down: boolean
  tookMs: number
  tenant: number
  readonly queues: Map<string, Partial<QueueDepth>>
}

function bound() {
  const seen: string[][] = []
  const world: World = { now: 0, down: false, tookMs: 0, tenant: 0, queues: new Map() }
  const requireRoom = createOutboxBound({
    async readDepth() {
      if (world.down) throw new Error('no database')
      return { depth: world.tenant, oldestAgeSeconds: 0 }
    },
    async readQueueDepths(asked) {
      seen.push(asked.map(({ queue }) => queue))
      world.now += world.tookMs
      if (world.down) throw new Error('no database')
      const tenantDepth = world.tenant
      const empty = {
        depth: 0,
        criticalDepth: 0,
        oldestAgeSeconds: 0,
        hosted: false,
        tenantDepth,
      }
      return asked.map(({ queue, tenant }) => ({
        queue,
        tenant: tenant ?? 'default',
        ...empty,
        ...world.queues.get(tenant === null ? queue : `${tenant} ${queue}`),
      }))
    },
    depthMax: DEPTH_MAX,
    ageMaxMs: 30_000,
    metrics: createMetrics(),
    now: () => world.now,
  })
  /** What a send is refused with; null where it is taken. */
  const refusal = (agentType = 'reviewer', priority = 2, tenant: string | null = null) =>
    requireRoom({ agentType, priority, tenant }).then(
      () => null,
      (error: Error) => error.message,
    )
  return { seen, world, refusal }
}

/** Which priorities are taken where so much waits. */
async function taken(queue: Partial<QueueDepth>, tenant = 0): Promise<readonly number[]> {
  const { world, refusal } = bound()
  world.tenant = tenant
  world.queues.set('reviewer', queue)
  const refusals = [await refusal('reviewer', 0), await refusal('reviewer', 2)]
  return [0, 2].filter((_, index) => refusals[index] === null)
}

describe('what one agent type may have waiting', () => {
  it.each([
    [{ depth: 0, oldestAgeSeconds: 0 }, [0, 2]],
    [{ depth: DEPTH_MAX, oldestAgeSeconds: 30 }, [0, 2]],
    [{ depth: DEPTH_MAX + 1, oldestAgeSeconds: 0 }, [0]],
    [{ depth: 1, oldestAgeSeconds: 30.1 }, [0]],
    [{ depth: DEPTH_MAX + 1, criticalDepth: 999, oldestAgeSeconds: 30.1 }, [0]],
    [{ depth: 1_000, criticalDepth: 1_000, oldestAgeSeconds: 0 }, [2]],
    [{ depth: DEPTH_MAX + 1, criticalDepth: 1_000, oldestAgeSeconds: 0 }, []],
  ])('%o takes the priorities %j, hosted or not', async (queue, priorities) => {
    expect(await taken(queue)).toEqual(priorities)
    expect(await taken({ ...queue, hosted: true })).toEqual(priorities)
  })

  it('is its own: the one beside it is taken', async () => {
    const { world, refusal } = bound()
    world.queues.set('misstyped', { depth: 1, oldestAgeSeconds: 33.9 })
    expect(await refusal('misstyped')).toBe(
      '1 handoff waits for agent type "misstyped", the oldest for 33 s; no live receiver hosts it',
    )
    expect(await refusal()).toBeNull()
  })
})

describe('what a tenant has waiting', () => {
  it('is its own, for the same agent type too, and named', async () => {
    const { world, refusal } = bound()
    world.queues.set('acme shared', { depth: DEPTH_MAX + 1, hosted: true })
    expect(await refusal('shared', 2, 'acme')).toBe(
      '5001 handoffs of tenant acme wait for agent type "shared", the oldest for 0 s',
    )
    expect(await refusal('shared', 2, 'globex')).toBeNull()
    expect(await refusal('shared')).toBeNull()
    world.queues.set('acme other', { tenantDepth: 4 * DEPTH_MAX + 1 })
    expect(await refusal('other', 2, 'acme')).toBe(
      'more than 20000 handoffs of tenant acme wait in all; no live receiver hosts agent type "other"',
    )
    expect(await refusal('other', 2, 'globex')).toBeNull()
  })
})

describe('what may wait in all', () => {
  it.each([
    [4 * DEPTH_MAX, [0, 2]],
    [4 * DEPTH_MAX + 1, [0]],
    [8 * DEPTH_MAX, [0]],
    [8 * DEPTH_MAX + 1, []],
  ])('at %i a type that nobody hosts is taken with the priorities %j', async (all, priorities) => {
    expect(await taken({ depth: 0 }, all)).toEqual(priorities)
  })

  it('never keeps a hosted type from having 1,000 waiting', async () => {
    const all = 8 * DEPTH_MAX + 1
    expect(await taken({ depth: 1_000, hosted: true }, all)).toEqual([0, 2])
    expect(await taken({ depth: 1_001, hosted: true }, all)).toEqual([])
  })
})

describe('reading', () => {
  it('happens once for many callers, and again after 250 ms without making anybody wait', async () => {
    const { seen, world, refusal } = bound()
    await Promise.all(Array.from({ length: 50 }, () => refusal()))
    expect(seen).toEqual([['reviewer']])
    world.queues.set('reviewer', { depth: DEPTH_MAX + 1 })
    world.now = 300
    expect(await refusal()).toBeNull()
    expect(await refusal()).toMatch(/^5001 handoffs wait/)
    expect(seen).toHaveLength(2)
  })

  it('is shared by callers for many types, and of those only that were asked for since', async () => {
    const { seen, world, refusal } = bound()
    const types = Array.from({ length: 50 }, (_, nth) => `type-${nth}`)
    await Promise.all(types.map((type) => refusal(type)))
    expect(seen).toEqual([['type-0'], types.slice(1)])
    world.now = 2_000
    await refusal('type-7')
    expect(seen[2]).toEqual(['type-7'])
  })

  it('is rarer the longer it takes', async () => {
    const { seen, world, refusal } = bound()
    world.tookMs = 100
    await refusal()
    world.now += 900
    await refusal()
    expect(seen).toHaveLength(1)
    world.now += 101
    await refusal()
    expect(seen).toHaveLength(2)
  })

  it('remembers the last thousand types', async () => {
    const { seen, refusal } = bound()
    for (let nth = 0; nth <= 1_000; nth += 1) await refusal(`type-${nth}`)
    await refusal('type-1')
    expect(seen).toHaveLength(1_001)
    await refusal('type-0')
    expect(seen).toHaveLength(1_002)
  })

  it('lets a send tell by itself that the database is away', async () => {
    const { world, refusal } = bound()
    world.down = true
    expect(await refusal()).toBeNull()
  })
})
