// `npm run bench -- recovery`: how long it takes until work goes on after each fault, against what is promised.
import { parseArgs } from 'node:util'
import { RECOVERY_CASES } from './recovery-cases.ts'
import type { RecoveryOptions } from './recovery-cases.ts'
import { MACHINE, recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- recovery [options]
  --rounds N             how often each fault is caused (10)
  --snapshot-minutes N   how long the snapshot is held at 800 sends a second (5)
  --waiting N            handoffs waiting while Redis's memory is read (100000)
  --only NAME            ${RECOVERY_CASES.map(({ name }) => name).join(', ')}; several times for several
  --json                 one JSON object as the last line of stdout`

const OPTIONS = {
  rounds: { type: 'string', default: '10' },
  'snapshot-minutes': { type: 'string', default: '5' },
  waiting: { type: 'string', default: '100000' },
  only: { type: 'string', multiple: true, default: [] as string[] },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

interface Figure {
  readonly name: string
  readonly unit: string
  readonly target: number
  readonly samples: number
  readonly spread: Spread
  readonly kept: boolean
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function measureAll(only: readonly string[], options: RecoveryOptions): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { name, unit, target, measure } of RECOVERY_CASES) {
    if (only.length > 0 && !only.includes(name)) continue
    say(`measuring ${name} ...`)
    const samples = await measure(options)
    const spread = spreadOf(samples)
    const figure = {
      name,
      unit,
      target,
      samples: samples.length,
      spread,
      kept: spread.p99 <= target,
    }
    figures.push(figure)
    say(rowOf(figure))
  }
  return figures
}

function rowOf({ name, unit, target, samples, spread, kept }: Figure): string {
  const figures = [spread.p50, spread.p99, spread.max].map((value) => String(value).padStart(9))
  return `${name.padEnd(15)}${figures.join('')} ${unit}  of ${samples} samples; promised ${target}: ${kept ? 'kept' : 'MISSED'}`
}

const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
if (values.help) say(HELP)
else {
  const figures = await measureAll(values.only, {
    rounds: Number(values.rounds),
    snapshotMinutes: Number(values['snapshot-minutes']),
    waiting: Number(values.waiting),
  })
  say(`\n${MACHINE}\n${''.padEnd(15)}      p50      p99      max`)
  for (const figure of figures) say(rowOf(figure))
  recordMeasurements(
    figures.map(({ name, unit, target, samples, spread: { p50, p99, max } }) => ({
      what: `recovery: ${name}`,
      figures: `p50 ${p50}, p99 ${p99}, max ${max} ${unit} of ${samples}`,
      promised: `${target} ${unit}`,
    })),
  )
  if (values.json)
    process.stdout.write(`${JSON.stringify({ machine: MACHINE, recovery: figures })}\n`)
  process.exitCode = figures.every(({ kept }) => kept) ? 0 : 1
}
