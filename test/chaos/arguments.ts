// What `npm run chaos` is told on the command line.
import { parseArgs } from 'node:util'
import { KNOWN_BAD } from './known-bad.ts'

const HELP = `npm run chaos -- [options]
       npm run chaos -- ledger [options]   kills what keeps the log (ledger --help)
       npm run chaos -- topology [options] fail-overs, rolling restarts and upgrades (topology --help)
       npm run chaos -- graphs [options]   random graphs of handoffs (graphs --help)
       npm run chaos -- redis-sentinel|redis-cluster [options]   fail-overs of Redis (redis-cluster --help)
       npm run chaos -- frameworks [options]  kills four agent frameworks that hand work to each other (frameworks --help)
       npm run chaos -- disasters [options] loses a part and restores it (disasters --help)
  --seeds N          how many seeds to run, one after the other (3)
  --seed-base S      the first seed; the next are S + 1, S + 2, ... (1)
  --minutes M        begin no further seed after M minutes
  --seconds N        traffic of each seed (40)
  --rate N           sends per second (30)
  --known-bad NAME   run a build that is wrong on purpose; all runs every one of them
  --image NAME       every service in a container of this image, on this machine's network
  --tls              everything between processes on TLS, with certificates of both sides
  --plan             print the plans and run nothing
  --report FILE      write the report as JSON
  --json             the report as one JSON object, the last line of stdout
Replay a seed:       npm run chaos -- --seeds 1 --seed-base <seed>
Known-bad builds:    ${KNOWN_BAD.map(({ name }) => name).join(', ')}
Exit codes:          0 everything held, 1 the campaign failed, 2 usage, 3 an invariant broke`

const OPTIONS = {
  seeds: { type: 'string', default: '3' },
  'seed-base': { type: 'string', default: '1' },
  minutes: { type: 'string' },
  seconds: { type: 'string', default: '40' },
  rate: { type: 'string', default: '30' },
  'known-bad': { type: 'string' },
  image: { type: 'string' },
  tls: { type: 'boolean', default: false },
  plan: { type: 'boolean', default: false },
  report: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export interface CampaignArguments {
  readonly seeds: number
  readonly seedBase: number
  readonly minutes: number
  readonly seconds: number
  readonly ratePerSecond: number
  /** Names of known-bad builds; empty runs the product. */
  readonly knownBad: readonly string[]
  readonly image: string | undefined
  readonly tls: boolean
  readonly planOnly: boolean
  readonly reportFile: string | undefined
  readonly json: boolean
}

/** The arguments, or what to print and exit with. */
export function readArguments(
  args: readonly string[],
): CampaignArguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    return {
      seeds: whole('seeds', values.seeds, 10_000),
      seedBase: whole('seed-base', values['seed-base'], 4_000_000_000),
      minutes: values.minutes === undefined ? Infinity : whole('minutes', values.minutes, 10_080),
      seconds: whole('seconds', values.seconds, 3_600),
      ratePerSecond: whole('rate', values.rate, 1_000),
      knownBad: namesOf(values['known-bad']),
      image: values.image,
      tls: values.tls,
      planOnly: values.plan,
      reportFile: values.report,
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos: ${problem}\n\n${HELP}` }
  }
}

/** A whole number from 1 on. Throws with the words for whoever typed it. */
export function whole(name: string, raw: string, max: number): number {
  const value = Number(raw)
  if (Number.isInteger(value) && value > 0 && value <= max) return value
  throw new Error(`--${name} ${raw}: expected a whole number from 1 to ${max}`)
}

function namesOf(wanted: string | undefined): readonly string[] {
  if (wanted === undefined) return []
  const names = KNOWN_BAD.map(({ name }) => name)
  if (wanted === 'all') return names
  if (names.includes(wanted)) return [wanted]
  throw new Error(`--known-bad ${wanted}: expected all or one of ${names.join(', ')}`)
}
