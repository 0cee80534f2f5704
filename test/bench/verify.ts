// `npm run bench -- verify`: how many records a second one core verifies offline, tree and all.
import { parseArgs } from 'node:util'
import { verifyBundle } from '@baton/ledger'
import { MACHINE, recordMeasurements } from './results.ts'
import { wholeChain } from './verify-bundle.ts'

const HELP = `npm run bench -- verify [options]
  --records N   records of one chain in the bundle (100000)
  --rounds N    how often it is verified (5)
  --json        one JSON object as the last line of stdout`

const OPTIONS = {
  records: { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '5' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const TARGET_PER_SECOND = 150_000
const NOW = Date.UTC(2026, 10, 20, 12, 1) / 1000

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** Records per second of CPU time: what else runs on the machine does not count. */
function measure(chain: ReturnType<typeof wholeChain>, records: number, thorough: boolean): number {
  const before = process.cpuUsage()
  const report = verifyBundle(chain.bundle, { policy: chain.policy, now: NOW, thorough })
  const { user, system } = process.cpuUsage(before)
  if (report.verdict !== 'valid') throw new Error(`the bundle is ${report.verdict}`)
  return Math.round((records / (user + system)) * 1e6)
}

function main(): void {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const [records, rounds] = [Number(values.records), Number(values.rounds)]
  say(`making a bundle of ${records} records ...`)
  const chain = wholeChain(records)
  const best = (thorough: boolean): number =>
    Math.max(...Array.from({ length: rounds }, () => measure(chain, records, thorough)))
  const report = {
    machine: MACHINE,
    records,
    bytesPerRecord: chain.bytesPerRecord,
    targetPerSecond: TARGET_PER_SECOND,
    recordsPerCpuSecond: best(false),
    thoroughRecordsPerCpuSecond: best(true),
  }
  say(`\n${report.machine}`)
  say(`${records} records of ${report.bytesPerRecord} bytes, one core, best of ${rounds} rounds`)
  say(
    `  every check        ${report.recordsPerCpuSecond} records/s (promised ${TARGET_PER_SECOND})`,
  )
  say(`  and every form     ${report.thoroughRecordsPerCpuSecond} records/s`)
  recordMeasurements([
    {
      what: 'offline verification, one core',
      figures: `${report.recordsPerCpuSecond} records/s, every form checked as well ${report.thoroughRecordsPerCpuSecond}; best of ${rounds}`,
      promised: `${TARGET_PER_SECOND} records/s`,
    },
  ])
  if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  if (report.recordsPerCpuSecond < TARGET_PER_SECOND) process.exitCode = 1
}

main()
