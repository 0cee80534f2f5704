// `npm run bench -- telemetry`: what it costs to be watched. The same load with nothing, with Prometheus scraping, and with spans,
// metrics and logs sent by OTLP, in turns, as processor time for each handoff.
import { request } from 'node:http'
import { parseArgs } from 'node:util'
import { freePort } from '@baton/embedded'
import { spawnService } from '@baton/testkit'
import { withOwnServers } from './own-servers.ts'
import { recordMeasurements } from './results.ts'
import { runLoad } from './system-under-load.ts'
import type { LoadPlan, Servers, Told } from './system-under-load.ts'

const HELP = `npm run bench -- telemetry [options]
  --seconds N    length of one load (10)
  --rounds N     how often each way is measured, in turns (3)
  --rate N       sends per second of the open loop (100)`

const OPTIONS = {
  seconds: { type: 'string', default: '10' },
  rounds: { type: 'string', default: '3' },
  rate: { type: 'string', default: '100' },
  help: { type: 'boolean', default: false },
} as const

const SCRAPE_EVERY_MS = 5_000
/** Baton's own processes; Postgres and Redis do the same either way. */
const OWN = ['auditor', 'relay', 'receiver', 'sender']

const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface Watched extends Told {
  stop(): Promise<unknown>
}

const NOT_WATCHED = async (): Promise<Watched> => ({ stop: async () => undefined })

/** As Prometheus does: the whole page of every process, with exemplars. */
async function scraped(): Promise<Watched> {
  const ports = { relay: await freePort(), receiver: await freePort() }
  const scrapes = setInterval(() => {
    for (const port of Object.values(ports)) scrape(port)
  }, SCRAPE_EVERY_MS)
  return {
    envOf: {
      relay: { BATON_OPS_PORT: String(ports.relay) },
      receiver: { BATON_OPS_PORT: String(ports.receiver) },
    },
    stop: async () => clearInterval(scrapes),
  }
}

function scrape(port: number): void {
  const headers = { accept: 'application/openmetrics-text;version=1.0.0' }
  const asked = request({ host: '127.0.0.1', port, path: '/metrics', headers }, (answer) => {
    answer.resume()
  })
  // Before a process listens there is nothing to read.
  asked.on('error', () => undefined)
  asked.end()
}

/** Spans, metrics and logs to a collector on this machine; `sampled` is the share of traces that is kept. */
async function sent(sampled: string): Promise<Watched> {
  const port = await freePort()
  const sink = await spawnService({
    main: 'test/bench/otlp-sink-process.ts',
    args: [String(port)],
    env: {},
  })
  return {
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: sampled,
      OTEL_METRIC_EXPORT_INTERVAL: String(SCRAPE_EVERY_MS),
    },
    stop: () => sink.stop(),
  }
}

const WAYS = {
  'not watched': NOT_WATCHED,
  'scraped every 5 s': scraped,
  'OTLP, 1 % of traces': () => sent('0.01'),
  'OTLP, every trace': () => sent('1'),
} as const
type WayName = keyof typeof WAYS

async function measure(plan: LoadPlan, servers: Servers, way: WayName) {
  const watched = await WAYS[way]()
  try {
    const { cpuUsPerHandoff, completedPerSecond } = await runLoad(plan, servers, watched)
    const own = OWN.map((name) => cpuUsPerHandoff[name] ?? 0).reduce((sum, us) => sum + us, 0)
    return { own, completedPerSecond }
  } finally {
    await watched.stop()
  }
}

const middle = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN

async function run(plans: readonly LoadPlan[], servers: Servers, rounds: number): Promise<void> {
  for (const plan of plans) {
    const costs = new Map<WayName, number[]>()
    for (let round = 1; round <= rounds; round += 1) {
      for (const way of Object.keys(WAYS) as WayName[]) {
        const { own, completedPerSecond } = await measure(plan, servers, way)
        costs.set(way, [...(costs.get(way) ?? []), own])
        say(`  ${plan.name}, round ${round}, ${way}: ${own} us, ${completedPerSecond} handoffs/s`)
      }
    }
    const base = middle(costs.get('not watched') ?? [])
    recordMeasurements(
      [...costs].map(([way, us]) => ({
        what: `telemetry, ${plan.name}: ${way}`,
        figures: `${middle(us)} us of Baton’s processor time per handoff (${Math.min(...us)} to ${Math.max(...us)} of ${us.length}), ${(middle(us) / base).toFixed(3)} of not watched`,
      })),
    )
    for (const [way, us] of costs)
      say(`${plan.name}  ${way.padEnd(20)} ${middle(us)} us, ${(middle(us) / base).toFixed(3)}`)
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const seconds = Number(values.seconds)
  const plans: readonly LoadPlan[] = [
    { name: 'saturation', bytes: 4_096, seconds, underWay: 512 },
    { name: `${values.rate}/s`, bytes: 4_096, seconds, ratePerSecond: Number(values.rate) },
  ]
  await withOwnServers(true, (servers) => run(plans, servers, Number(values.rounds)))
}

await main()
