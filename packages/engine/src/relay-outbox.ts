// The relay: claims outbox rows, publishes pointers, marks rows as dispatched and commits. Any number of relays, no leader.
import { randomUUID } from 'node:crypto'
import type { Job, NextWatermark, Pointer, QueueWatermark } from '@baton/protocol'
import { codeOf, crashPoint, every, fullJitterMs } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimOutbox,
  inTransaction,
  listenToOutbox,
  listPriorityClasses,
  markDispatched,
} from '@baton/store'
import type { ClaimQuota, OutboxRow, Pool, PriorityClass } from '@baton/store'
import { exemplarOf, publishAttributes, startSpan } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { QueueWatermarks, Transport } from '@baton/transport'

export interface RelayParts {
  readonly pool: Pool
  readonly databaseUrl: string
  readonly transport: Transport
  /** Where set, only these agent types are relayed (a relay inside a receiver's process). */
  readonly queues?: () => readonly string[]
  /** Above this many waiting jobs a queue's rows wait in Postgres: bounds the queue and what its loss can repeat. */
  readonly waitingMax: number
  readonly metrics: Metrics
  readonly logger: Logger
}

const POLL_MS = 250
/** After a pass that found a crowd, the next waits for company: small sets cost as much as large ones. */
const BATCH_THRESHOLD_ROWS = 4
const BATCHING_DELAY_MS = 20

interface Pass {
  readonly published: number
  /** Whether some priority class gave as much as it was asked for, so that it may hold more. */
  readonly more: boolean
}

/** Publishes everything in the outbox, woken by NOTIFY and by a poll every 250 ms. */
export function createRelay(parts: RelayParts): Service {
  const { pool, transport, logger } = parts
  const quotas = createClassQuotas()
  const highWaterMark = createHighWaterMark({ ...parts, waiting: transport.waiting })
  const watermarkWriter = createWatermarkWriter({
    writeWatermarks: transport.watermarks?.write ?? null,
  })
  let listener: { close(): Promise<void> } | undefined

  // Rows are claimed by deleting them: a relay that dies before its commit has claimed nothing.
  async function pass(): Promise<Pass> {
    const classes = await openClasses(parts, highWaterMark.isOpen)
    if (classes.length === 0) return { published: 0, more: false }
    const asked = quotas.of(classes)
    return inTransaction(pool, async (transaction) => {
      const rows = await claimOutbox(transaction, asked)
      if (rows.length === 0) return { published: 0, more: false }
      crashPoint('relay.after_claim')
      await publishRows(parts, rows)
      const watermarks = await watermarkWriter.write(rows)
      crashPoint('relay.after_publish')
      quotas.seen(rows)
      highWaterMark.published(rows)
      const ids = rows.map((row) => row.handoffId)
      await markDispatched(transaction, ids, watermarks)
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
      if (published >= BATCH_THRESHOLD_ROWS)
        await new Promise((resolve) => setTimeout(resolve, BATCHING_DELAY_MS))
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

/** The priority classes that this relay serves and whose queue takes more. */
async function openClasses(
  { pool, queues }: RelayParts,
  isOpen: (queue: string) => Promise<boolean>,
): Promise<readonly PriorityClass[]> {
  const classes = await listPriorityClasses(pool)
  const mine =
    queues === undefined ? classes : classes.filter(({ queue }) => queues().includes(queue))
  const open = await Promise.all(mine.map(({ queue }) => isOpen(queue)))
  return mine.filter((_, index) => open[index])
}

/** As many as the SDK keeps of one span where nothing else is set. */
const LINKS_MAX = 128

// A trace of its own: it belongs to as many as it has rows, and each keeps the context that its sender made.
async function publishRows(
  { transport, metrics }: RelayParts,
  rows: readonly OutboxRow[],
): Promise<void> {
  const attributes = publishAttributes({ queue: transport.kind, rows })
  const destination = attributes['messaging.destination.name']
  const span = startSpan({
    name: destination === undefined ? 'publish' : `publish ${destination}`,
    kind: 'client',
    links: rows.slice(0, LINKS_MAX).map((row) => row.traceparent),
    attributes: { ...attributes, 'baton.hop': 'outbox' },
  })
  try {
    await transport.publish(rows.map(toJob))
    span.end()
  } catch (error) {
    span.end({ error: codeOf(error) })
    throw error
  }
  const now = Date.now()
  for (const row of rows) {
    const seconds = Math.max(0, now - row.createdAt.getTime()) / 1000
    metrics.hopSeconds.outbox.observe(seconds, exemplarOf(row.traceparent))
  }
}

function toJob(row: OutboxRow): Job {
  const { handoffId, taskId, publishAttempt, bytes, traceparent, tracestate } = row
  const pointer: Pointer = {
    v: 1,
    handoffId,
    taskId,
    publishAttempt,
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
const HIGH_WATER_CHECK_MS = 250

const classKey = (priorityClass: PriorityClass): string =>
  `${priorityClass.priority} ${priorityClass.queue}`

interface ClassQuotas {
  /** Quotas for one claim over these priority classes. */
  of(classes: readonly PriorityClass[]): ClaimQuota[]
  /** Remembers how far the relay has come. */
  seen(rows: readonly OutboxRow[]): void
}

/**
 * Starts each priority class's scan shortly before the last row seen, off the dead rows that a long snapshot
 * keeps. A full scan every 10 s finds what committed late with a low number.
 */
export function createClassQuotas(now: () => number = () => performance.now()): ClassQuotas {
  const lastSeq = new Map<string, number>()
  let fullScanAt = -Infinity
  return {
    of(classes) {
      const full = now() - fullScanAt > FULL_SCAN_MS
      if (full) fullScanAt = now()
      const total = classes.reduce((sum, priorityClass) => sum + weightOf(priorityClass), 0)
      return classes.map((priorityClass) => ({
        ...priorityClass,
        afterSeq: full ? 0 : Math.max(0, (lastSeq.get(classKey(priorityClass)) ?? 0) - HINT_SLACK),
        limit: Math.max(1, Math.floor((BATCH_MAX * weightOf(priorityClass)) / total)),
      }))
    },
    seen(rows) {
      for (const row of rows) {
        const key = classKey(row)
        lastSeq.set(key, Math.max(row.seq, lastSeq.get(key) ?? 0))
      }
    },
  }
}

/** Whether some priority class gave as many rows as it was asked for. */
export function isFilled(quotas: readonly ClaimQuota[], rows: readonly OutboxRow[]): boolean {
  const counts = new Map<string, number>()
  for (const row of rows) counts.set(classKey(row), (counts.get(classKey(row)) ?? 0) + 1)
  return quotas.some((quota) => (counts.get(classKey(quota)) ?? 0) >= quota.limit)
}

const weightOf = (priorityClass: PriorityClass): number => WEIGHTS[priorityClass.priority] ?? 1

interface HighWaterMarkParts {
  readonly waitingMax: number
  /** How many jobs wait in a queue. */
  waiting(queue: string): Promise<number>
}

/**
 * Tells whether a queue is below its high-water mark; asks at most every 250 ms per queue, and at
 * once when what was published since may have reached it.
 */
export function createHighWaterMark({ waitingMax, waiting }: HighWaterMarkParts) {
  const known = new Map<string, { readonly checkedAt: number; open: boolean; count: number }>()
  return {
    async isOpen(queue: string): Promise<boolean> {
      const last = known.get(queue)
      const at = performance.now()
      const isFresh = last !== undefined && at - last.checkedAt < HIGH_WATER_CHECK_MS
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

interface WatermarkWriterDeps {
  /** Null where a queue cannot lose its end. */
  readonly writeWatermarks: QueueWatermarks['write'] | null
}

interface WatermarkWriter {
  /** Writes a watermark behind what was just published; answers the watermarks to keep in Postgres. */
  write(published: readonly { readonly queue: string }[]): Promise<readonly QueueWatermark[]>
}

/** Agent types come from messages: beyond this many, rows of watermarks begin anew. */
const QUEUES_MAX = 1_000

/**
 * Each watermark is written only over its own predecessor. Where that is gone, or a write was not
 * answered, a new row of watermarks begins, and the old one stays in Postgres for the detector to miss.
 */
export function createWatermarkWriter({ writeWatermarks }: WatermarkWriterDeps): WatermarkWriter {
  const latest = new Map<string, QueueWatermark>()

  function next(queue: string): NextWatermark {
    const last = latest.get(queue)
    latest.delete(queue)
    if (last === undefined) return { queue, relay: randomUUID(), watermark: 1, previous: null }
    return { queue, relay: last.relay, watermark: last.watermark + 1, previous: last.watermark }
  }

  async function writeOnce(queues: readonly string[]): Promise<readonly string[]> {
    if (queues.length === 0 || writeWatermarks === null) return []
    const watermarks = queues.map(next)
    const written = await writeWatermarks(watermarks)
    for (const [index, { queue, relay, watermark }] of watermarks.entries()) {
      if (written[index] === true) latest.set(queue, { queue, relay, watermark })
    }
    return queues.filter((_, index) => written[index] !== true)
  }

  return {
    async write(published) {
      if (latest.size > QUEUES_MAX) latest.clear()
      const queues = [...new Set(published.map(({ queue }) => queue))]
      const broken = await writeOnce(queues)
      await writeOnce(broken)
      return queues.flatMap((queue) => latest.get(queue) ?? [])
    },
  }
}
