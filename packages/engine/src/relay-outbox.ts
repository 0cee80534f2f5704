// The relay: claims outbox rows, publishes pointers, marks rows as dispatched and commits. Any number of relays, no leader.
import { randomUUID } from 'node:crypto'
import type { Job, NextWatermark, Pointer, QueueWatermark } from '@baton/protocol'
import { codeOf, crashPoint, every, fullJitterMs } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import {
  claimOutbox,
  inTransaction,
  listClassesOf,
  listenToOutbox,
  listPriorityClasses,
  markDispatched,
} from '@baton/store'
import type { OutboxRow, Pool, PriorityClass } from '@baton/store'
import { exemplarOf, publishAttributes, startSpan } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { QueueWatermarks, Transport } from '@baton/transport'
import { createAwayQueues } from './away-queues.ts'
import type { AwayQueues } from './away-queues.ts'
import { createClassQuotas, createTurns, isFilled } from './claim-shares.ts'
import type { Turns } from './claim-shares.ts'

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
  const turns = createTurns()
  const highWaterMark = createHighWaterMark({ waiting: transport.waiting })
  const away = createAwayQueues({ ask: transport.waiting, logger })
  const watermarkWriter = createWatermarkWriter({
    writeWatermarks: transport.watermarks?.write ?? null,
  })
  let listener: { close(): Promise<void> } | undefined

  // Rows are claimed by deleting them: a relay that dies before its commit has claimed nothing.
  async function pass(): Promise<Pass> {
    const { classes, skipped } = await openClasses(parts, {
      turns,
      away,
      isOpen: highWaterMark.isOpen,
    })
    if (classes.length === 0) return { published: 0, more: false }
    const asked = quotas.of(classes)
    return inTransaction(pool, async (transaction) => {
      const rows = await claimOutbox(transaction, asked)
      if (rows.length === 0) return { published: 0, more: false }
      crashPoint('relay.after_claim')
      await publishRows(parts, away, rows)
      const watermarks = await watermarkWriter.write(rows)
      crashPoint('relay.after_publish')
      quotas.seen(rows)
      highWaterMark.published(rows)
      const ids = rows.map((row) => row.handoffId)
      await markDispatched(transaction, ids, watermarks)
      crashPoint('relay.after_update')
      return { published: rows.length, more: skipped || isFilled(asked, rows) }
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

interface Opening {
  readonly turns: Turns
  readonly away: AwayQueues
  isOpen(queue: string, waitingMax: number): Promise<boolean>
}

interface OpenClasses {
  readonly classes: readonly PriorityClass[]
  /** Whether some were left out that a later pass serves. */
  readonly skipped: boolean
}

/** The priority classes that this relay serves now and whose queue takes more. Rejects where the server of none answers. */
async function openClasses(
  { pool, queues, waitingMax }: RelayParts,
  { turns, away, isOpen }: Opening,
): Promise<OpenClasses> {
  const { classes, skipped } =
    queues === undefined
      ? turns.of(await listPriorityClasses(pool, turns.listing()))
      : { classes: await listClassesOf(pool, queues()), skipped: false }
  const present = await answering(classes, away)
  const open = await Promise.all(
    present.map(({ queue, granted }) =>
      isOpen(queue, granted ? Math.min(GRANTED_WAITING_MAX, waitingMax) : waitingMax).catch(
        (error: unknown) => {
          away.left(queue, error)
          return false
        },
      ),
    ),
  )
  requireOneOf(present, away)
  return { classes: present.filter((_, index) => open[index]), skipped }
}

// Nobody waits for those that are away, except where there is nobody else.
async function answering<Class extends PriorityClass>(
  classes: readonly Class[],
  away: AwayQueues,
): Promise<readonly Class[]> {
  const asked = [...new Set(classes.map(({ queue }) => queue))].filter(away.has)
  const answers = asked.map(away.askAgain)
  if (classes.every(({ queue }) => away.has(queue))) {
    await Promise.all(answers)
    requireOneOf(classes, away)
  }
  return classes.filter(({ queue }) => !away.has(queue))
}

function requireOneOf(classes: readonly PriorityClass[], away: AwayQueues): void {
  const [first] = classes
  if (first !== undefined && classes.every(({ queue }) => away.has(queue)))
    throw away.reasonOf(first.queue)
}

/** As many as the SDK keeps of one span where nothing else is set. */
const LINKS_MAX = 128

// A trace of its own: it belongs to as many as it has rows, and each keeps the context that its sender made.
async function publishRows(
  { transport, metrics }: RelayParts,
  away: AwayQueues,
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
    await publishEach(transport, away, rows)
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

// One server of several that is away then keeps only its own rows: these are taken back with all others once, and not claimed again.
async function publishEach(
  transport: Transport,
  away: AwayQueues,
  rows: readonly OutboxRow[],
): Promise<void> {
  const byQueue = [...Map.groupBy(rows, ({ queue }) => queue)]
  const published = byQueue.map(async ([queue, group]) => {
    try {
      await transport.publish(group.map(toJob))
    } catch (error) {
      away.left(queue, error)
      throw error
    }
  })
  await Promise.allSettled(published)
  await Promise.all(published)
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

/**
 * Above so many waiting jobs, what one tenant sends to another's agent type waits in Postgres, where tenants take turns:
 * a queue server knows none, and whose the type is would wait there behind all of it.
 */
const GRANTED_WAITING_MAX = 64
const HIGH_WATER_CHECK_MS = 250

interface HighWaterMarkParts {
  /** How many jobs wait in a queue. */
  waiting(queue: string): Promise<number>
}

/**
 * Tells whether fewer jobs wait in a queue than a mark says; asks at most every 250 ms per queue, and at
 * once when what was published since may have reached the mark.
 */
export function createHighWaterMark({ waiting }: HighWaterMarkParts) {
  const known = new Map<
    string,
    { readonly checkedAt: number; readonly counted: number; count: number }
  >()
  return {
    async isOpen(queue: string, waitingMax: number): Promise<boolean> {
      const last = known.get(queue)
      const at = performance.now()
      if (last !== undefined && at - last.checkedAt < HIGH_WATER_CHECK_MS) {
        if (last.counted >= waitingMax) return false
        if (last.count < waitingMax) return true
      }
      const counted = await waiting(queue)
      known.set(queue, { checkedAt: at, counted, count: counted })
      return counted < waitingMax
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
