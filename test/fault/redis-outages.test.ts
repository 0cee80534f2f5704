// Redis away, emptied or set back in time: sends never fail, nothing is lost or done twice, work resumes by itself.
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  acquirePostgres,
  describeWith,
  eventually,
  openLink,
  sendToRedis,
  startOwnRedis,
} from '@baton/testkit'
import type { Link, ServiceProcess } from '@baton/testkit'
import { sendTasks } from './driver.ts'
import { countHandoffs, openWorld, startLoad } from './outage-world.ts'
import type { World } from './outage-world.ts'

/** Generous: other tests share the machine. `npm run bench -- recovery` measures. */
const RESUMES_WITHIN_MS = 60_000
const NOTHING_BY_AGE = { BATON_UNDELIVERED_MS: '600000' }
const COPY_ALL = `for _, key in ipairs(redis.call('keys', '*')) do redis.call('copy', key, key, 'DB', 1) end return 1`

describeWith('an outage of Redis', await startOwnRedis(), (redis) => {
  let link: Link
  let world: World
  let receiver: ServiceProcess
  let relays: readonly ServiceProcess[] = []

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    link = await openLink(redis.url)
    world = await openWorld({ purpose: 'redis outages', adminUrl, redisUrl: link.url })
    await world.system.start('auditor')
    await startRelays()
    receiver = await world.system.start('receiver')
  })
  async function startRelays(env: Readonly<Record<string, string>> = {}): Promise<void> {
    await Promise.all(relays.map((relay) => relay.stop()))
    relays = await Promise.all([1, 2].map(() => world.system.start('relay', env)))
  }
  afterAll(async () => {
    link.heal()
    await world.close()
    await link.close()
    await redis.stop()
  })

  const completed = () => countHandoffs(world, `h.state = 'COMPLETED'`)
  async function resumes(): Promise<void> {
    const before = await completed()
    await eventually(async () => (await completed()) > before + 5, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `work resumes\n${receiver.output().slice(-2_000)}`,
    })
  }
  const passes = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

  it('down for five seconds', async () => {
    const load = startLoad(world, 12)
    await resumes()
    link.cut()
    await passes(5_000)
    link.heal()
    await resumes()
    await load.stop()
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
  })

  it('emptied with hundreds of jobs waiting: all of them are published again at once, not by their age', async () => {
    await receiver.stop()
    await startRelays(NOTHING_BY_AGE)
    world.acknowledged.push(...(await sendTasks(world.driver, 300, 'second')))
    const published = (publishAttempt: number) =>
      countHandoffs(world, `h.state = 'DISPATCHED' and h.publish_attempt = ${publishAttempt}`)
    const waits = { deadlineMs: RESUMES_WITHIN_MS, describe: 'all of them wait in Redis' }
    await eventually(async () => (await published(1)) === 300, waits)
    await sendToRedis(redis.url, [['FLUSHALL']])
    await eventually(async () => (await published(2)) === 300, waits)
    receiver = await world.system.start('receiver')
    expect(await world.settle()).toEqual([])
  })

  it('set back to an older state: what came after it is published again, not by its age', async () => {
    await receiver.stop()
    await startRelays(NOTHING_BY_AGE)
    world.acknowledged.push(...(await sendTasks(world.driver, 50, 'second')))
    const dispatched = (publishAttempt: string) =>
      countHandoffs(world, `h.state = 'DISPATCHED' and h.publish_attempt ${publishAttempt}`)
    const waits = { deadlineMs: RESUMES_WITHIN_MS, describe: 'they wait in Redis' }
    await eventually(async () => (await dispatched('= 1')) === 50, waits)
    await sendToRedis(redis.url, [['EVAL', COPY_ALL, '0']])
    world.acknowledged.push(...(await sendTasks(world.driver, 150, 'second')))
    await eventually(async () => (await dispatched('= 1')) === 200, waits)
    await sendToRedis(redis.url, [['SWAPDB', '0', '1']])
    await eventually(async () => (await dispatched('> 1')) >= 150, waits)
    receiver = await world.system.start('receiver')
    expect(await world.settle()).toEqual([])
  })
})
