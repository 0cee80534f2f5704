// The recovery times that Baton promises, each caused and measured with real processes.
import { sendToRedis } from '@baton/testkit'
import { readFileSync } from 'node:fs'
import { createRelay } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { createRedisTransport } from '@baton/transport'
import { newTask, sendTasks } from '../fault/driver.ts'
import { startLoad } from '../fault/outage-world.ts'
import { inRecoveryWorld, openTimedPool } from './recovery-world.ts'
import type { RecoveryWorld } from './recovery-world.ts'
import { runScript } from './run-script.ts'

export interface RecoveryOptions {
  /** How often each fault is caused. */
  readonly rounds: number
  /** How long the snapshot is held, in minutes. */
  readonly snapshotMinutes: number
  /** Handoffs waiting in the memory measurement. */
  readonly waiting: number
}

export interface RecoveryCase {
  readonly name: string
  readonly unit: 'ms' | 'MB'
  /** The p99 (ms) or the maximum (MB) that is promised. */
  readonly target: number
  measure(options: RecoveryOptions): Promise<number[]>
}

const lasts = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const COMPLETED = `select count(*) as count from handoff where state = 'COMPLETED'`
const DISPATCHED = `select count(*) as count from handoff where state = 'DISPATCHED'`

async function repeat(rounds: number, round: () => Promise<readonly number[]>): Promise<number[]> {
  const samples: number[] = []
  for (let done = 0; done < rounds; done += 1) samples.push(...(await round()))
  return samples
}

/** A steady load that completes; the fault comes while it runs. */
async function underLoad(
  world: RecoveryWorld,
  fault: (before: number) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const [{ count } = { count: 0 }] = await world.rows<{ count: number }>(COMPLETED)
  const load = startLoad(world, 40)
  try {
    await world.reaches('work flows', COMPLETED, count + 40)
    return await fault(count)
  } finally {
    await load.stop()
  }
}

/** The longest time within [from, to] in which nothing completed, in milliseconds. */
async function longestGap(world: RecoveryWorld, from: number, to: number): Promise<number> {
  const rows = await world.rows<{ at: number }>(
    `select extract(epoch from ended_at)::float8 * 1000 as at from handoff
     where ended_at between to_timestamp($1::float8 / 1000) and to_timestamp($2::float8 / 1000) order by 1`,
    [from, to],
  )
  const times = [from, ...rows.map((row) => row.at), to]
  return Math.max(...times.slice(1).map((at, index) => at - (times[index] ?? at)))
}

const workerKill = ({ rounds }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.start('relay')
    return repeat(rounds, async () => {
      const victim = await world.start('receiver', { BATON_TEST_WORK_MS: '600000' })
      const ids = await sendTasks(world.driver, 8, 'second')
      const executing = `select count(*) as count from handoff where state = 'EXECUTING'`
      await world.reaches('all of them execute', executing, ids.length)
      const survivor = await world.start('receiver')
      const killedAt = Date.now()
      await victim.kill()
      await world.reaches('executed again', completedOf(ids), ids.length)
      await survivor.stop()
      return executedAgain(world, ids).map((at) => at - killedAt)
    })
  })

const completedOf = (ids: readonly string[]): string =>
  `${COMPLETED} and id in (${ids.map((id) => `'${id}'`).join(',')})`

function executedAgain({ ledger }: RecoveryWorld, ids: readonly string[]): number[] {
  const lines = readFileSync(ledger, 'utf8').trim().split('\n')
  return lines
    .map((line) => JSON.parse(line) as { handoffId: string; fencingToken: number; at: number })
    .filter((line) => line.fencingToken > 1 && ids.includes(line.handoffId))
    .map((line) => line.at)
}

const relayKill = ({ rounds }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.start('relay')
    await world.start('receiver')
    return repeat(rounds, async () => {
      const victim = await world.start('relay')
      return underLoad(world, async () => {
        const killedAt = Date.now()
        await victim.kill()
        await lasts(3_000)
        const [row] = await world.rows<{ oldest: number }>(
          `select max(extract(epoch from dispatched_at - created_at))::float8 * 1000 as oldest
           from handoff where created_at > to_timestamp($1::float8 / 1000) - interval '1 second'
             and dispatched_at is not null`,
          [killedAt],
        )
        return [row?.oldest ?? Number.NaN]
      })
    })
  })

const FLUSHED = 5_000

const flushall = ({ rounds }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.start('relay')
    return repeat(rounds, async () => {
      await sendTasks(world.driver, FLUSHED, 'second')
      await world.reaches('all of them wait in Redis', DISPATCHED, FLUSHED)
      const flushedAt = performance.now()
      await sendToRedis(world.redisUrl, [['FLUSHALL']])
      await world.reaches(
        'all of them are published again',
        `${DISPATCHED} and publish_attempt = 2`,
        FLUSHED,
      )
      const tookMs = performance.now() - flushedAt
      await world.forgetAll()
      return [tookMs]
    })
  })

const HALF_OPEN_MS = 12_000

const halfOpen = ({ rounds }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.start('relay')
    await world.start('receiver')
    return repeat(rounds, () =>
      underLoad(world, async () => {
        world.link.fallSilent()
        await lasts(HALF_OPEN_MS)
        world.link.heal()
        const healedAt = Date.now()
        const after = `${COMPLETED} and ended_at > to_timestamp(${healedAt} / 1000.0)`
        await world.reaches('work resumes', after, 1)
        return [Date.now() - healedAt]
      }),
    )
  })

/** Longer than any recovery of Postgres that is worth a figure. */
const LOOK_MS = 15_000

const backendKill = ({ rounds }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.start('relay')
    await world.start('receiver')
    return repeat(rounds, () =>
      underLoad(world, async () => {
        const [victim] = await world.rows<{ pid: number }>(
          `select pid from pg_stat_activity where usename in ('baton_gateway', 'baton_delivery') limit 1`,
        )
        const killedAt = Date.now()
        process.kill(victim?.pid ?? 0, 'SIGKILL')
        await lasts(LOOK_MS)
        return [await longestGap(world, killedAt, killedAt + LOOK_MS)]
      }),
    )
  })

const SENDS_PER_SECOND = 800

const heldSnapshot = ({ snapshotMinutes }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    const logger = createLogger({ service: 'bench', level: 'silent' })
    const transport = createRedisTransport({ url: world.redisUrl, logger, prefix: 'claims' })
    // What arrives is not executed: the claim of the outbox is what is measured.
    await transport.consume({ queue: 'sink', concurrency: 64, handle: async () => undefined })
    const tookMs: number[] = []
    const { databaseUrl } = world.system
    const pool = openTimedPool(databaseUrl, { statement: 'claim_outbox', tookMs })
    const metrics = createMetrics()
    const parts = { pool, databaseUrl, transport, waitingMax: 5_000, metrics, logger }
    const relay = createRelay(parts)
    const snapshot = await world.pool.connect()
    await snapshot.query('set idle_in_transaction_session_timeout = 0; set transaction_timeout = 0')
    await snapshot.query('begin isolation level repeatable read')
    await snapshot.query('select count(*) from outbox')
    await relay.start()
    await runScript('test/bench/load-process.ts', {
      argument: { bytes: 1_200, seconds: snapshotMinutes * 60, ratePerSecond: SENDS_PER_SECOND },
      env: world.system.env,
    })
    await relay.stop()
    await snapshot.query('rollback')
    snapshot.release(true)
    await transport.close()
    await pool.end()
    return tookMs
  })

const CLONES = `
with one as (select * from handoff limit 1), clones as (
  select gen_random_uuid() as id, gen_random_uuid() as task_id from generate_series(1, $1::int)
), tasks as (
  insert into task (id, status, budget_micro_usd)
  select task_id, 'PENDING_HANDOFF', 1000000 from clones
), handoffs as (
  insert into handoff (id, task_id, task_seq, from_agent, from_version, from_execution, to_agent, priority,
    state, attempts_max, checkpoint_id, body_sha256, request_sha256, body_bytes, key_id, signature,
    traceparent, spent_micro_usd, remaining_micro_usd)
  select c.id, c.task_id, 1, from_agent, from_version, from_execution, to_agent, priority, 'QUEUED',
    attempts_max, checkpoint_id, body_sha256, request_sha256, 32768, key_id, signature, traceparent,
    spent_micro_usd, remaining_micro_usd from clones c cross join one
  returning id, task_id, to_agent, priority, body_sha256, body_bytes, traceparent
)
insert into outbox (handoff_id, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent)
select id, task_id, 1, to_agent, priority, body_sha256, body_bytes, traceparent from handoffs`

const CLONES_AT_ONCE = 2_000

/** The waiting handoffs are copies of a sent one, without bodies, which never leave Postgres. */
const redisMemory = ({ waiting }: RecoveryOptions) =>
  inRecoveryWorld(async (world) => {
    await world.driver.send(newTask(), 'nobody')
    for (let made = 0; made < waiting; made += CLONES_AT_ONCE) {
      await world.rows(CLONES, [Math.min(CLONES_AT_ONCE, waiting - made)])
    }
    await world.start('relay')
    await world.reaches('the queue is full', DISPATCHED, Math.min(waiting, 5_000))
    const samples: number[] = []
    for (let second = 0; second < 5; second += 1) {
      await lasts(1_000)
      const reply = await sendToRedis(world.redisUrl, [['INFO', 'memory']])
      samples.push(Number(/used_memory:(\d+)/.exec(reply)?.[1]) / 1_000_000)
    }
    return samples
  })

export const RECOVERY_CASES: readonly RecoveryCase[] = [
  { name: 'worker-kill', unit: 'ms', target: 12_000, measure: workerKill },
  { name: 'relay-kill', unit: 'ms', target: 1_000, measure: relayKill },
  { name: 'flushall', unit: 'ms', target: 3_000, measure: flushall },
  { name: 'half-open', unit: 'ms', target: 3_000, measure: halfOpen },
  { name: 'backend-kill', unit: 'ms', target: 3_000, measure: backendKill },
  { name: 'held-snapshot', unit: 'ms', target: 20, measure: heldSnapshot },
  { name: 'redis-memory', unit: 'MB', target: 20, measure: redisMemory },
]
