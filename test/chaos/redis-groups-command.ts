// `npm run chaos -- redis-sentinel` and `redis-cluster`: fail-overs under load, and a checker that says which promise broke.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startOwnPostgres, startRedisCluster, startWatchedRedis } from '@baton/testkit'
import { goesOn, openWorld, startLoad } from '../fault/outage-world.ts'
import type { World } from '../fault/outage-world.ts'
import { whole } from './arguments.ts'
import { readLines } from './effect-ledger.ts'
import { pause } from './fault.ts'
import { clusterFaults, watchedFaults } from './redis-group-faults.ts'
import type { GroupFault } from './redis-group-faults.ts'

const HELP = `npm run chaos -- redis-sentinel|redis-cluster [options]
  --rounds N         how often every fault is made (2)
  --rate N           tasks per second, of two or three handoffs each (15)
  --report FILE      write the report as JSON
  --json             the report as one JSON object, the last line of stdout
Exit codes:          0 everything held, 1 the campaign failed, 2 usage, 3 an invariant broke`

const OPTIONS = {
  rounds: { type: 'string', default: '2' },
  rate: { type: 'string', default: '15' },
  report: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export type GroupKind = 'redis-sentinel' | 'redis-cluster'

/** In a Cluster each of the three primaries has one of the queues that they go through. */
const AGENT_TYPES = ['first', 'forking'] as const
/** Of `{second}`, which every task goes through. */
const SLOT = 164
const STEADY_MS = 6_000
/** A fault is felt for at least so long: what was being taken when Redis died is taken by somebody else after 10 s. */
const FELT_MS = 15_000
const RESUMES_WITHIN_MS = 60_000
const BROKEN = 3

interface Surroundings {
  say(text: string): void
  /** Ends the servers when this command is told to end. */
  endOnSignal(servers: { stop(): Promise<void> }): void
}

interface Row {
  readonly fault: string
  readonly times: number
  /** Handoffs that were made while it was felt, those of them that did not complete, and those that were executed twice. */
  readonly handoffs: number
  readonly lost: number
  readonly repeated: number
  readonly publishedAgain: number
  /** The longest time without an ended handoff, of all and of the agent type that waited longest. */
  readonly pauseSeconds: number
  readonly pauseOfOneTypeSeconds: number
  readonly p99Ms: number
}

interface Report {
  readonly kind: GroupKind
  readonly acknowledged: number
  readonly failedSends: number
  readonly rows: readonly Row[]
  readonly broken: readonly string[]
}

/** Answers the exit code. Rejects where the campaign itself fails. */
export async function runRedisGroupCommand(
  kind: GroupKind,
  argv: readonly string[],
  { say, endOnSignal }: Surroundings,
): Promise<number> {
  const args = readGroupArguments(kind, argv)
  if ('exitCode' in args) {
    say(args.text)
    return args.exitCode
  }
  const [postgres, group] = await Promise.all([startOwnPostgres(), startGroup(kind)])
  const stop = async () => void (await Promise.all([postgres.stop(), group.stop()]))
  endOnSignal({ stop })
  try {
    const report = await runCampaign({
      kind,
      adminUrl: postgres.superuserUrl,
      ...group,
      ...args,
      say,
    })
    say(`\n${tableOf(report)}`)
    if (args.reportFile !== undefined)
      writeFileSync(args.reportFile, `${JSON.stringify(report, null, 2)}\n`)
    if (args.json) process.stdout.write(`${JSON.stringify(report)}\n`)
    return report.broken.length === 0 && report.rows.every(({ lost }) => lost === 0) ? 0 : BROKEN
  } finally {
    await stop()
  }
}

interface GroupArguments {
  readonly rounds: number
  readonly ratePerSecond: number
  readonly reportFile: string | undefined
  readonly json: boolean
}

function readGroupArguments(
  kind: GroupKind,
  argv: readonly string[],
): GroupArguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...argv], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    return {
      rounds: whole('rounds', values.rounds, 1_000),
      ratePerSecond: whole('rate', values.rate, 1_000),
      reportFile: values.report,
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos ${kind}: ${problem}\n\n${HELP}` }
  }
}

async function startGroup(kind: GroupKind) {
  if (kind === 'redis-sentinel') {
    const redis = await startWatchedRedis()
    if ('unavailable' in redis) throw new Error(redis.unavailable)
    return { redisUrl: redis.url, faults: watchedFaults(redis), stop: redis.stop }
  }
  const redis = await startRedisCluster()
  if ('unavailable' in redis) throw new Error(redis.unavailable)
  return { redisUrl: redis.url, faults: clusterFaults(redis, SLOT), stop: redis.stop }
}

interface Campaign {
  readonly kind: GroupKind
  readonly adminUrl: string
  readonly redisUrl: string
  readonly faults: readonly GroupFault[]
  readonly rounds: number
  readonly ratePerSecond: number
  say(text: string): void
}

interface Window {
  readonly fault: string
  readonly from: Date
  readonly to: Date
}

async function runCampaign(campaign: Campaign): Promise<Report> {
  const { kind, adminUrl, redisUrl, faults, rounds, ratePerSecond, say } = campaign
  const world = await openWorld({ purpose: kind, adminUrl, redisUrl })
  try {
    await world.system.start('auditor')
    const names = ['relay', 'relay', 'receiver', 'receiver'] as const
    await Promise.all(names.map((name) => world.system.start(name)))
    const load = startLoad(world, ratePerSecond, AGENT_TYPES)
    await goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })
    const windows: Window[] = []
    for (let round = 1; round <= rounds; round += 1) {
      for (const fault of faults) {
        const steadyFrom = new Date()
        await pause(STEADY_MS)
        windows.push({ fault: OUTSIDE, from: steadyFrom, to: new Date() })
        windows.push(await feel(world, fault))
        say(`round ${round}: ${fault.name}`)
      }
    }
    await load.stop()
    const broken = await world.settle()
    const rows = await Promise.all(
      [OUTSIDE, ...faults.map(({ name }) => name)].map((name) =>
        rowOf(
          world,
          name,
          windows.filter(({ fault }) => fault === name),
        ),
      ),
    )
    const { confirmed, failures } = load
    return { kind, acknowledged: confirmed, failedSends: failures.length, rows, broken }
  } finally {
    await world.close()
  }
}

const OUTSIDE = 'none'

async function feel(world: World, fault: GroupFault): Promise<Window> {
  const from = new Date()
  await Promise.all([fault.make(), pause(FELT_MS)])
  await goesOn(world, { deadlineMs: RESUMES_WITHIN_MS })
  return { fault: fault.name, from, to: new Date() }
}

const MADE = `
select h.to_agent as agent, h.id, h.state, h.publish_attempt as attempt,
  extract(epoch from h.ended_at - h.created_at)::float8 * 1000 as ms
from handoff h where h.created_at between $1 and $2`

const PAUSES = `
select coalesce(max(of_all), 0) as "all", coalesce(max(of_type), 0) as "type" from (
  select extract(epoch from ended_at - lag(ended_at) over (order by ended_at))::float8 as of_all,
    extract(epoch from ended_at - lag(ended_at) over (partition by to_agent order by ended_at))::float8 as of_type
  from handoff where ended_at between $1 and $2) pauses`

interface Made {
  readonly id: string
  readonly state: string
  readonly attempt: number
  readonly ms: number | null
}

async function rowOf(world: World, fault: string, windows: readonly Window[]): Promise<Row> {
  const executions = Map.groupBy(
    readLines<{ handoffId: string }>(world.ledger),
    (line) => line.handoffId,
  )
  const made: Made[] = []
  let pauseSeconds = 0
  let pauseOfOneTypeSeconds = 0
  for (const { from, to } of windows) {
    const values = [from, to]
    made.push(...(await world.pool.query<Made>({ text: MADE, values })).rows)
    const [longest] = (
      await world.pool.query<{ all: number; type: number }>({ text: PAUSES, values })
    ).rows
    pauseSeconds = Math.max(pauseSeconds, longest?.all ?? 0)
    pauseOfOneTypeSeconds = Math.max(pauseOfOneTypeSeconds, longest?.type ?? 0)
  }
  return {
    fault,
    times: windows.length,
    handoffs: made.length,
    lost: made.filter(({ state }) => state !== 'COMPLETED').length,
    repeated: made.filter(({ id }) => (executions.get(id)?.length ?? 0) > 1).length,
    publishedAgain: made.filter(({ attempt }) => attempt > 1).length,
    pauseSeconds,
    pauseOfOneTypeSeconds,
    p99Ms: percentile99(made.map(({ ms }) => ms ?? Infinity)),
  }
}

function percentile99(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other)
  return Math.round(sorted[Math.max(0, Math.ceil(sorted.length * 0.99) - 1)] ?? 0)
}

function tableOf({ kind, acknowledged, failedSends, rows, broken }: Report): string {
  const lines = rows.map((row) =>
    [
      row.fault,
      row.times,
      row.handoffs,
      row.lost,
      row.repeated,
      row.publishedAgain,
      row.pauseSeconds.toFixed(1),
      row.pauseOfOneTypeSeconds.toFixed(1),
      row.p99Ms,
    ].join(' | '),
  )
  return [
    `${kind}: ${acknowledged} sends acknowledged, ${failedSends} refused`,
    '| fault | times | handoffs | lost | executed twice | published again | pause s | of one agent type s | p99 ms |',
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map((line) => `| ${line} |`),
    broken.length === 0 ? 'every invariant held' : `broken:\n${broken.join('\n')}`,
  ].join('\n')
}
