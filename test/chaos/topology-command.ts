// `npm run chaos -- topology`: fail-overs, kills and rolling restarts, or a rolling upgrade and the way back, under load; then a table.
import { writeFileSync } from 'node:fs'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { migrateAudit } from '@baton/audit'
import { createPool, migrateStore } from '@baton/store'
import { askPostgres, PASSWORDS, STORE_PASSWORDS } from '@baton/testkit'
import { createDriver } from '../fault/driver.ts'
import { drained, violations } from '../fault/history.ts'
import { whole } from './arguments.ts'
import { readLines } from './effect-ledger.ts'
import { startTopologyLoad } from './topology-load.ts'
import { eventTable, reportEvents } from './topology-report.ts'
import type { EventReport, Happened } from './topology-report.ts'
import { checkOut } from './topology-versions.ts'
import type { Checkout } from './topology-versions.ts'
import { startTopology } from './topology-world.ts'
import type { Running, TopologyWorld } from './topology-world.ts'

const HELP = `npm run chaos -- topology [options]
  --from COMMIT      begin with the processes of this version, change to today's one by one, back, and again
  --seconds N        how long the load goes on after each event (15)
  --rate N           sends per second, a third by SDK, the others by two gateways (20)
  --report FILE      write the report as JSON
  --json             the report as one JSON object, the last line of stdout
Exit codes:          0 everything held, 1 the campaign failed, 2 usage, 3 an invariant broke`

const OPTIONS = {
  from: { type: 'string' },
  seconds: { type: 'string', default: '15' },
  rate: { type: 'string', default: '20' },
  report: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BROKEN = 3
/** The first handoffs of a process load what those after them find loaded. */
const WARM_UP_MS = 5_000

interface Surroundings {
  say(text: string): void
  /** Ends the servers when this command is told to end. */
  endOnSignal(servers: { stop(): Promise<void> }): void
}

interface TopologyReport {
  readonly events: readonly EventReport[]
  /** What was answered to sends that were repeated, and how often. */
  readonly failures: Readonly<Record<string, number>>
  readonly violations: readonly string[]
}

interface TopologyEvent {
  readonly name: string
  readonly work: (world: TopologyWorld) => Promise<unknown>
}

/** Answers the exit code. Rejects where the campaign itself fails. */
export async function runTopologyCommand(
  args: readonly string[],
  { say, endOnSignal }: Surroundings,
): Promise<number> {
  const read = readArguments(args)
  if ('exitCode' in read) {
    say(read.text)
    return read.exitCode
  }
  const { from, pauseMs, ratePerSecond } = read
  const older = from === undefined ? undefined : checkOut(from)
  say(
    older === undefined
      ? 'everything starts, twice'
      : `everything starts by the code of ${from}, twice`,
  )
  const world = await startTopology(older)
  const stop = async () => {
    await world.end()
    older?.discard()
  }
  endOnSignal({ stop })
  try {
    const events = older === undefined ? FAIL_OVERS : upgradesFrom(older)
    const report = await runEvents(world, { events, pauseMs, ratePerSecond, say })
    say(`\n${eventTable(report.events)}`)
    say(`sends repeated after: ${JSON.stringify(report.failures)}`)
    for (const violation of report.violations) say(`BROKEN ${violation}`)
    if (report.violations.length > 0)
      say(`what each process said is in ${await keepOutputs(world)}`)
    else say('every promise held: nothing lost, nothing repeated')
    if (read.reportFile !== undefined)
      writeFileSync(read.reportFile, `${JSON.stringify(report, null, 2)}\n`)
    if (read.json) process.stdout.write(`${JSON.stringify(report)}\n`)
    return report.violations.length === 0 ? 0 : BROKEN
  } catch (error) {
    say(`what each process said is in ${await keepOutputs(world)}`)
    throw error
  } finally {
    await stop()
  }
}

async function keepOutputs({ running }: TopologyWorld): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-topology-logs-'))
  for (const [index, { name, process }] of running.entries())
    await writeFile(join(folder, `${name}-${index}.log`), process.output())
  return folder
}

interface Campaign {
  readonly events: readonly TopologyEvent[]
  readonly pauseMs: number
  readonly ratePerSecond: number
  say(text: string): void
}

async function runEvents(world: TopologyWorld, campaign: Campaign): Promise<TopologyReport> {
  const { system, gatewayUrls, apiKey, ledger } = world
  const { pauseMs, ratePerSecond, say } = campaign
  const driver = createDriver(system)
  const load = startTopologyLoad({ driver, gatewayUrls, apiKey, ratePerSecond })
  await delay(WARM_UP_MS)
  const happened: Happened[] = []
  for (const { name, work } of campaign.events) {
    say(`  ${name}`)
    happened.push({ name, atMs: Date.now() })
    await work(world)
    await delay(pauseMs)
  }
  const endedAtMs = Date.now()
  say('  everything that was sent is completed')
  await load.stop()
  const stuck = await drained(system).then(
    () => [],
    (error: Error) => [error.message],
  )
  const acknowledged = load.confirmed.map(({ handoffId }) => handoffId)
  const starts = new Map<string, number>()
  for (const { handoffId, at } of readLines<{ handoffId: string; at: number }>(ledger))
    if (!starts.has(handoffId)) starts.set(handoffId, at)
  const report = {
    events: reportEvents({
      events: happened,
      endedAtMs,
      confirmed: load.confirmed,
      starts,
      completed: await completedOf(world, acknowledged),
    }),
    failures: Object.fromEntries(load.failures),
    violations: [...stuck, ...(await violations(system, acknowledged, ledger))],
  }
  await driver.close()
  return report
}

async function completedOf(
  { system }: TopologyWorld,
  ids: readonly string[],
): Promise<Set<string>> {
  const pool = createPool({ url: system.adminUrls.store, applicationName: 'chaos' })
  try {
    const text = `select id from handoff where state = 'COMPLETED' and id = any($1::uuid[])`
    const { rows } = await pool.query<{ id: string }>({ text, values: [ids] })
    return new Set(rows.map(({ id }) => id))
  } finally {
    await pool.end()
  }
}

const calm: TopologyEvent = { name: 'nothing', work: async () => undefined }

const FAIL_OVERS: readonly TopologyEvent[] = [
  calm,
  {
    name: 'the primary of the tasks is killed, its standby promoted',
    work: ({ store }) => failOver(store),
  },
  {
    name: 'the primary of the log is killed, its standby promoted',
    work: ({ audit }) => failOver(audit),
  },
  {
    name: 'the first primary comes back and takes writes',
    work: async ({ store }) => {
      await store.primary.restart()
      const { superuserUrl } = store.primary
      await askPostgres(superuserUrl, `alter system set synchronous_standby_names = ''`)
      await askPostgres(superuserUrl, 'select pg_reload_conf()')
    },
  },
  { name: 'kill -9 of one of each process', work: killOneOfEach },
  { name: 'each process is restarted in turn', work: (world) => changeAll(world) },
]

const upgradesFrom = (older: Checkout): readonly TopologyEvent[] => [
  { ...calm, name: 'nothing; all are of the version before' },
  { name: 'today’s migrations', work: migrateToToday },
  { name: 'each process changes to today’s version', work: (world) => changeAll(world) },
  {
    name: 'each goes back to the version before',
    work: (world) => changeAll(world, older),
  },
  { name: 'and again to today’s', work: (world) => changeAll(world) },
]

async function failOver(pair: TopologyWorld['store']): Promise<void> {
  await pair.primary.crash()
  await pair.promote()
}

/** One of each, and a supervisor that starts it again a second later. */
async function killOneOfEach(world: TopologyWorld): Promise<void> {
  const one = new Map<string, Running>()
  for (const each of world.running) if (!one.has(each.name)) one.set(each.name, each)
  await Promise.all(Array.from(one.values(), (each) => each.process.kill()))
  await delay(SUPERVISOR_MS)
  await Promise.all(Array.from(one.values(), (each) => world.startAgain(each)))
}

const SUPERVISOR_MS = 1_000

/** One after the other, each drained before its next life begins. */
async function changeAll(world: TopologyWorld, checkout?: Checkout): Promise<void> {
  for (const each of world.running) {
    await world.stop(each)
    await world.startAgain(each, checkout)
  }
}

async function migrateToToday({ store, audit, system }: TopologyWorld): Promise<void> {
  const { app: _app, gateway: _gateway, delivery: _delivery, ...passwords } = PASSWORDS
  const nameOf = (url: string) => new URL(url).pathname.slice(1)
  await migrateStore({
    adminUrl: store.superuserUrl,
    database: nameOf(system.adminUrls.store),
    ...STORE_PASSWORDS,
  })
  const databases = { audit: nameOf(system.adminUrls.audit), vault: nameOf(system.auditUrls.vault) }
  await migrateAudit(audit.superuserUrl, { passwords, databases })
}

interface TopologyArguments {
  readonly from: string | undefined
  readonly pauseMs: number
  readonly ratePerSecond: number
  readonly reportFile: string | undefined
  readonly json: boolean
}

function readArguments(
  args: readonly string[],
): TopologyArguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    return {
      from: values.from,
      pauseMs: whole('seconds', values.seconds, 600) * 1_000,
      ratePerSecond: whole('rate', values.rate, 1_000),
      reportFile: values.report,
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos topology: ${problem}\n\n${HELP}` }
  }
}
