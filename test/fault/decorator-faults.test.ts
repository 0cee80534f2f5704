// Every call to Postgres, to the queue and to the auditor may fail or only seem to have failed: every promise still holds.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { createAuditClient } from '@baton/audit/client'
import { createLogger } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import { createSender, createWorker, parseSigningKeys } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { createEventShipper, createRelay, createSweeper } from '@baton/engine'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import {
  acquirePostgres,
  acquireRedis,
  createSystem,
  describeWith,
  eventually,
  seededRandom,
} from '@baton/testkit'
import type { System } from '@baton/testkit'
import { createRedisTransport } from '@baton/transport'
import { newTask } from './driver.ts'
import { createFaultPlan, faultyAudit, faultyPool, faultyTransport } from './fault-plan.ts'
import { drained, violations } from './history.ts'

const faults = vi.hoisted(() => ({ plan: undefined as unknown }))
const planNow = () => faults.plan as ReturnType<typeof createFaultPlan>

// The services' own pools and clients are decorated, wherever they open them; the checker's are not.
vi.mock(import('@baton/store'), async (original) => {
  const store = await original()
  return {
    ...store,
    createPool: (options) =>
      options.applicationName.startsWith('baton-')
        ? faultyPool(store.createPool(options), planNow())
        : store.createPool(options),
  }
})
vi.mock(import('@baton/audit/client'), async (original) => {
  const audit = await original()
  return {
    ...audit,
    createAuditClient: (options) => faultyAudit(audit.createAuditClient(options), planNow()),
  }
})

const SENDS_MAX = 200
const ROUNDS_MAX = 10
/** With a fault in every fifth call one step takes many seconds; what is still open then settles without any. */
const FAULTS_MAX_MS = 30_000
const random = seededRandom('decorator faults')
// BATON_TEST_CRASH_PASSES=all sends twice as much, as it kills at every pass of each crash point.
const TIMES = process.env['BATON_TEST_CRASH_PASSES'] === 'all' ? 2 : 1
const RUNS = [
  { rate: 0.02, tasks: 20 * TIMES },
  { rate: 0.08, tasks: 20 * TIMES },
  { rate: 0.2, tasks: 2 * TIMES },
].map((run) => ({ ...run, seed: random.integer(0, 2 ** 31) }))

interface Parts {
  readonly system: System
  readonly transport: ReturnType<typeof createRedisTransport>
  readonly agents: Parameters<typeof createWorker>[0]['agents']
}

/** A worker, a relay and a sweeper of this process, on decorated connections. */
function servicesOf({ system, transport, agents }: Parts): readonly Service[] {
  const logger = createLogger({ service: 'test', level: 'silent' })
  const metrics = createMetrics()
  const { databaseUrl } = system
  const audit = { url: system.auditorUrl, token: system.tokens.append }
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const client = createAuditClient(audit)
  const pool = createPool({ url: databaseUrl, applicationName: 'baton-relay', connectionsMax: 4 })
  const shipper = createEventShipper({ pool, client, metrics, logger })
  const bounds = { waitingMax: 1_000, undeliveredMs: 500 }
  const relay = { ...bounds, pool, databaseUrl, transport, metrics, logger }
  const backoff = { baseMs: 5, capMs: 20 }
  const common = { agents, databaseUrl, keyRing, audit, transport, backoff, metrics, logger }
  return [
    { name: 'connections', start: async () => undefined, stop: () => pool.end() },
    createRelay(relay),
    createSweeper({ ...relay, shipper }),
    createWorker({ ...common, leaseMs: 1_000, undeliveredMs: 500 }),
  ]
}

/** Sends the way an application does: again and again with the same id, until it is told that it is sent. */
async function sendTill(sender: Sender): Promise<string> {
  const task = newTask()
  for (let tried = 0; tried < SENDS_MAX; tried += 1) {
    const sent = await sender.send(task, 'first').catch(() => undefined)
    if (sent !== undefined) return sent.handoffId
  }
  throw new Error('a send never succeeded')
}

/** Waits until everything is settled; faults go on until then, or as long as they may. */
async function settledIn(system: System, pool: Pool): Promise<void> {
  const plan = planNow()
  const heals = setTimeout(() => (plan.active = false), FAULTS_MAX_MS)
  try {
    await hurried(pool, drained(system))
  } finally {
    clearTimeout(heals)
  }
}

/** Waits of seconds and more are over at once: the calendar is not under test here. */
async function hurried(pool: Pool, until: Promise<void>): Promise<void> {
  let over = false
  const done = until.finally(() => (over = true))
  done.catch(() => undefined)
  await eventually(
    async () => {
      await pool.query({ text: 'update retry set due = clock_timestamp()' })
      return over
    },
    { deadlineMs: 70_000, describe: 'everything is settled' },
  )
  await done
}

describeWith('with faults in every call', await acquireRedis(), (redis) => {
  it.each(RUNS)(
    'at a rate of $rate (seed $seed) all promises hold',
    async ({ rate, tasks, seed }) => {
      const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
      vi.stubEnv('BATON_TEST_LEDGER', ledger)
      vi.resetModules()
      const { agents } = await import('./ledger-agents.ts')
      const { adminUrl } = await acquirePostgres()
      const system = await createSystem({ purpose: 'decorators', adminUrl, agents: 'none' })
      await system.start('auditor')
      const plan = createFaultPlan(seed, rate)
      faults.plan = plan
      const logger = createLogger({ service: 'test', level: 'silent' })
      const prefix = system.env['BATON_QUEUE_PREFIX'] ?? ''
      const plain = createRedisTransport({ url: redis.url, prefix, logger })
      const transport = faultyTransport(plain, plan)
      const services = servicesOf({ system, transport, agents })
      const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
      const sender = createSender({ databaseUrl: system.databaseUrl, keyRing })
      const pool = createPool({ url: system.adminUrls.store, applicationName: 'test' })
      try {
        for (const service of services) await service.start()
        const sent: string[] = []
        const sendTasks = () => Promise.all(Array.from({ length: tasks }, () => sendTill(sender)))
        // At the lowest rate one round may meet no fault at all; the calls themselves are counted too.
        for (let round = 0; round < ROUNDS_MAX && plan.counts.size < 2; round += 1) {
          plan.active = true
          sent.push(...(await sendTasks()))
          await settledIn(system, pool)
        }
        plan.active = false
        expect(await violations(system, sent, ledger)).toEqual([])
        process.stderr.write(`faults: ${JSON.stringify(Object.fromEntries(plan.counts))}\n`)
        expect(plan.counts.size).toBeGreaterThan(1)
      } finally {
        plan.active = false
        for (const service of services.toReversed()) await service.stop()
        await Promise.all([sender.close(), transport.close(), pool.end()])
        await system.stop()
      }
    },
  )
})
