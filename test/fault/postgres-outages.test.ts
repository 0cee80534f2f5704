// Postgres crashing, restarting, read-only or full: every send is confirmed in the end, and counts once.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquireRedis, describeWith, startOwnPostgres } from '@baton/testkit'
import type { OwnPostgres, ServiceProcess } from '@baton/testkit'
import { goesOn, openWorld, startLoad } from './outage-world.ts'
import type { Load, World } from './outage-world.ts'

/** Generous: other tests share the machine. `npm run bench -- recovery` measures. */
const RESUMES_WITHIN_MS = 60_000
const OUTAGE_MS = 1_500

describeWith('an outage of Postgres', await acquireRedis(), (redis) => {
  let postgres: OwnPostgres
  let admin: Pool
  let world: World
  let load: Load
  let services: ServiceProcess[]

  beforeAll(async () => {
    postgres = await startOwnPostgres()
    admin = createPool({ url: postgres.superuserUrl, applicationName: 'test', connectionsMax: 2 })
    world = await openWorld({
      purpose: 'postgres outages',
      adminUrl: postgres.superuserUrl,
      redisUrl: redis.url,
    })
    services = [await world.system.start('auditor')]
    services.push(...(await Promise.all([start('relay'), start('relay'), start('receiver')])))
    load = startLoad(world, 12)
  })
  afterAll(async () => {
    await load.stop()
    await world.close()
    await admin.end()
    await postgres.stop()
  })

  const start = (name: 'relay' | 'receiver') => world.system.start(name)
  const database = () => new URL(world.system.adminUrls.store).pathname.slice(1)
  const ask = async <Row extends object>(text: string): Promise<Row[]> =>
    (await admin.query<Row & Record<string, unknown>>({ text })).rows
  const backends = `from pg_stat_activity where usename in ('baton_gateway', 'baton_delivery')`
  const endAll = () => ask(`select pg_terminate_backend(pid) ${backends}`)
  const limit = (most: number) =>
    ask(
      `alter role baton_gateway connection limit ${most}; alter role baton_delivery connection limit ${most}`,
    )
  const lasts = () => new Promise((resolve) => setTimeout(resolve, OUTAGE_MS))

  const resumes = () =>
    goesOn(world, {
      deadlineMs: RESUMES_WITHIN_MS,
      describe: () => services.map((service) => service.output().slice(-1_500)).join('\n'),
    })

  const outages: readonly (readonly [string, () => Promise<unknown>])[] = [
    [
      'a backend killed',
      async () => {
        const [victim] = await ask<{ pid: number }>(`select pid ${backends} limit 1`)
        process.kill(victim?.pid ?? 0, 'SIGKILL')
      },
    ],
    [
      'a storm of ended connections',
      async () => {
        for (let round = 0; round < 10; round += 1) await endAll()
      },
    ],
    [
      'a restart',
      async () => {
        await postgres.pause()
        await postgres.restart()
      },
    ],
    [
      'read-only for a while',
      async () => {
        await ask(`alter database ${database()} set default_transaction_read_only = on`)
        await endAll()
        await lasts()
        await ask(`alter database ${database()} reset default_transaction_read_only`)
      },
    ],
    [
      'out of connections for a while',
      async () => {
        await limit(1)
        await endAll()
        await lasts()
        await limit(-1)
      },
    ],
  ]

  it.each(outages)('%s: work resumes by itself', async (_name, outage) => {
    await resumes()
    await outage()
    await resumes()
    expect(load.failures.filter((code) => !code.startsWith('BATON_DATABASE_'))).toEqual([])
  })

  it('afterwards every confirmed handoff has happened once', async () => {
    await load.stop()
    expect(load.confirmed).toBeGreaterThan(0)
    expect(await world.settle()).toEqual([])
  })
})
