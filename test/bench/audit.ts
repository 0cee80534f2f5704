// `npm run bench -- audit`: appends through the service beside a chain with one lock per record, and reading again.
import { parseArgs } from 'node:util'
import { createPool, verifyChains } from '@baton/audit'
import { batchKeyId, createBatchSigner } from '@baton/ledger'
import { createSystem, startOwnPostgres } from '@baton/testkit'
import type { System } from '@baton/testkit'
import { generateKeyPairSync } from 'node:crypto'
import { measurePlainChain } from './plain-chain.ts'
import { runScript } from './run-script.ts'
import { MACHINE, recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- audit [options]
  --seconds N    length of each load (20)
  --callers N    appends under way in the closed loop (512)
  --rate N       appends per second of the open loop (1000)
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  seconds: { type: 'string', default: '20' },
  callers: { type: 'string', default: '512' },
  rate: { type: 'string', default: '1000' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** What the house promises; the figures stand beside it. */
const GOALS = { timesPlainChain: 5, openP99Ms: 25, verifyPerSecond: 50_000 }
const PLAIN_SECONDS = 5
const PLAIN_CLIENTS = 64

interface LoadFigures {
  readonly perSecond: number
  readonly failed: number
  readonly latenciesMs: readonly number[]
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

const appendUnder = (system: System, load: object): Promise<LoadFigures> =>
  runScript<LoadFigures>('test/bench/audit-process.ts', { argument: load, env: system.env })

interface VerifyFigures {
  readonly ok: boolean
  readonly records: number
  readonly perSecond: number
  readonly cpuUsPerRecord: number
  readonly residentMiB: number
}

async function measureVerify(system: System, signingKey: string): Promise<VerifyFigures> {
  const pool = createPool({
    url: system.auditUrls.reader,
    applicationName: 'bench',
    statementMs: 60_000,
  })
  const { publicKey } = createBatchSigner(signingKey)
  const startedAt = performance.now()
  const cpu = process.cpuUsage()
  const report = await verifyChains({
    pool,
    batchKeys: new Map([[batchKeyId(publicKey), publicKey]]),
  })
  const elapsed = (performance.now() - startedAt) / 1_000
  const used = process.cpuUsage(cpu)
  await pool.end()
  return {
    ok: report.findings.length === 0,
    records: report.records,
    perSecond: Math.round(report.records / elapsed),
    cpuUsPerRecord: Math.round(((used.user + used.system) / report.records) * 10) / 10,
    residentMiB: Math.round(process.memoryUsage().rss / 1_048_576),
  }
}

const pkcs8 = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

const show = ({ p50, p95, p99, max }: Spread): string =>
  `p50 ${p50}  p95 ${p95}  p99 ${p99}  max ${max} ms`

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const seconds = Number(values.seconds)
  const postgres = await startOwnPostgres()
  const adminUrl = postgres.superuserUrl
  const signingKey = pkcs8()
  const system = await createSystem({ purpose: 'bench', adminUrl, agents: '' })
  try {
    say(`plain chain: ${PLAIN_CLIENTS} clients, one lock and one commit per record`)
    const plan = { adminUrl, clients: PLAIN_CLIENTS, seconds: PLAIN_SECONDS }
    const before = await measurePlainChain(plan)
    await system.start('auditor', {
      BATON_AUDIT_SIGNING_KEY: signingKey,
      BATON_LOG_LEVEL: 'warn',
      BATON_AUDIT_SCRUB_PER_SECOND: '1',
    })
    say(`open loop: ${values.rate} appends/s, ${seconds} s`)
    const open = await appendUnder(system, { seconds, ratePerSecond: Number(values.rate) })
    say(`closed loop: ${values.callers} callers, ${seconds} s`)
    const closed = await appendUnder(system, { seconds, callers: Number(values.callers) })
    const plainPerSecond = Math.round((before + (await measurePlainChain(plan))) / 2)
    say('verification of everything from Postgres, without payloads')
    const verification = await measureVerify(system, signingKey)
    const report = {
      machine: MACHINE,
      goals: GOALS,
      plainChainPerSecond: plainPerSecond,
      appendPerSecond: Math.round(closed.perSecond),
      timesPlainChain: Math.round((closed.perSecond / plainPerSecond) * 10) / 10,
      closed: spreadOf(closed.latenciesMs),
      open: { perSecond: Math.round(open.perSecond), ...spreadOf(open.latenciesMs) },
      failed: open.failed + closed.failed,
      verification,
    }
    say(`\n${report.machine}; fsync on`)
    say(`plain chain        ${plainPerSecond} records/s`)
    say(
      `append, closed     ${report.appendPerSecond} records/s, ${report.timesPlainChain} times; ${show(report.closed)}`,
    )
    say(`append, ${report.open.perSecond}/s    ${show(report.open)}`)
    say(`verification       ${JSON.stringify(verification)}`)
    recordMeasurements([
      {
        what: 'audit: append, closed loop',
        figures: `${report.appendPerSecond} records/s, ${report.timesPlainChain} times a chain with one lock and one commit per record; ${show(report.closed)}`,
      },
      {
        what: `audit: append, ${values.rate}/s`,
        figures: show(report.open),
        promised: `p99 ${GOALS.openP99Ms} ms`,
      },
      {
        what: 'audit: verification from Postgres',
        figures: `${verification.perSecond} records/s of ${verification.records}, ${verification.cpuUsPerRecord} us CPU each, ${verification.residentMiB} MiB`,
      },
    ])
    if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  } finally {
    await system.stop()
    await postgres.stop()
  }
}

await main()
