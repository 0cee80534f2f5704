// The sending process of the benchmark: closed loop (a fixed number under way) or open loop (a fixed rate).
import { createSender, parseSigningKeys } from '@baton/sdk'
import { stateOf } from './message.ts'

interface Load {
  readonly bytes: number
  readonly seconds: number
  /** Sends under way at once (closed loop). */
  readonly underWay?: number
  /** Sends per second, evenly spaced (open loop). */
  readonly ratePerSecond?: number
}

const load = JSON.parse(process.argv[2] ?? '{}') as Load
const sender = createSender({
  databaseUrl: process.env['BATON_DATABASE_URL'] ?? '',
  keyRing: parseSigningKeys(process.env['BATON_SIGNING_KEYS'] ?? ''),
})
// States are made before the clock runs; each send gets a task of its own.
const prepared = Array.from({ length: 64 }, (_, seed) => stateOf(load.bytes, seed + 1))
let sent = 0
let failed = 0
let latenessMsMax = 0

async function sendOne(): Promise<void> {
  const template = prepared[sent % prepared.length] ?? stateOf(load.bytes, 1)
  sent += 1
  try {
    await sender.send({ ...template, taskId: crypto.randomUUID() }, 'sink')
  } catch {
    failed += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function closedLoop(underWay: number): Promise<void> {
  const until = performance.now() + load.seconds * 1_000
  const lane = async (): Promise<void> => {
    while (performance.now() < until) await sendOne()
  }
  await Promise.all(Array.from({ length: underWay }, lane))
}

async function openLoop(ratePerSecond: number): Promise<void> {
  const startedAt = performance.now()
  const total = Math.round(ratePerSecond * load.seconds)
  const underWay: Promise<void>[] = []
  for (let index = 0; index < total; index += 1) {
    const waitMs = startedAt + (index * 1_000) / ratePerSecond - performance.now()
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs))
    else latenessMsMax = Math.max(latenessMsMax, -waitMs)
    underWay.push(sendOne())
  }
  await Promise.all(underWay)
}

const startedAt = performance.now()
if (load.ratePerSecond !== undefined) await openLoop(load.ratePerSecond)
else await closedLoop(load.underWay ?? 64)
const elapsedMs = performance.now() - startedAt
await sender.close()
const cpu = process.cpuUsage()
process.stdout.write(
  `${JSON.stringify({ sent, failed, elapsedMs, latenessMsMax, cpuSeconds: (cpu.user + cpu.system) / 1e6 })}\n`,
)
