// `npm run chaos`: real processes, seeded faults, and a checker that says which promise broke.
import { writeFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { readArguments } from './arguments.ts'
import type { CampaignArguments } from './arguments.ts'
import { runCampaign, startServers } from './campaign.ts'
import { imageId } from './container.ts'
import { runFrameworksCommand } from './four-frameworks-command.ts'
import { runDisastersCommand } from './disasters-command.ts'
import { runGraphsCommand } from './graphs-command.ts'
import { findKnownBad } from './known-bad.ts'
import { runLedgerCommand } from './ledger-command.ts'
import { runRedisGroupCommand } from './redis-groups-command.ts'
import { tableOf } from './report.ts'
import type { Report } from './report.ts'
import { describePlan, planOf } from './schedule.ts'
import { runTopologyCommand } from './topology-command.ts'
import type { Servers } from './world.ts'

const FAILED = 1
const BROKEN = 3
const INTERRUPTED = 130

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function main(): Promise<number> {
  const [command, ...rest] = process.argv.slice(2)
  if (command === 'ledger') return runLedgerCommand(rest, { say, endOnSignal })
  if (command === 'topology') return runTopologyCommand(rest, { say, endOnSignal })
  if (command === 'disasters') return runDisastersCommand(rest, { say })
  if (command === 'frameworks') return runFrameworksCommand(rest, { say, endOnSignal })
  if (command === 'graphs') return runGraphsCommand(rest, { say, endOnSignal })
  if (command === 'redis-sentinel' || command === 'redis-cluster')
    return runRedisGroupCommand(command, rest, { say, endOnSignal })
  const args = readArguments(process.argv.slice(2))
  if ('exitCode' in args) {
    say(args.text)
    return args.exitCode
  }
  const seeds = Array.from({ length: args.seeds }, (_, index) => args.seedBase + index)
  if (args.planOnly) {
    for (const seed of seeds) say(`seed ${seed}\n${describePlan(planOf(seed, args.seconds))}`)
    return 0
  }
  if (args.image !== undefined) say(`image ${args.image}: ${await imageId(args.image)}`)
  const servers = await startServers({ onTls: args.tls })
  endOnSignal(servers)
  try {
    const reports = await runBuilds(servers, args, seeds)
    return finish(reports, args)
  } finally {
    await servers.stop()
  }
}

async function runBuilds(
  servers: Servers,
  args: CampaignArguments,
  seeds: readonly number[],
): Promise<readonly Report[]> {
  const { seconds, ratePerSecond, minutes, knownBad, image } = args
  const untilMs = Date.now() + minutes * 60_000
  const options = { seeds, seconds, ratePerSecond, image, untilMs, say }
  if (knownBad.length === 0) return [await runCampaign(servers, options)]
  const reports: Report[] = []
  for (const name of knownBad) {
    const build = findKnownBad(name)
    say(`known-bad build ${name}: ${build?.about}`)
    const untilBroken = build?.breaks ?? []
    const report = await runCampaign(servers, { ...options, knownBad: name, untilBroken })
    say(`known-bad build ${name}: ${verdictOn(report)}`)
    reports.push(report)
  }
  return reports
}

/** Whether what broke is what had to. */
const isCaught = ({ knownBad, broken }: Report): boolean =>
  findKnownBad(knownBad ?? '')?.breaks.some((id) => broken.includes(id)) ?? false

function verdictOn(report: Report): string {
  const broken = report.broken.join(', ')
  if (isCaught(report)) return `caught by ${broken} in seed ${report.seeds.length}`
  return broken === '' ? 'NOT CAUGHT' : `NOT CAUGHT by what it must break, only by ${broken}`
}

function finish(reports: readonly Report[], { reportFile, json }: CampaignArguments): number {
  for (const report of reports) {
    const name = report.knownBad === undefined ? '' : `${report.knownBad}: ${verdictOn(report)}\n`
    say(`\n${name}${tableOf(report)}`)
  }
  const [first] = reports
  const whole = reports.length === 1 ? first : { builds: reports }
  if (reportFile !== undefined) writeFileSync(reportFile, `${JSON.stringify(whole, null, 2)}\n`)
  if (json) process.stdout.write(`${JSON.stringify(whole)}\n`)
  const missed = reports.filter((report) => report.knownBad !== undefined && !isCaught(report))
  if (missed.length > 0) return FAILED
  return reports.some((report) => !report.ok) ? BROKEN : 0
}

/** Ends what this campaign started, and nothing else: its servers here, its services as this process exits. */
function endOnSignal(servers: { stop(): Promise<void> }): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      say('interrupted: ending what this campaign started')
      void servers.stop().finally(() => process.exit(INTERRUPTED))
    })
  }
}

const BATCHING_DELAY_MS = 5_000

try {
  process.exitCode = await main()
} catch (error) {
  say(`chaos: the campaign failed: ${inspect(error)}`)
  process.exitCode = FAILED
}
// Whatever a failed campaign left under way does not keep this process.
setTimeout(() => process.exit(), BATCHING_DELAY_MS).unref()
