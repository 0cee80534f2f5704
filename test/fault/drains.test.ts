// Stopping and starting processes under load loses and repeats nothing; a stop cut short hands over at once.
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquirePostgres, acquireRedis, describeWith, eventually } from '@baton/testkit'
import type { ServiceName, ServiceProcess } from '@baton/testkit'
import { sendTasks } from './driver.ts'
import { countHandoffs, openWorld, startLoad } from './outage-world.ts'
import type { World } from './outage-world.ts'

const SETTLES_WITHIN_MS = 60_000

describeWith('draining', await acquireRedis(), (redis) => {
  let world: World

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    world = await openWorld({
      purpose: 'drains',
      adminUrl,
      redisUrl: redis.url,
      env: { BATON_TEST_WORK_MS: '30', BATON_CONCURRENCY: '8' },
    })
    await world.system.start('auditor')
  })
  afterAll(() => world.close())

  const executions = () =>
    readFileSync(world.ledger, 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { handoffId: string }).handoffId)
  const completed = () => countHandoffs(world, `h.state = 'COMPLETED'`)

  async function restart(name: ServiceName, old: ServiceProcess): Promise<ServiceProcess> {
    const before = await completed()
    expect(await old.stop()).toBe(0)
    const next = await world.system.start(name)
    await eventually(async () => (await completed()) > before + 10, {
      deadlineMs: SETTLES_WITHIN_MS,
      describe: 'work goes on',
    })
    return next
  }

  it('restarting relays and receivers one after the other loses nothing and executes nothing twice', async () => {
    const start = (name: ServiceName) => world.system.start(name)
    const relays = await Promise.all([start('relay'), start('relay')])
    const receivers = await Promise.all([start('receiver'), start('receiver')])
    const load = startLoad(world, 12)
    const fresh: ServiceProcess[] = []
    for (const old of relays) fresh.push(await restart('relay', old))
    for (const old of receivers) fresh.push(await restart('receiver', old))
    await load.stop()
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
    const executed = executions()
    expect(executed.length).toBeGreaterThan(50)
    expect(new Set(executed).size).toBe(executed.length)
    await Promise.all(fresh.map((service) => service.stop()))
  })

  it('a second signal aborts agents, gives their handoffs to others at once and ends the process', async () => {
    const relay = await world.system.start('relay')
    const slow = await world.system.start('receiver', { BATON_TEST_WORK_MS: '60000' })
    const sent = await sendTasks(world.driver, 6, 'second')
    world.acknowledged.push(...sent)
    const ids = sent.map((id) => `'${id}'`).join(',')
    const held = () => countHandoffs(world, `h.state = 'EXECUTING' and h.id in (${ids})`)
    await eventually(async () => (await held()) === 6, {
      deadlineMs: SETTLES_WITHIN_MS,
      describe: () => `all of them execute\n${slow.output()}`,
    })
    slow.signal('SIGTERM')
    const insistedAt = await insist(slow)
    expect((await slow.exited(20_000)).code).toBe(130)
    expect(performance.now() - insistedAt).toBeLessThan(20_000)
    expect(await held()).toBe(0)
    const again = `h.publish_attempt = 2 and h.id in (${ids})`
    expect(await countHandoffs(world, again)).toBe(6)
    const receiver = await world.system.start('receiver')
    expect(await world.settle()).toEqual([])
    await Promise.all([relay.stop(), receiver.stop()])
  })
})

/** Repeats the signal until it counts as a second one; a person's second Ctrl-C comes later too. */
async function insist(service: ServiceProcess): Promise<number> {
  await eventually(
    () => {
      service.signal('SIGTERM')
      return service.output().includes('service.aborting')
    },
    { deadlineMs: 30_000, describe: 'the second signal is heard' },
  )
  return performance.now()
}
