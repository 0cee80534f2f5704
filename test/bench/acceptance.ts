// `npm run bench -- acceptance`: which share of sound handoffs is accepted over a long run. Exit code 1 below 99.8 %, or where one is lost.
import { parseArgs } from 'node:util'
import { withOwnServers } from './own-servers.ts'
import { recordMeasurements } from './results.ts'
import { runLoad } from './system-under-load.ts'

const HELP = `npm run bench -- acceptance [options]
  --seconds N    length of the run (3600)
  --rate N       handoffs sent per second (50)
  --no-redis     relay in the receiver's process instead of BullMQ on Redis
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  seconds: { type: 'string', default: '3600' },
  rate: { type: 'string', default: '50' },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

/** What is claimed of a service in production. */
const SHARE_MIN = 0.998

const say = (text: string): void => void process.stderr.write(`${text}\n`)

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const [seconds, ratePerSecond] = [Number(values.seconds), Number(values.rate)]
  await withOwnServers(!values['no-redis'], async (servers) => {
    const plan = { name: 'acceptance', bytes: 4_096, seconds, ratePerSecond }
    const { sent, failed, accepted } = await runLoad(plan, servers)
    const share = accepted / (sent + failed)
    const figures = `${accepted} of ${sent + failed} handoffs accepted (${(share * 100).toFixed(3)} %), ${failed} refused at the door`
    say(figures)
    recordMeasurements([{ what: `acceptance, ${seconds} s at ${ratePerSecond}/s`, figures }])
    if (values.json)
      process.stdout.write(`${JSON.stringify({ seconds, sent, failed, accepted, share })}\n`)
    if (!(share >= SHARE_MIN)) process.exitCode = 1
  })
}

await main()
