// A primary of Redis that dies under load is replaced by its replica: nothing is lost or done twice, and what the replica never
// heard of is published again from Postgres.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, describeWith, eventually, startWatchedRedis } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { checkRedisSafety } from '@baton/transport'
import { countHandoffs, goesOn, longestPauseSeconds, openWorld, startLoad } from './outage-world.ts'
import type { World } from './outage-world.ts'

const RESUMES_WITHIN_MS = 60_000

describeWith('a primary of Redis that Sentinels watch', await startWatchedRedis(), (redis) => {
  let world: World
  let relay: ServiceProcess
  let receiver: ServiceProcess

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    world = await openWorld({
      purpose: 'redis sentinel',
      adminUrl,
      redisUrl: redis.url,
      // Nothing is found by its age alone.
      env: { BATON_UNDELIVERED_MS: '600000' },
    })
    await world.system.start('auditor')
    ;[relay, receiver] = await Promise.all([
      world.system.start('relay'),
      world.system.start('receiver'),
    ])
  }, 60_000)
  afterAll(async () => {
    await world.close()
    await redis.stop()
  })

  it('is found and judged through its Sentinels', async () => {
    expect(await checkRedisSafety({ url: redis.url })).toEqual([])
    const wrong = { code: 'BATON_REDIS_ADDRESS_WRONG' }
    const unknown = redis.url.replace('/baton?', '/other?')
    await expect(checkRedisSafety({ url: unknown })).rejects.toMatchObject(wrong)
    const ofOneSentinel = redis.sentinels[0]?.url ?? ''
    await expect(checkRedisSafety({ url: ofOneSentinel })).rejects.toMatchObject(wrong)
  })

  it('dies under load with what its replica never heard of: that one takes over, and all is published again', async () => {
    const load = startLoad(world, 20)
    await goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })
    const primary = await redis.primary()
    const replica = redis.nodes.find((node) => node !== primary)
    receiver.signal('SIGSTOP')
    // The replica lets its primary go and is let in no more.
    await replica?.send(['CONFIG', 'SET', 'masterauth', 'wrong'])
    await primary.send(['CLIENT', 'KILL', 'TYPE', 'replica'])
    const since = new Date()
    const waiting = `h.state = 'DISPATCHED' and h.created_at > '${since.toISOString()}'`
    await eventually(async () => (await countHandoffs(world, waiting)) > 20, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'handoffs wait in the primary alone',
    })
    const lost = await countHandoffs(world, waiting)
    const killedAt = new Date()
    await primary.kill()
    await eventually(async () => (await redis.primary()) === replica, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'the replica is promoted',
    })
    const again = `h.publish_attempt > 1 and h.created_at between '${since.toISOString()}' and '${killedAt.toISOString()}'`
    await eventually(async () => (await countHandoffs(world, again)) >= lost, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `all ${lost} are published again\n${relay.output().slice(-2_000)}`,
    })
    expect(relay.output()).toContain('queue.suffix_lost')
    receiver.signal('SIGCONT')
    await goesOn(world, { deadlineMs: RESUMES_WITHIN_MS, describe: receiver.output })
    await load.stop()
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
    const pause = await longestPauseSeconds(world, killedAt)
    process.stderr.write(
      `redis sentinel: ${lost} lost by Redis and published again, ${pause.toFixed(1)} s without a finished handoff\n`,
    )
    expect(await checkRedisSafety({ url: redis.url })).toMatchObject([
      { code: 'BATON_REDIS_ALONE' },
    ])
  })
})
