// The sending process of the benchmark: closed loop (a bounded number of handoffs not yet settled) or
// open loop (a fixed rate, whatever comes of it).
import { createSender, parseSigningKeys } from '@baton/sdk'
import { createPool } from '@baton/store'
import { stateOf } from './message.ts'

interface Load {
  readonly bytes: number
  readonly seconds: number
  /** Handoffs sent and not yet settled (closed loop). */
  readonly underWay?: number
  /** Sends per second, evenly spaced (open loop). */
  readonly ratePerSecond?: number
}

const load = JSON.parse(process.argv[2] ?? '{}') as Load
const databaseUrl = process.env['BATON_DATABASE_URL'] ?? ''
const sender = createSender({
  databaseUrl,
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

const POLL_MS = 40
const SENDS_UNDER_WAY_MAX = 128

async function closedLoop(underWay: number): Promise<void> {
  const pool = createPool({ url: databaseUrl, applicationName: 'bench-load', connectionsMax: 1 })
  const until = performance.now() + load.seconds * 1_000
  let room = underWay
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      if (room <= 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      else {
        room -= 1
        await sendOne()
      }
    }
  }
  const watch = async (): Promise<void> => {
    while (performance.now() < until) {
      const sentBefore = sent
      const { rows } = await pool.query<{ open: number }>({ name: 'open', text: OPEN })
      room = underWay - (rows[0]?.open ?? 0) - (sent - sentBefore)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  await Promise.all([watch(), ...Array.from({ length: SENDS_UNDER_WAY_MAX }, lane)])
  await pool.end()
}

const OPEN = 'select count(*) as open from handoff where ended_at is null'

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
