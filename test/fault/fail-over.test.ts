// Each database has a standby, and each fails over under load: nothing that was confirmed is lost, work goes on by itself, and a
// primary that comes back after it was replaced gets nothing. In `npm run test-long`.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acquireRedis, askPostgres, describeWith, startPostgresPair } from '@baton/testkit'
import type { PostgresPair, ServiceProcess } from '@baton/testkit'
import { goesOn, openWorld, startLoad } from './outage-world.ts'
import type { Load, World } from './outage-world.ts'

const RESUMES_WITHIN_MS = 60_000

describeWith('a primary that is gone', await acquireRedis(), (redis) => {
  let store: PostgresPair
  let audit: PostgresPair
  let world: World
  let load: Load
  let receiver: ServiceProcess

  beforeAll(async () => {
    ;[store, audit] = await Promise.all([startPostgresPair(), startPostgresPair()])
    world = await openWorld({
      purpose: 'fail over',
      adminUrl: store.superuserUrl,
      auditAdminUrl: audit.superuserUrl,
      redisUrl: redis.url,
    })
    await world.system.start('auditor')
    receiver = await world.system.start('receiver')
    await Promise.all([world.system.start('relay'), world.system.start('relay')])
    load = startLoad(world, 20)
  }, 120_000)
  afterAll(async () => {
    await load.stop()
    await world.close()
    await Promise.all([store.stop(), audit.stop()])
  }, 60_000)

  const resumes = () => goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })

  it('is replaced by its standby, of the tasks as of the log', async () => {
    await resumes()
    await store.primary.crash()
    await store.promote()
    await resumes()
    await audit.primary.crash()
    await audit.promote()
    await expect(resumes()).resolves.toBeUndefined()
  })

  it('gets nothing when it comes back and takes writes again', async () => {
    await store.primary.restart()
    const { superuserUrl } = store.primary
    await askPostgres(superuserUrl, `alter system set synchronous_standby_names = ''`)
    await askPostgres(superuserUrl, 'select pg_reload_conf()')
    const database = new URL(world.system.adminUrls.store).pathname
    const replaced = new URL(superuserUrl)
    replaced.pathname = database
    const seen = () => askPostgres(replaced.href, 'select count(*) as count from handoff')
    const before = await seen()
    // Whoever is connected is thrown out, so that all of them have to choose again; one that starts now has seen no fail-over.
    await askPostgres(
      store.standby.superuserUrl,
      `select pg_terminate_backend(pid) from pg_stat_activity where usename like 'baton_%'`,
    )
    await receiver.stop()
    await world.system.start('receiver')
    await resumes()
    expect(await seen()).toEqual(before)
  })

  it('lost nothing that was confirmed, and repeated nothing', async () => {
    await load.stop()
    expect(load.failures.filter((code) => !code.startsWith('BATON_DATABASE_'))).toEqual([])
    expect(load.confirmed).toBeGreaterThan(10)
    expect(await world.settle()).toEqual([])
  })
})
