// `npm run bench`: what one handoff costs, end to end, beside plain BullMQ and the database's own floor.
import { parseArgs } from 'node:util'
import { measureFloor } from './floor.ts'
import { measurePlainQueue } from './plain-queue.ts'
import { withOwnServers } from './own-servers.ts'
import { MACHINE, recordMeasurements } from './results.ts'
import type { Measurement } from './results.ts'
import { runLoad } from './system-under-load.ts'
import type { LoadPlan, LoadResult, Servers } from './system-under-load.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- [options]     npm run bench -- recovery|verify|audit|trace|graph|telemetry|erasure|acceptance|tenants|mutants|scanner|flood [--help]
  --seconds N      length of the closed loops (60)
  --under-way N    handoffs not yet settled in the closed loops (512)
  --rate N         sends per second of the open loop (100)
  --only NAME      closed-4k, open-4k, closed-32k; several times for several. http-4k sends over HTTP, pull-4k and push-4k
                   execute outside; each is measured beside closed-4k, the SDK on both sides
  --no-redis       relay in the receiver's process instead of BullMQ on Redis
  --json           one JSON object as the last line of stdout`

const OPTIONS = {
  seconds: { type: 'string', default: '60' },
  'under-way': { type: 'string', default: '512' },
  rate: { type: 'string', default: '100' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const PLAIN_JOBS = 10_000
const FLOOR_SECONDS = 5
const FLOOR_CLIENTS = 8

interface Arguments {
  readonly seconds: number
  readonly underWay: number
  readonly rate: number
  readonly only: readonly string[]
  readonly redis: boolean
  readonly json: boolean
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

function usage(problem: string): never {
  say(`bench: ${problem}\n\n${HELP}`)
  process.exit(2)
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({ options: OPTIONS })
    if (values.help) {
      say(HELP)
      process.exit(0)
    }
    return {
      seconds: positive('seconds', values.seconds),
      underWay: positive('under-way', values['under-way']),
      rate: positive('rate', values.rate),
      only: values.only,
      redis: !values['no-redis'],
      json: values.json,
    }
  } catch (error) {
    return usage(error instanceof Error ? error.message : 'wrong arguments')
  }
}

function positive(name: string, raw: string): number {
  const value = Number(raw)
  return Number.isInteger(value) && value > 0 && value <= 100_000
    ? value
    : usage(`--${name} ${raw}: expected a whole number from 1 to 100000`)
}

function plansFor({ seconds, underWay, rate, only }: Arguments): readonly LoadPlan[] {
  const plans: readonly LoadPlan[] = [
    { name: 'closed-4k', bytes: 4_096, seconds, underWay },
    { name: 'open-4k', bytes: 4_096, seconds: Math.min(seconds, 30), ratePerSecond: rate },
    { name: 'closed-32k', bytes: 32_768, seconds: Math.min(seconds, 30), underWay },
    ...(['http', 'pull', 'push'] as const).map((way) => ({
      name: `${way}-4k`,
      way,
      bytes: 4_096,
      seconds: Math.min(seconds, 30),
      underWay,
    })),
  ]
  const unknown = only.find((name) => plans.every((plan) => plan.name !== name))
  if (unknown !== undefined)
    usage(`--only ${unknown}: expected one of ${plans.map((p) => p.name).join(', ')}`)
  if (only.length === 0) return plans
  const wanted = plans.filter(({ name }) => only.includes(name))
  const compares = wanted.some(({ way }) => way !== undefined)
  return plans.filter((plan) => wanted.includes(plan) || (compares && plan.name === BASE))
}

/** What the other ways in and out are compared with. */
const BASE = 'closed-4k'

interface Load extends LoadResult {
  readonly ratioToPlainQueue: number | null
  /** Of a way that is not the SDK's. */
  readonly ratioToSdk: number | null
}

interface Report {
  readonly machine: string
  readonly queue: 'redis' | 'in-process'
  readonly floorCommitsPerSecond: number
  readonly plainQueueJobsPerSecond: Readonly<Record<string, number>>
  readonly loads: readonly Load[]
}

async function measure(args: Arguments, servers: Servers): Promise<Report> {
  say('floor: one-row inserts, a commit each')
  const floorCommitsPerSecond = await measureFloor({
    adminUrl: servers.adminUrl,
    bytes: 4_096,
    clients: FLOOR_CLIENTS,
    seconds: FLOOR_SECONDS,
  })
  const plain: Record<string, number> = {}
  const loads: Load[] = []
  for (const plan of plansFor(args)) {
    const { redisUrl } = servers
    if (redisUrl !== undefined && plain[plan.bytes] === undefined) {
      say(`plain BullMQ: ${PLAIN_JOBS} jobs of ${plan.bytes} bytes`)
      plain[plan.bytes] = await measurePlainQueue({ redisUrl, bytes: plan.bytes, jobs: PLAIN_JOBS })
    }
    say(`${plan.name}: ${plan.seconds} s`)
    const result = await runLoad(plan, servers)
    const sdk = loads.find(({ name }) => name === BASE)?.completedPerSecond
    const isClosed = plan.ratePerSecond === undefined
    loads.push({
      ...result,
      ratioToPlainQueue: isClosed ? ratio(result, plain[plan.bytes]) : null,
      ratioToSdk: plan.way === undefined ? null : ratio(result, sdk),
    })
  }
  return {
    machine: MACHINE,
    queue: args.redis ? 'redis' : 'in-process',
    floorCommitsPerSecond,
    plainQueueJobsPerSecond: plain,
    loads,
  }
}

/** Null where there is nothing to compare with. */
const ratio = ({ completedPerSecond }: LoadResult, base = 0): number | null =>
  base === 0 ? null : Math.round((completedPerSecond * 1_000) / base) / 1_000

const ratiosOf = ({ ratioToPlainQueue, ratioToSdk }: Load): string =>
  [
    ratioToSdk === null ? '' : `, ${ratioToSdk} of the SDK’s`,
    ratioToPlainQueue === null ? '' : `, ${ratioToPlainQueue} of plain BullMQ`,
  ].join('')

function printReport(report: Report): void {
  say(`\n${report.machine}; queue: ${report.queue}; fsync on`)
  say(`floor: ${report.floorCommitsPerSecond} commits/s (${FLOOR_CLIENTS} clients)`)
  for (const [bytes, rate] of Object.entries(report.plainQueueJobsPerSecond)) {
    say(`plain BullMQ, ${bytes} bytes: ${rate} jobs/s`)
  }
  for (const load of report.loads) {
    say(
      `\n${load.name}: ${load.completedPerSecond} handoffs/s${ratiosOf(load)}  (${load.sent} sent, ${load.failed} refused)`,
    )
    for (const [name, spread] of [
      ['dispatch to accept', load.dispatchToAcceptMs],
      ['to effect committed', load.endToEndMs],
      ['to outcome audited', load.endToAuditedMs],
    ] as const) {
      say(
        `  ${name.padEnd(20)} p50 ${spread.p50}  p95 ${spread.p95}  p99 ${spread.p99}  max ${spread.max} ms`,
      )
    }
    const cpu = Object.entries(load.cpuUsPerHandoff).map(([name, us]) => `${name} ${us}`)
    say(`  CPU per handoff      ${cpu.join('  ')} us`)
  }
}

const spread = ({ p50, p95, p99, max }: Spread): string =>
  `p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms`

function measurementsOf(report: Report): readonly Measurement[] {
  const plain = Object.entries(report.plainQueueJobsPerSecond).map(([bytes, rate]) => ({
    what: `plain BullMQ, ${bytes} bytes`,
    figures: `${rate} jobs/s`,
  }))
  const loads = report.loads.map((load) => {
    const latency = `accepted ${spread(load.dispatchToAcceptMs)}; audited ${spread(load.endToAuditedMs)}`
    return {
      what: `${load.name}, ${report.queue}`,
      figures: `${load.completedPerSecond} handoffs/s${ratiosOf(load)}; ${latency}`,
    }
  })
  const floor = { what: 'floor: commits of one row', figures: `${report.floorCommitsPerSecond}/s` }
  return [floor, ...plain, ...loads]
}

async function main(): Promise<void> {
  const args = readArguments()
  await withOwnServers(args.redis, async (servers) => {
    const report = await measure(args, servers)
    printReport(report)
    recordMeasurements(measurementsOf(report))
    if (args.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  })
}

if (process.argv[2] === 'recovery') await import('./recovery.ts')
else if (process.argv[2] === 'verify') await import('./verify.ts')
else if (process.argv[2] === 'trace') await import('./trace.ts')
else if (process.argv[2] === 'graph') await import('./graph.ts')
else if (process.argv[2] === 'audit') await import('./audit.ts')
else if (process.argv[2] === 'telemetry') await import('./telemetry.ts')
else if (process.argv[2] === 'erasure') await import('./erasure.ts')
else if (process.argv[2] === 'acceptance') await import('./acceptance.ts')
else if (process.argv[2] === 'tenants') await import('./tenants.ts')
else if (process.argv[2] === 'mutants') await import('./mutants.ts')
else if (process.argv[2] === 'scanner') await import('./scanner.ts')
else if (process.argv[2] === 'flood') await import('./flood.ts')
else await main()
