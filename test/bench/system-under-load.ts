// Runs one load against a fresh system of separate processes and reads the figures from both databases.
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually } from '@baton/testkit'
import type { ServiceName, ServiceProcess, System } from '@baton/testkit'
import { cpuSecondsOf } from './cpu.ts'
import { runScript } from './run-script.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'
import { startWay } from './ways.ts'
import type { Way, WayName } from './ways.ts'

export interface LoadPlan {
  readonly name: string
  /** How handoffs get in and out; by default by the SDK on both sides. */
  readonly way?: WayName
  readonly bytes: number
  readonly seconds: number
  readonly underWay?: number
  readonly ratePerSecond?: number
}

/** What the services are told besides, all of them or one. */
export interface Told {
  readonly env?: Readonly<Record<string, string>>
  readonly envOf?: Partial<Readonly<Record<ServiceName, Readonly<Record<string, string>>>>>
}

export interface Servers {
  readonly adminUrl: string
  /** Process ids of the servers, for their share of the CPU; 0 where they are not ours. */
  readonly postgresPid: number
  readonly redisPid: number
  readonly redisUrl: string | undefined
}

export interface LoadResult {
  readonly name: string
  readonly sent: number
  readonly failed: number
  /** Of those sent, how many a receiver accepted. */
  readonly accepted: number
  /** Handoffs per second whose effect was committed, over the steady part of the run. */
  readonly completedPerSecond: number
  readonly dispatchToAcceptMs: Spread
  /** Send committed to effect committed. */
  readonly endToEndMs: Spread
  /** Send committed to the outcome's audit record. */
  readonly endToAuditedMs: Spread
  /** CPU microseconds per handoff, by process. */
  readonly cpuUsPerHandoff: Readonly<Record<string, number>>
  /** How far the load itself ran late, in milliseconds (open loop). */
  readonly latenessMsMax: number
}

const DRAIN_MAX_MS = 120_000
/** Left out at the start, while plans, caches and code warm up. */
const WARM_UP_SECONDS = 3

/** Starts a system, loads it, waits until everything is settled and audited, and stops it. */
export async function runLoad(
  plan: LoadPlan,
  servers: Servers,
  told: Told = {},
): Promise<LoadResult> {
  const system = await createSystem({
    purpose: 'bench',
    adminUrl: servers.adminUrl,
    agents: './test/bench/sink-agents.ts',
    ...(servers.redisUrl === undefined ? {} : { redisUrl: servers.redisUrl }),
    env: { BATON_LOG_LEVEL: 'warn', BATON_CONCURRENCY: '128', ...told.env },
    ...(told.envOf === undefined ? {} : { envOf: told.envOf }),
  })
  const pool = createPool({ url: system.databaseUrl, applicationName: 'bench', connectionsMax: 2 })
  let way: Way | undefined
  try {
    const core = await startCore(system, servers)
    way = await startWay(plan.way ?? 'sdk', system)
    const processes = { ...core, ...way.processes }
    const before = cpuNow(processes, servers)
    const load = await runScript<{
      sent: number
      failed: number
      latenessMsMax: number
      cpuSeconds: number
    }>('test/bench/load-process.ts', {
      argument: plan,
      env: { ...system.env, ...way.senderEnv, BATON_BENCH_AUDIT_URL: system.auditUrls.reader },
    })
    await eventually(() => isSettled(pool), {
      deadlineMs: DRAIN_MAX_MS,
      describe: 'every handoff is settled and audited',
    })
    const after = { ...cpuNow(processes, servers), sender: load.cpuSeconds }
    return {
      name: plan.name,
      ...load,
      accepted: await countAccepted(pool),
      ...(await readFigures(pool, system)),
      cpuUsPerHandoff: perHandoff(before, after, load.sent),
    }
  } finally {
    await pool.end()
    await way?.stop()
    await system.stop()
  }
}

type Processes = Readonly<Record<string, ServiceProcess>>

async function startCore(system: System, servers: Servers): Promise<Processes> {
  const auditor = await system.start('auditor')
  if (servers.redisUrl === undefined) return { auditor }
  return { auditor, relay: await system.start('relay') }
}

type CpuSeconds = Readonly<Record<string, number>>

function cpuNow(processes: Processes, servers: Servers): CpuSeconds {
  const services = Object.entries(processes).map(
    ([name, { pid }]) => [name, cpuSecondsOf(pid)] as const,
  )
  return {
    ...Object.fromEntries(services),
    ...(servers.postgresPid === 0 ? {} : { postgres: cpuSecondsOf(servers.postgresPid) }),
    ...(servers.redisPid === 0 ? {} : { redis: cpuSecondsOf(servers.redisPid) }),
  }
}

function perHandoff(before: CpuSeconds, after: CpuSeconds, handoffs: number): CpuSeconds {
  const entries = Object.entries(after).map(([name, seconds]) => [
    name,
    Math.round(((seconds - (before[name] ?? 0)) * 1e6) / Math.max(1, handoffs)),
  ])
  return Object.fromEntries(entries) as CpuSeconds
}

async function isSettled(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query<{ open: boolean }>({
    text: `select exists (select from handoff where ended_at is null)
        or exists (select from audit_outbox) as open`,
  })
  return rows[0]?.open === false
}

async function countAccepted(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ accepted: number }>({
    text: 'select count(*)::int as accepted from handoff where accepted_at is not null',
  })
  return rows[0]?.accepted ?? 0
}

interface Times {
  readonly id: string
  readonly created: number
  readonly accepted: number
  readonly ended: number
}

async function readFigures(pool: Pool, system: System) {
  const { rows } = await pool.query<Times & object>({
    text: `select id, extract(epoch from created_at)::float8 * 1000 as created,
        extract(epoch from accepted_at)::float8 * 1000 as accepted,
        extract(epoch from ended_at)::float8 * 1000 as ended
      from handoff where state = 'COMPLETED' order by created_at`,
  })
  const from = (rows[0]?.created ?? 0) + WARM_UP_SECONDS * 1_000
  const until = rows.at(-1)?.created ?? 0
  const steady = rows.filter((row) => row.created >= from)
  const finished = rows.filter((row) => row.ended >= from && row.ended <= until).length
  const audited = await readOutcomeTimes(system)
  return {
    completedPerSecond: Math.round(finished / Math.max(0.001, (until - from) / 1_000)),
    dispatchToAcceptMs: spreadOf(steady.map((row) => row.accepted - row.created)),
    endToEndMs: spreadOf(steady.map((row) => row.ended - row.created)),
    endToAuditedMs: spreadOf(
      steady.flatMap((row) => {
        const at = audited.get(row.id)
        return at === undefined ? [] : [at - row.created]
      }),
    ),
  }
}

async function readOutcomeTimes(system: System): Promise<ReadonlyMap<string, number>> {
  const pool = createPool({
    url: system.adminUrls.audit,
    applicationName: 'bench',
    connectionsMax: 1,
  })
  try {
    const { rows } = await pool.query<{ id: string; at: number }>({
      text: `select handoff_id as id, extract(epoch from recorded_at)::float8 * 1000 as at
        from audit.record where event = 4`,
    })
    return new Map(rows.map((row) => [row.id, row.at]))
  } finally {
    await pool.end()
  }
}
