// No process works on a Redis or Postgres that may lose what it acknowledged, unless told to by name.
import {
  createSystem,
  describeWith,
  eventually,
  sendToRedis,
  startOwnPostgres,
  startOwnRedis,
} from '@baton/testkit'
import type { OwnPostgres, ServiceName, System } from '@baton/testkit'
import { safeServers } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import { createPool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'

const AGENTS = './test/fault/ledger-agents.ts'
const ALLOWED = { BATON_ALLOW_UNSAFE_REDIS: '1', BATON_ALLOW_UNSAFE_POSTGRES: '1' }

describeWith('an unsafe server', await startOwnRedis(), (redis) => {
  let postgres: OwnPostgres
  let system: System

  beforeAll(async () => {
    postgres = await startOwnPostgres()
    const options = { purpose: 'unsafe', adminUrl: postgres.superuserUrl, redisUrl: redis.url }
    system = await createSystem({ ...options, agents: AGENTS })
  })
  afterAll(async () => {
    await system.stop()
    await postgres.stop()
    await redis.stop()
  })

  async function refusal(name: ServiceName): Promise<string> {
    try {
      await system.start(name)
      return 'started'
    } catch (error) {
      return (error as Error).message
    }
  }

  async function setPostgres(fullPageWrites: 'on' | 'off'): Promise<void> {
    const admin = createPool({ url: postgres.superuserUrl, applicationName: 'test' })
    await admin.query({ text: `alter system set full_page_writes = ${fullPageWrites}` })
    await admin.query({ text: 'select pg_reload_conf()' })
    await admin.end()
  }

  it('Redis: every reason is named, the setting and the override', async () => {
    await sendToRedis(redis.url, [
      ['CONFIG', 'SET', 'appendonly', 'no'],
      ['CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru'],
    ])
    const words = await refusal('receiver')
    expect(words).toContain('BATON_REDIS_UNSAFE')
    expect(words).toContain('append-only file is off')
    expect(words).toContain('allkeys-lru')
    expect(words).toContain('BATON_ALLOW_UNSAFE_REDIS=1')
    const relay = await system.start('relay', ALLOWED)
    expect(relay.output()).toContain('server.unsafe')
    await relay.stop()
    await sendToRedis(redis.url, [
      ['CONFIG', 'SET', 'appendonly', 'yes'],
      ['CONFIG', 'SET', 'maxmemory-policy', 'noeviction'],
    ])
  })

  it('Redis: one that forbids INFO is used, and it is said that nothing was seen', async () => {
    await sendToRedis(redis.url, [
      ['ACL', 'SETUSER', 'shy', 'on', '>secret', '~*', '&*', '+@all', '-info', '-config'],
    ])
    const url = new URL(redis.url)
    url.username = 'shy'
    url.password = 'secret'
    const relay = await system.start('relay', { BATON_REDIS_URL: url.href })
    expect(relay.output()).toContain('BATON_REDIS_UNREADABLE')
    await relay.stop()
  })

  it('Postgres: the setting and the override are named', async () => {
    await setPostgres('off')
    for (const name of ['relay', 'auditor'] as const) {
      const words = await refusal(name)
      expect(words).toMatch(/BATON_(?:POSTGRES_UNSAFE|AUDIT_NOT_DURABLE)/)
      expect(words).toContain('full_page_writes')
      expect(words).toContain('BATON_ALLOW_UNSAFE_POSTGRES=1')
    }
    await setPostgres('on')
  })

  it('Postgres: one that becomes unsafe later is shown, and ends nothing', async () => {
    const metrics = createMetrics()
    const fail = vi.fn()
    const servers = safeServers({
      databaseUrl: system.databaseUrl,
      settings: { BATON_ALLOW_UNSAFE_POSTGRES: false },
      life: { draining: false, fail, end: vi.fn() },
      metrics,
      logger: createLogger({ service: 'test', level: 'fatal' }),
      lookAgainMs: 20,
    })
    const shown = async () =>
      /^baton_server_unsafe\{server="postgres"\} (\d)$/m.exec((await metrics.expose()).body)?.[1]
    const becomes = (wanted: string) =>
      eventually(async () => (await shown()) === wanted, {
        deadlineMs: 10_000,
        describe: () => `unsafe settings of Postgres become ${wanted}`,
      })
    await servers.start()
    expect(await shown()).toBe('0')
    await setPostgres('off')
    await becomes('1')
    await setPostgres('on')
    await becomes('0')
    await servers.stop()
    expect(fail).not.toHaveBeenCalled()
  })
})
