// What befalls several Redis that belong together: each fault is made under load and healed before the next one.
import { eventually } from '@baton/testkit'
import type { ClusterPrimary, RedisCluster, RedisNode, WatchedRedis } from '@baton/testkit'
import { pause } from './fault.ts'

export interface GroupFault {
  readonly name: string
  /** Resolves when the group is whole again. */
  make(): Promise<void>
}

const WITHIN_MS = 60_000
/** How long load goes on between a fault and what heals it. */
const LASTS_MS = 4_000
/** How long a primary takes what no replica hears of. */
const UNHEARD_MS = 1_000

/** Of a primary, its replica and the Sentinels that watch them. */
export function watchedFaults(redis: WatchedRedis): readonly GroupFault[] {
  async function pair() {
    const primary = await redis.primary()
    const replica = redis.nodes.find((node) => node !== primary)
    if (replica === undefined) throw new Error('there is no replica')
    return { primary, replica }
  }
  const promoted = (node: RedisNode) =>
    eventually(async () => (await redis.primary()) === node, {
      deadlineMs: WITHIN_MS,
      describe: 'the replica is promoted',
    })
  async function healed(former: RedisNode, primary: RedisNode): Promise<void> {
    await former.send(['REPLICAOF', '127.0.0.1', String(primary.port)])
    await hasReplica(primary)
  }
  return [
    {
      name: 'primary killed (kill -9)',
      async make() {
        const { primary, replica } = await pair()
        await primary.kill()
        await promoted(replica)
        await pause(LASTS_MS)
        await primary.restart()
        await healed(primary, replica)
      },
    },
    {
      name: 'primary killed, its replica a second behind',
      async make() {
        const { primary, replica } = await pair()
        await deafen(replica, primary)
        await pause(UNHEARD_MS)
        await primary.kill()
        await promoted(replica)
        await pause(LASTS_MS)
        await restoreHearing(replica, primary)
        await primary.restart()
        await healed(primary, replica)
      },
    },
    {
      name: 'primary frozen (SIGSTOP), back as a primary of old',
      async make() {
        const { primary, replica } = await pair()
        primary.signal('SIGSTOP')
        await promoted(replica)
        await pause(LASTS_MS)
        primary.signal('SIGCONT')
        await healed(primary, replica)
      },
    },
    {
      name: 'planned fail-over (SENTINEL FAILOVER)',
      async make() {
        const { replica } = await pair()
        // Refused while the last one has not settled.
        await eventually(async () => redis.sentinels[0]?.send(['SENTINEL', 'FAILOVER', 'baton']), {
          deadlineMs: WITHIN_MS,
          describe: 'the fail-over begins',
        })
        await promoted(replica)
        await hasReplica(replica)
      },
    },
    {
      name: 'a Sentinel killed, then the primary',
      async make() {
        const { primary, replica } = await pair()
        const [sentinel] = redis.sentinels
        await sentinel?.kill()
        await primary.kill()
        await promoted(replica)
        await pause(LASTS_MS)
        await sentinel?.restart()
        await primary.restart()
        await healed(primary, replica)
      },
    },
  ]
}

/** Of a Cluster, whose primaries each serve some of the queues. `slot` is that of the queue which is hit. */
export function clusterFaults(redis: RedisCluster, slot: number): readonly GroupFault[] {
  async function hit(): Promise<ClusterPrimary & { readonly replica: RedisNode }> {
    const primary = await holderOf(redis, slot)
    const replica = primary?.replicas[0]
    if (primary === undefined || replica === undefined) throw new Error('its slot has no replica')
    return { ...primary, replica }
  }
  const promoted = (node: RedisNode) =>
    eventually(async () => (await holderOf(redis, slot))?.node === node, {
      deadlineMs: WITHIN_MS,
      describe: 'the replica is promoted',
    })
  const whole = () =>
    eventually(
      async () => {
        const primaries = await redis.primaries()
        return primaries.length === 3 && primaries.every(({ replicas }) => replicas.length > 0)
      },
      { deadlineMs: WITHIN_MS, describe: 'three primaries have a replica each' },
    )
  return [
    {
      name: 'primary killed (kill -9)',
      async make() {
        const { node, replica } = await hit()
        await node.kill()
        await promoted(replica)
        await pause(LASTS_MS)
        await node.restart()
        await whole()
        await hasReplica(replica)
      },
    },
    {
      name: 'primary killed, its replica a second behind',
      async make() {
        const { node, replica } = await hit()
        await deafen(replica, node)
        await pause(UNHEARD_MS)
        await node.kill()
        await promoted(replica)
        await pause(LASTS_MS)
        await restoreHearing(replica, node)
        await node.restart()
        await whole()
        await hasReplica(replica)
      },
    },
    {
      name: 'primary frozen (SIGSTOP), back as a primary of old',
      async make() {
        const { node, replica } = await hit()
        node.signal('SIGSTOP')
        await promoted(replica)
        await pause(LASTS_MS)
        node.signal('SIGCONT')
        await whole()
        await hasReplica(replica)
      },
    },
    {
      name: 'planned fail-over (CLUSTER FAILOVER)',
      async make() {
        const { replica } = await hit()
        await replica.send(['CLUSTER', 'FAILOVER'])
        await promoted(replica)
        await hasReplica(replica)
      },
    },
    {
      name: 'primary and replica killed for four seconds',
      async make() {
        const { node, replica } = await hit()
        await Promise.all([node.kill(), replica.kill()])
        await pause(LASTS_MS)
        await Promise.all([node.restart(), replica.restart()])
        await eventually(async () => (await holderOf(redis, slot)) !== undefined, {
          deadlineMs: WITHIN_MS,
          describe: 'its slot is served again',
        })
        await whole()
      },
    },
    {
      name: 'slot moved to another primary',
      async make() {
        const { id } = await hit()
        const other = (await redis.primaries()).find((one) => one.id !== id)
        if (other === undefined) throw new Error('there is one primary only')
        await redis.moveSlot(slot, other.node)
      },
    },
  ]
}

async function holderOf(redis: RedisCluster, slot: number): Promise<ClusterPrimary | undefined> {
  return (await redis.primaries()).find(({ slots }) =>
    slots.some((range) => {
      const [from = NaN, to = from] = range.split('-').map(Number)
      return slot >= from && slot <= to
    }),
  )
}

async function hasReplica(primary: RedisNode): Promise<void> {
  const online = /slave0:[^\r]*state=online/
  await eventually(async () => online.test(await primary.send(['INFO', 'replication'])), {
    deadlineMs: WITHIN_MS,
    describe: 'a replica follows the primary',
  })
}

/** It lets its primary go and is let in no more, so that it misses what comes. */
async function deafen(replica: RedisNode, primary: RedisNode): Promise<void> {
  await replica.send(['CONFIG', 'SET', 'masterauth', 'wrong'])
  await primary.send(['CLIENT', 'KILL', 'TYPE', 'replica'])
}

/** With the password that the group shares. */
async function restoreHearing(replica: RedisNode, { url }: RedisNode): Promise<void> {
  await replica.send(['CONFIG', 'SET', 'masterauth', new URL(url).password])
}
