// `npm run chaos -- frameworks`: the example of four agent frameworks, and kill -9 anywhere in it by seed.
import { parseArgs } from 'node:util'
import { randomFrom, startOwnPostgres } from '@baton/testkit'
import { whole } from './arguments.ts'
import { killsOf, openFourWorld } from './four-frameworks.ts'
import type { FourReport } from './four-frameworks.ts'

const HELP = `npm run chaos -- frameworks [options]
  --seeds N          how many tasks, each with other kills (10); 0 runs one task and kills nobody
  --seed-base S      the first seed (1)
  --json             the reports as one JSON object, the last line of stdout
Exit codes:          0 everything held, 1 a task had no answer in time, 2 usage, 3 a promise broke`

const OPTIONS = {
  seeds: { type: 'string', default: '10' },
  'seed-base': { type: 'string', default: '1' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BROKEN = 3
const NOBODY = { named: 'nobody' }

interface Surroundings {
  say(text: string): void
  /** Ends the servers when this command is told to end. */
  endOnSignal(servers: { stop(): Promise<void> }): void
}

export async function runFrameworksCommand(
  args: readonly string[],
  { say, endOnSignal }: Surroundings,
): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  if (values.help) {
    say(HELP)
    return 0
  }
  const base = whole('seed-base', values['seed-base'], 4_000_000_000)
  const count = values.seeds === '0' ? 0 : whole('seeds', values.seeds, 10_000)
  const postgres = await startOwnPostgres()
  endOnSignal(postgres)
  const world = await openFourWorld(postgres.superuserUrl)
  const reports: FourReport[] = []
  try {
    const plans =
      count === 0
        ? [{ name: 'no seed', kills: NOBODY }]
        : Array.from({ length: count }, (_, nth) => ({
            name: `seed ${base + nth}`,
            kills: killsOf(randomFrom(base + nth)),
          }))
    for (const { name, kills } of plans) {
      const report = await world.run(kills)
      reports.push(report)
      say(tableOf(name, report))
    }
  } finally {
    await world.close()
    await postgres.stop()
  }
  if (values.json) process.stdout.write(`${JSON.stringify({ reports })}\n`)
  return reports.every(({ wrong }) => wrong.length === 0) ? 0 : BROKEN
}

/** What each of the four did, the cost, the trace and the log. */
function tableOf(name: string, report: FourReport): string {
  const { kills, starts, hops, costUSD, traceIds, log, wrong, answer } = report
  const desk = { to: 'desk', costUSD: costUSD - hops.reduce((sum, hop) => sum + hop.costUSD, 0) }
  const rows = [{ ...desk, claims: starts.desk }, ...hops].map(
    ({ to, costUSD: cost, claims }) =>
      `  ${to.padEnd(9)}started ${starts[to as keyof typeof starts]}, claimed ${claims}, $${cost.toFixed(6)}`,
  )
  return [
    `${name}: killed ${kills}`,
    ...rows,
    `  answer   ${answer}`,
    `  cost     $${costUSD.toFixed(6)}, trace ${traceIds.join(' and ')}, log: ${log}`,
    ...wrong.map((what) => `  ✗ ${what}`),
  ].join('\n')
}
