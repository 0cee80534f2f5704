// kill -9 at every named point between two lines that matter; afterwards every promise still holds.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Sender } from '@baton/sdk'
import {
  acquirePostgres,
  acquireRedis,
  createSystem,
  describeWith,
  type ServiceName,
  type ServiceProcess,
  type System,
} from '@baton/testkit'
import { createDriver, sendTasks } from './driver.ts'
import { drained, violations } from './history.ts'

const POINTS: readonly {
  readonly service: ServiceName
  readonly point: string
  readonly target?: string
}[] = [
  { service: 'relay', point: 'relay.after_claim' },
  { service: 'relay', point: 'relay.after_publish' },
  { service: 'relay', point: 'relay.after_update' },
  { service: 'relay', point: 'relay.after_commit' },
  { service: 'relay', point: 'sweeper.after_select' },
  { service: 'relay', point: 'sweeper.after_commit' },
  { service: 'receiver', point: 'receiver.after_fetch:3' },
  { service: 'receiver', point: 'receiver.after_claim:3' },
  { service: 'receiver', point: 'receiver.after_validate:3' },
  { service: 'receiver', point: 'receiver.after_audit:3' },
  { service: 'receiver', point: 'receiver.after_start:3' },
  { service: 'receiver', point: 'receiver.mid_execute:3' },
  { service: 'receiver', point: 'receiver.before_effect_commit:3' },
  { service: 'receiver', point: 'receiver.after_effect_commit:3' },
  { service: 'receiver', point: 'rollback.before_commit', target: 'broken' },
  { service: 'receiver', point: 'rollback.after_commit', target: 'broken' },
  { service: 'auditor', point: 'auditor.before_append:3' },
  { service: 'auditor', point: 'auditor.after_append:3' },
]
const TASKS = 12

describeWith('a service killed at a crash point', await acquireRedis(), (redis) => {
  const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
  const acknowledged: string[] = []
  const running = new Map<ServiceName, ServiceProcess>()
  let system: System
  let driver: Sender

  beforeAll(async () => {
    const { adminUrl } = await acquirePostgres()
    system = await createSystem({
      purpose: 'crash points',
      adminUrl,
      redisUrl: redis.url,
      agents: './test/fault/ledger-agents.ts',
      env: {
        BATON_TEST_LEDGER: ledger,
        BATON_LEASE_MS: '1500',
        BATON_QUIET_MS: '1000',
        BATON_RETRY_BASE_MS: '50',
        BATON_RETRY_CAP_MS: '200',
      },
    })
    for (const name of ['auditor', 'relay', 'receiver'] as const) {
      running.set(name, await system.start(name))
    }
    driver = createDriver(system)
  })

  afterAll(async () => {
    await driver.close()
    await system.stop()
  })

  it.each(POINTS)('$point loses and repeats nothing', async ({ service, point, target }) => {
    await running.get(service)?.stop()
    const doomed = await system.start(service, { BATON_CRASH_AT: point })
    acknowledged.push(...(await sendTasks(driver, TASKS, target)))
    expect((await doomed.exited(20_000)).signal).toBe('SIGKILL')
    running.set(service, await system.start(service))
    await drained(system)
    expect(await violations(system, acknowledged, ledger)).toEqual([])
  })
})
