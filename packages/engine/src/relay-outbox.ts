// The relay: claims outbox rows, publishes pointers, marks and commits. Any number of relays, no leader.
import { randomUUID } from 'node:crypto'
import type { Job, NextMark, Pointer, QueueMark } from '@baton/protocol'
import { codeOf, crashPoint, every, fullJitterMs } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimOutbox,
  inTransaction,
  listOutboxLanes,
  listenToOutbox,
  markDispatched,
} from '@baton/store'
import type { ClaimQuota, OutboxLane, OutboxRow, Pool } from '@baton/store'
import { startSpan } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { QueueMarks, Transport } from '@baton/transport'

export interface RelayParts {
  readonly pool: Pool
  readonly databaseUrl: string
  readonly transport: Transport
  /** Where set, only these agent types are relayed (a relay inside a receiver's process). */
  readonly queues?: readonly string[]
  /** Above this many waiting jobs a queue's rows wait in Postgres: bounds the queue and what its loss can repeat. */
  readonly waitingMax: number
  readonly metrics: Metrics
  readonly logger: Logger
}

const POLL_MS = 250
/** After a pass that found a crowd, the next waits for company: small sets cost as much as large ones. */
const CROWD_ROWS = 4
const LINGER_MS = 20

interface Pass {
  readonly published: number
  /** Whether some lane gave as much as it was asked for, so that it may hold more. */
  readonly more: boolean
}

/** Publishes everything in the outbox, woken by NOTIFY and by a poll every 250 ms. */
export function createRelay(parts: RelayParts): Service {
  const { pool, transport, logger } = parts
  const quotas = createLaneQuotas()
  const gauge = createWaterGauge({ ...parts, waiting: (queue) => transport.waiting(queue) })
  const marker = createMarker({ writeMarks: transport.marks?.write ?? null })
  let listener: { close(): Promise<void> } | undefined

  // Rows are claimed by deleting them: a relay that dies before its commit has claimed nothing.
  async function pass(): Promise<Pass> {
    const lanes = await openLanes(parts, gauge.isOpen)
    if (lanes.length === 0) return { published: 0, more: false }
    const asked = quotas.of(lanes)
    return inTransaction(pool, async (transaction) => {
      const rows = await claimOutbox(transaction, asked)
      if (rows.length === 0) return { published: 0, more: false }
      crashPoint('relay.after_claim')
      await publishRows(parts, rows)
      const marks = await marker.mark(rows)
      crashPoint('relay.after_publish')
      quotas.seen(rows)
      gauge.published(rows)
      const ids = rows.map((row) => row.handoffId)
      await markDispatched(transaction, ids, marks)
      crashPoint('relay.after_update')
      return { published: rows.length, more: isFilled(asked, rows) }
    })
  }

  const passes = every({
    name: 'relay',
    everyMs: POLL_MS,
    async run() {
      const { published, more } = await pass()
      if (published > 0) crashPoint('relay.after_commit')
      if (more) return 0
      if (published >= CROWD_ROWS) await new Promise((resolve) => setTimeout(resolve, LINGER_MS))
      return POLL_MS
    },
    failed(error, failures) {
      logger.warn({ event: 'relay.failed', code: codeOf(error), failures })
      return 50 + fullJitterMs(failures, { baseMs: 100, capMs: 1_000 })
    },
  })
  return {
    name: passes.name,
    async start() {
      listener = listenToOutbox({ url: parts.databaseUrl, onWake: passes.wake })
      await passes.start()
    },
    async stop() {
      await passes.stop()
      await listener?.close()
    },
  }
}

/** The lanes that this relay serves and whose queue takes more. */
async function openLanes(
  { pool, queues }: RelayParts,
  isOpen: (queue: string) => Promise<boolean>,
): Promise<readonly OutboxLane[]> {
  const lanes = await listOutboxLanes(pool)
  const mine = queues === undefined ? lanes : lanes.filter(({ queue }) => queues.includes(queue))
  const open = await Promise.all(mine.map(({ queue }) => isOpen(queue)))
  return mine.filter((_, index) => open[index])
}

async function publishRows(
  { transport, metrics }: RelayParts,
  rows: readonly OutboxRow[],
): Promise<void> {
  const span = startSpan({
    name: 'publish',
    kind: 'producer',
    links: rows.slice(0, 32).map((row) => row.traceparent),
    attributes: { 'messaging.batch.message_count': rows.length },
  })
  try {
    await transport.publish(rows.map(toJob))
  } finally {
    span.end()
  }
  const now = Date.now()
  for (const row of rows) {
    metrics.hopSeconds.outbox.observe(Math.max(0, now - row.createdAt.getTime()) / 1000)
  }
}

function toJob(row: OutboxRow): Job {
  const { handoffId, taskId, generation, bytes, traceparent, tracestate } = row
  const pointer: Pointer = {
    v: 1,
    handoffId,
    taskId,
    generation,
    sha256: Buffer.from(row.sha256).toString('hex'),
    bytes,
    traceparent,
    ...(tracestate === null ? {} : { tracestate }),
  }
  return { queue: row.queue, priority: row.priority, pointer }
}

/** Most rows in one claim. */
export const BATCH_MAX = 200
/** Shares of priorities 0 to 3, so that 3 always moves. */
const WEIGHTS = [8, 4, 2, 1] as const
const HINT_SLACK = 5_000
/** As long as the longest transaction lives. Behind a long snapshot each full scan reads all dead rows. */
const FULL_SCAN_MS = 10_000
const WATER_CHECK_MS = 250

const laneKey = (lane: OutboxLane): string => `${lane.priority} ${lane.queue}`

interface LaneQuotas {
  /** Quotas for one claim over these lanes. */
  of(lanes: readonly OutboxLane[]): ClaimQuota[]
  /** Remembers how far the relay has come. */
  seen(rows: readonly OutboxRow[]): void
}

/**
 * Starts each lane's scan shortly before the last row seen, off the dead rows that a long snapshot
 * keeps. A full scan every 10 s finds what committed late with a low number.
 */
export function createLaneQuotas(now: () => number = () => performance.now()): LaneQuotas {
  const lastSeq = new Map<string, number>()
  let fullScanAt = -Infinity
  return {
    of(lanes) {
      const full = now() - fullScanAt > FULL_SCAN_MS
      if (full) fullScanAt = now()
      const total = lanes.reduce((sum, lane) => sum + weightOf(lane), 0)
      return lanes.map((lane) => ({
        ...lane,
        afterSeq: full ? 0 : Math.max(0, (lastSeq.get(laneKey(lane)) ?? 0) - HINT_SLACK),
        limit: Math.max(1, Math.floor((BATCH_MAX * weightOf(lane)) / total)),
      }))
    },
    seen(rows) {
      for (const row of rows) {
        const key = laneKey(row)
        lastSeq.set(key, Math.max(row.seq, lastSeq.get(key) ?? 0))
      }
    },
  }
}

/** Whether some lane gave as many rows as it was asked for. */
export function isFilled(quotas: readonly ClaimQuota[], rows: readonly OutboxRow[]): boolean {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(laneKey(row), (counts.get(laneKey(row)) ?? 0) + 1)
  return quotas.some((quota) => (counts.get(laneKey(quota)) ?? 0) >= quota.limit)
}

const weightOf = (lane: OutboxLane): number => WEIGHTS[lane.priority] ?? 1

interface WaterLine {
  readonly waitingMax: number
  /** How many jobs wait in a queue. */
  waiting(queue: string): Promise<number>
}

/**
 * Tells whether a queue is below its high-water mark; asks at most every 250 ms per queue, and at
 * once when what was published since may have reached the mark.
 */
export function createWaterGauge({ waitingMax, waiting }: WaterLine) {
  const known = new Map<string, { readonly checkedAt: number; open: boolean; count: number }>()
  return {
    async isOpen(queue: string): Promise<boolean> {
      const last = known.get(queue)
      const at = performance.now()
      const isFresh = last !== undefined && at - last.checkedAt < WATER_CHECK_MS
      if (isFresh && (!last.open || last.count < waitingMax)) return last.open
      const count = await waiting(queue)
      const open = count < waitingMax
      known.set(queue, { checkedAt: at, open, count })
      return open
    },
    published(rows: readonly { readonly queue: string }[]): void {
      for (const { queue } of rows) {
        const last = known.get(queue)
        if (last !== undefined) last.count += 1
      }
    },
  }
}

interface MarkerDeps {
  /** Null where a queue cannot lose its end. */
  readonly writeMarks: QueueMarks['write'] | null
}

interface Marker {
  /** Marks the queues of what was just published; answers the marks to keep in Postgres. */
  mark(published: readonly { readonly queue: string }[]): Promise<readonly QueueMark[]>
}

/** Agent types come from messages: beyond this many, rows of marks begin anew. */
const QUEUES_MAX = 1_000

/**
 * Each mark is written only over its own predecessor. Where that is gone, or a write was not
 * answered, a new row of marks begins, and the old one stays in Postgres for the detector to miss.
 */
export function createMarker({ writeMarks }: MarkerDeps): Marker {
  const latest = new Map<string, QueueMark>()

  function next(queue: string): NextMark {
    const last = latest.get(queue)
    latest.delete(queue)
    if (last === undefined) return { queue, relay: randomUUID(), mark: 1, previous: null }
    return { queue, relay: last.relay, mark: last.mark + 1, previous: last.mark }
  }

  async function write(queues: readonly string[]): Promise<readonly string[]> {
    if (queues.length === 0 || writeMarks === null) return []
    const marks = queues.map(next)
    const written = await writeMarks(marks)
    for (const [index, { queue, relay, mark }] of marks.entries()) {
      if (written[index] === true) latest.set(queue, { queue, relay, mark })
    }
    return queues.filter((_, index) => written[index] !== true)
  }

  return {
    async mark(published) {
      if (latest.size > QUEUES_MAX) latest.clear()
      const queues = [...new Set(published.map(({ queue }) => queue))]
      const broken = await write(queues)
      await write(broken)
      return queues.flatMap((queue) => latest.get(queue) ?? [])
    },
  }
}
