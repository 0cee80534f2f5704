// A primary of a Redis Cluster that dies under load is replaced by its replica, and a slot that is moved takes its queue along:
// other queues go on meanwhile, and nothing is lost or done twice.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, describeWith, eventually, startRedisCluster } from '@baton/testkit'
import { checkRedisSafety } from '@baton/transport'
import { countHandoffs, goesOn, longestPauseSeconds, openWorld, startLoad } from './outage-world.ts'
import type { Load, World } from './outage-world.ts'

const RESUMES_WITHIN_MS = 60_000
/** Of `{first}` and `{second}`: two primaries have them. */
const SLOT_OF_FIRST = 11_149
const SLOT_OF_SECOND = 164

describeWith('a Redis Cluster', await startRedisCluster(), (redis) => {
  let world: World
  let load: Load

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    const purpose = 'redis cluster'
    world = await openWorld({ purpose, adminUrl, redisUrl: redis.url })
    await world.system.start('auditor')
    await Promise.all(
      (['relay', 'relay', 'receiver'] as const).map((name) => world.system.start(name)),
    )
  }, 60_000)
  afterAll(async () => {
    await world.close()
    await redis.stop()
  })

  const holderOf = async (slot: number) =>
    (await redis.primaries()).find(({ slots }) =>
      slots.some((range) => {
        const [from = NaN, to = from] = range.split('-').map(Number)
        return slot >= from && slot <= to
      }),
    )
  const completed = (agent: string) =>
    countHandoffs(world, `h.state = 'COMPLETED' and h.to_agent = '${agent}'`)

  it('is judged as a whole, and refused as one server', async () => {
    expect(await checkRedisSafety({ url: redis.url })).toEqual([])
    await expect(checkRedisSafety({ url: redis.nodes[0]?.url ?? '' })).rejects.toMatchObject({
      code: 'BATON_REDIS_ADDRESS_WRONG',
    })
  })

  it('moves a slot under load, and its queue goes with it', async () => {
    load = startLoad(world, 20)
    await goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })
    const from = await holderOf(SLOT_OF_SECOND)
    const first = await holderOf(SLOT_OF_FIRST)
    const to = (await redis.primaries()).find(({ id }) => id !== from?.id && id !== first?.id)
    if (to === undefined) throw new Error('there is no third primary')
    await redis.moveSlot(SLOT_OF_SECOND, to.node)
    expect((await holderOf(SLOT_OF_SECOND))?.id).toBe(to.id)
    const seconds = await completed('second')
    await eventually(async () => (await completed('second')) > seconds + 20, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'its queue goes on',
    })
  })

  it('loses a primary under load: its replica takes over, and other queues go on meanwhile', async () => {
    const since = new Date()
    const holder = await holderOf(SLOT_OF_SECOND)
    await holder?.node.kill()
    const firsts = await completed('first')
    await eventually(async () => (await holderOf(SLOT_OF_SECOND))?.node === holder?.replicas[0], {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'its replica is promoted',
    })
    const seconds = await completed('second')
    await eventually(async () => (await completed('second')) > seconds + 5, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'its queue goes on',
    })
    expect(await completed('first')).toBeGreaterThan(firsts)
    await load.stop()
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
    const pauses = await Promise.all(
      ['first', 'second'].map((agent) => longestPauseSeconds(world, since, agent)),
    )
    const [others = NaN, own = NaN] = pauses
    process.stderr.write(
      `redis cluster: ${own.toFixed(1)} s without a finished handoff of its queue, ${others.toFixed(1)} s of another\n`,
    )
  })
})
