// `npm run chaos -- disasters`: what is left of an instance that lost a part, and how long it takes until it is back.
import { parseArgs } from 'node:util'
import { whole } from './arguments.ts'
import { DISASTERS, runDisaster } from './disasters.ts'
import type { Disaster, DisasterResult } from './disasters.ts'

const HELP = `npm run chaos -- disasters [options]
  --only NAME        this one alone (default: all, one after the other)
  --seconds N        load before the loss (10)
  --rate N           sends per second (20)
  --json             the results as one JSON object, the last line of stdout
Disasters:
${DISASTERS.map(({ name, about }) => `  ${name.padEnd(20)} ${about}`).join('\n')}
Exit codes:          0 nothing was lost silently and each went on, 1 the run failed, 2 usage, 3 otherwise`

const OPTIONS = {
  only: { type: 'string' },
  seconds: { type: 'string', default: '10' },
  rate: { type: 'string', default: '20' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BROKEN = 3

interface Arguments {
  readonly disasters: readonly Disaster[]
  readonly seconds: number
  readonly ratePerSecond: number
  readonly json: boolean
}

function read(
  args: readonly string[],
): Arguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    const { only } = values
    const disasters = DISASTERS.filter(({ name }) => only === undefined || name === only)
    if (disasters.length === 0) throw new Error(`--only ${only}: there is no such disaster`)
    return {
      disasters,
      seconds: whole('seconds', values.seconds, 3_600),
      ratePerSecond: whole('rate', values.rate, 1_000),
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos disasters: ${problem}\n\n${HELP}` }
  }
}

/** Answers the exit code. Rejects where a run itself fails. */
export async function runDisastersCommand(
  argv: readonly string[],
  { say }: { say(text: string): void },
): Promise<number> {
  const args = read(argv)
  if ('exitCode' in args) {
    say(args.text)
    return args.exitCode
  }
  const results: DisasterResult[] = []
  for (const disaster of args.disasters) {
    say(`${disaster.name}: ${disaster.about}`)
    const result = await runDisaster(disaster, { ...args, say })
    results.push(result)
    say(`  ${JSON.stringify(result)}`)
  }
  say(`\n${tableOf(results)}`)
  if (args.json) process.stdout.write(`${JSON.stringify({ results })}\n`)
  return results.every(isWell) ? 0 : BROKEN
}

/** Where the log was followed nothing is wrong afterwards; where it was not, it is said what is. */
const isWell = ({ disaster, lostUnsaid, verifyExit, goesOn }: DisasterResult): boolean => {
  const isFollowed = DISASTERS.find(({ name }) => name === disaster)?.isFollowed ?? false
  return lostUnsaid === 0 && (!isFollowed || (verifyExit === 0 && goesOn))
}

function tableOf(results: readonly DisasterResult[]): string {
  const head =
    '| lost | acknowledged | of them gone | unsaid | s before the loss | restore | exit | verify | goes on |'
  const rows = results.map((one) =>
    [
      one.disaster,
      one.acknowledged,
      one.lost,
      one.lostUnsaid,
      one.lostSeconds,
      `${one.restoreSeconds} s`,
      one.restoreExit,
      `${one.verifyExit}: ${one.verdict}`,
      one.goesOn ? 'yes' : 'no',
    ].join(' | '),
  )
  return [head, `|${' --- |'.repeat(9)}`, ...rows.map((row) => `| ${row} |`)].join('\n')
}
