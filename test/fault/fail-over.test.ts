// Postgres fails over to its synchronous standby under load: nothing that was confirmed is lost, and work goes on by itself.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool } from '@baton/store'
import {
  acquireRedis,
  describeWith,
  eventually,
  openLink,
  startOwnPostgres,
  startStandby,
} from '@baton/testkit'
import type { Link, OwnPostgres, Standby } from '@baton/testkit'
import { goesOn, openWorld, startLoad } from './outage-world.ts'
import type { World } from './outage-world.ts'

const RESUMES_WITHIN_MS = 60_000

async function ask(url: string, text: string): Promise<readonly Record<string, unknown>[]> {
  const pool = createPool({ url, applicationName: 'test', connectionsMax: 1 })
  try {
    return (await pool.query({ text })).rows
  } finally {
    await pool.end()
  }
}

describeWith('a primary that is gone', await acquireRedis(), (redis) => {
  let primary: OwnPostgres
  let standby: Standby
  let link: Link
  let world: World

  beforeAll(async () => {
    primary = await startOwnPostgres()
    standby = await startStandby(primary)
    await ask(primary.superuserUrl, `alter system set synchronous_standby_names = '*'`)
    await ask(primary.superuserUrl, 'select pg_reload_conf()')
    const following = `select from pg_stat_replication where sync_state = 'sync'`
    await eventually(async () => (await ask(primary.superuserUrl, following)).length === 1, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: 'the primary waits for its standby',
    })
    link = await openLink(primary.superuserUrl)
    const options = { purpose: 'fail over', adminUrl: link.url, redisUrl: redis.url }
    world = await openWorld(options)
    await world.system.start('auditor')
    await Promise.all([world.system.start('relay'), world.system.start('receiver')])
  }, 120_000)
  afterAll(async () => {
    await world.close()
    await link.close()
    await standby.stop()
    await primary.stop()
  }, 60_000)

  const resumes = () => goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })

  it('is replaced by its standby, which has everything that was confirmed', async () => {
    const load = startLoad(world, 20)
    await resumes()
    await primary.crash()
    await ask(standby.superuserUrl, 'select pg_promote()')
    link.moveTo(standby.superuserUrl)
    await resumes()
    await load.stop()
    expect(load.failures.filter((code) => !code.startsWith('BATON_DATABASE_'))).toEqual([])
    expect(load.confirmed).toBeGreaterThan(10)
    expect(await world.settle()).toEqual([])
  })
})
