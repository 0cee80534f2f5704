// The appending process of the audit benchmark: callers that share requests as a receiver's do, closed or open loop.
import { randomUUID } from 'node:crypto'
import { createAuditClient } from '@baton/audit/client'
import { entryOf } from '@baton/ledger/fixtures/entry'
import { createBatcher } from '@baton/runtime'

interface Load {
  readonly seconds: number
  /** Appends under way at once (closed loop). */
  readonly callers?: number
  /** Appends per second, evenly spaced (open loop). */
  readonly ratePerSecond?: number
}

const REQUESTS_UNDER_WAY_MAX = 4
/** Records of one task: a handoff leaves several. */
const RECORDS_PER_TASK = 10
/** Left out at the start, while plans, caches and code warm up. */
const WARM_UP_MS = 2_000

const load = JSON.parse(process.argv[2] ?? '{}') as Load
const client = createAuditClient({
  url: process.env['BATON_AUDIT_URL'] ?? '',
  token: process.env['BATON_AUDIT_APPEND_TOKEN'] ?? '',
  timeoutMs: 10_000,
})
const batcher = createBatcher({
  name: 'bench',
  flush: client.append,
  maxItems: 256,
  maxQueued: 100_000,
  flushesMax: REQUESTS_UNDER_WAY_MAX,
})
const latenciesMs: number[] = []
let taskId = randomUUID()
let appended = 0
let counted = 0
let failed = 0
const startedAt = performance.now()

/** `dueAt` is when it should have begun: lateness of the load itself counts as latency. */
async function appendOne(dueAt: number): Promise<void> {
  appended += 1
  if (appended % RECORDS_PER_TASK === 0) taskId = randomUUID()
  try {
    await batcher.add(entryOf({ taskId }))
    if (dueAt - startedAt < WARM_UP_MS) return
    counted += 1
    latenciesMs.push(performance.now() - dueAt)
  } catch {
    failed += 1
  }
}

async function closedLoop(callers: number, until: number): Promise<void> {
  const priorityClass = async (): Promise<void> => {
    while (performance.now() < until) await appendOne(performance.now())
  }
  await Promise.all(Array.from({ length: callers }, priorityClass))
}

async function openLoop(ratePerSecond: number, until: number): Promise<void> {
  const spacingMs = 1_000 / ratePerSecond
  const under: Promise<void>[] = []
  let due = performance.now()
  while (due < until) {
    while (due <= performance.now() && due < until) {
      under.push(appendOne(due))
      due += spacingMs
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(under)
}

const until = startedAt + load.seconds * 1_000
process.stdout.write('ready\n')
if (load.ratePerSecond === undefined) await closedLoop(load.callers ?? 256, until)
else await openLoop(load.ratePerSecond, until)
const seconds = (performance.now() - startedAt - WARM_UP_MS) / 1_000
client.close()
process.stdout.write(`${JSON.stringify({ perSecond: counted / seconds, failed, latenciesMs })}\n`)
