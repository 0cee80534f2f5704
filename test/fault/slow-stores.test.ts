// An audit store that answers late, and a snapshot held in the operational database: slower, and nothing else.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool } from '@baton/store'
import { acquirePostgres, acquireRedis, describeWith, eventually, openLink } from '@baton/testkit'
import type { Link, ServiceProcess } from '@baton/testkit'
import { countHandoffs, openWorld, startLoad } from './outage-world.ts'
import type { World } from './outage-world.ts'

const RESUMES_WITHIN_MS = 60_000
/** Slower than the auditor's clients wait for an answer, which is 2 s. */
const TOO_SLOW_MS = 2_500

describeWith('under load', await acquireRedis(), (redis) => {
  let audit: Link
  let world: World
  let receiver: ServiceProcess

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    world = await openWorld({ purpose: 'slow stores', adminUrl, redisUrl: redis.url })
    audit = await openLink(world.system.auditorUrl)
    await world.system.start('auditor')
    const through = { BATON_AUDIT_URL: audit.url.replace(/\/$/, '') }
    const started = await Promise.all([
      world.system.start('receiver', through),
      world.system.start('relay', through),
    ])
    receiver = started[0]
  })
  afterAll(async () => {
    await world.close()
    await audit.close()
  })

  const completed = () => countHandoffs(world, `h.state = 'COMPLETED'`)
  const goesOn = async (more: number) => {
    const before = await completed()
    await eventually(async () => (await completed()) > before + more, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `work goes on\n${receiver.output().slice(-2_000)}`,
    })
  }

  it('an audit store that answers late delays executions; one that answers too late stops them', async () => {
    const load = startLoad(world, 20)
    await goesOn(5)
    audit.worsen({ latencyMs: 300, jitterMs: 200 })
    await goesOn(10)
    audit.worsen({ latencyMs: TOO_SLOW_MS })
    await eventually(() => receiver.output().includes('"audit.blocked"'), {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => `executions pause\n${receiver.output().slice(-2_000)}`,
    })
    audit.heal()
    await goesOn(10)
    await load.stop()
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
  })

  it('a held snapshot keeps no handoff from being sent, claimed and completed', async () => {
    const pool = createPool({
      url: world.system.adminUrls.store,
      applicationName: 'test',
      connectionsMax: 1,
    })
    const holder = await pool.connect()
    // It is held until the work is done, however long that takes here.
    await holder.query('set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0')
    await holder.query('begin isolation level repeatable read')
    const seen = async () => (await holder.query('select count(*) from handoff')).rows
    const before = await seen()
    const load = startLoad(world, 40)
    await goesOn(60)
    await load.stop()
    expect(await seen()).toEqual(before)
    expect(load.failures).toEqual([])
    expect(await world.settle()).toEqual([])
    await holder.query('rollback')
    holder.release()
    await pool.end()
  })
})
