// `npm run chaos -- ledger`: kill -9 of everything that keeps the log, under load, and a checker that names what broke.
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { whole } from './arguments.ts'
import { startServers } from './campaign.ts'
import { runLedgerCampaign } from './ledger-campaign.ts'
import type { LedgerCampaignOptions } from './ledger-campaign.ts'
import { ledgerSummaryOf } from './ledger-report.ts'

const HELP = `npm run chaos -- ledger [options]
  --kills N          how often something is killed (100)
  --seed S           what is killed when (1)
  --rate N           handoffs per second (10)
  --appends N        records per second that are appended directly (40)
  --report FILE      write the report as JSON
  --json             the report as one JSON object, the last line of stdout
Exit codes:          0 everything held, 1 the campaign failed, 2 usage, 3 an invariant broke`

const OPTIONS = {
  kills: { type: 'string', default: '100' },
  seed: { type: 'string', default: '1' },
  rate: { type: 'string', default: '10' },
  appends: { type: 'string', default: '40' },
  report: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

interface LedgerArguments extends Omit<LedgerCampaignOptions, 'say'> {
  readonly reportFile: string | undefined
  readonly json: boolean
}

function readLedgerArguments(
  args: readonly string[],
): LedgerArguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    return {
      kills: whole('kills', values.kills, 10_000),
      seed: whole('seed', values.seed, 4_000_000_000),
      handoffsPerSecond: whole('rate', values.rate, 1_000),
      appendsPerSecond: whole('appends', values.appends, 10_000),
      reportFile: values.report,
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos ledger: ${problem}\n\n${HELP}` }
  }
}

interface Surroundings {
  say(text: string): void
  /** Ends the servers when this command is told to end. */
  endOnSignal(servers: { stop(): Promise<void> }): void
}

/** Answers the exit code. Rejects where the campaign itself fails. */
export async function runLedgerCommand(
  args: readonly string[],
  { say, endOnSignal }: Surroundings,
): Promise<number> {
  const read = readLedgerArguments(args)
  if ('exitCode' in read) {
    say(read.text)
    return read.exitCode
  }
  const servers = await startServers()
  endOnSignal(servers)
  try {
    const report = await runLedgerCampaign(servers, { ...read, say })
    say(`\n${ledgerSummaryOf(report)}`)
    const text = `${JSON.stringify(report, null, 2)}\n`
    if (read.reportFile !== undefined) writeFileSync(read.reportFile, text)
    if (read.json) process.stdout.write(`${JSON.stringify(report)}\n`)
    return report.ok ? 0 : BROKEN
  } finally {
    await servers.stop()
  }
}

const BROKEN = 3
