// The sending process of the benchmark: closed loop (a bounded number of handoffs not yet settled) or
// open loop (a fixed rate, whatever comes of it).
import { createPool } from '@baton/audit'
import { createBaton } from '@baton/client'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState } from '@baton/sdk'
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
const gatewayUrl = process.env['BATON_BENCH_GATEWAY_URL']
const sender = gatewayUrl === undefined ? sdkSender() : httpSender(gatewayUrl)
// States are made before the clock runs; each send gets a task of its own.
const prepared = Array.from({ length: 64 }, (_, seed) => stateOf(load.bytes, seed + 1))
let sent = 0
let failed = 0
let latenessMsMax = 0

interface BenchSender {
  send(state: AgentState): Promise<unknown>
  close(): Promise<void>
}

function sdkSender(): BenchSender {
  const sdk = createSender({
    databaseUrl: process.env['BATON_DATABASE_URL'] ?? '',
    keyRing: parseSigningKeys(process.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  return { send: (state) => sdk.send(state, 'sink'), close: () => sdk.close() }
}

type SentBody = Parameters<ReturnType<typeof createBaton>['send']>[0]

/** By POST /v2/handoffs, as the client for other runtimes does it. */
function httpSender(url: string): BenchSender {
  const baton = createBaton({ url, key: process.env['BATON_BENCH_KEY'] ?? '' })
  return {
    // The generated type knows no interfaces; the JSON is the same.
    send: (agentState) => baton.send({ agentState, targetAgentType: 'sink' } as object as SentBody),
    close: async () => undefined,
  }
}

async function sendOne(): Promise<void> {
  const template = prepared[sent % prepared.length] ?? stateOf(load.bytes, 1)
  sent += 1
  try {
    await sender.send({ ...template, taskId: crypto.randomUUID() })
  } catch {
    failed += 1
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const POLL_MS = 20
const SENDS_UNDER_WAY_MAX = 128

async function closedLoop(underWay: number): Promise<void> {
  const auditUrl = process.env['BATON_BENCH_AUDIT_URL'] ?? ''
  const pool = createPool({ url: auditUrl, applicationName: 'bench-load', connectionsMax: 1 })
  const until = performance.now() + load.seconds * 1_000
  let room = underWay
  const priorityClass = async (): Promise<void> => {
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
      const { rows } = await pool.query<{ records: number }>({ name: 'records', text: RECORDS })
      room =
        underWay -
        (sentBefore - (rows[0]?.records ?? 0) / RECORDS_PER_HANDOFF) -
        (sent - sentBefore)
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  await Promise.all([watch(), ...Array.from({ length: SENDS_UNDER_WAY_MAX }, priorityClass)])
  await pool.end()
}

// Decision and outcome. Counting them costs four rows; counting open handoffs would weigh on what is measured.
const RECORDS_PER_HANDOFF = 2
const RECORDS = 'select sum(size)::float8 as records from audit.head'

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
