// The relay: claims outbox rows, publishes pointers, marks and commits. Any number of relays, no leader.
import type { ClaimQuota, OutboxLane, OutboxRow } from '@baton/store'
import type { Job, NextMark, Pointer, QueueMark } from '@baton/protocol'
import { codeOf, crashPoint, fullJitterMs } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { startSpan } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { createMarker } from './relay-marks.ts'
import { createLaneQuotas, createWaterGauge, isFilled } from './relay-lanes.ts'

export interface RelayDeps {
  listLanes(): Promise<readonly OutboxLane[]>
  /** Claims rows, marks them dispatched and keeps the marks, in one transaction around `publish`. */
  claimAndPublish(
    quotas: readonly ClaimQuota[],
    publish: (rows: readonly OutboxRow[]) => Promise<readonly QueueMark[]>,
  ): Promise<number>
  publish(jobs: readonly Job[]): Promise<void>
  /** Writes marks behind what was published; null where a queue cannot lose its tail. */
  readonly writeMarks: ((marks: readonly NextMark[]) => Promise<readonly boolean[]>) | null
  /** How many jobs wait in a queue. */
  waiting(queue: string): Promise<number>
  /** Calls `wake` when there may be work; only a hint. */
  listen(wake: () => void): { close(): Promise<void> }
  /** Above this many waiting jobs a queue's rows wait in Postgres: bounds the queue and what its loss can repeat. */
  readonly waitingMax: number
  /** Where set, only these queues are relayed (a relay inside a receiver's process). */
  readonly queues?: readonly string[]
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
export function createRelay(deps: RelayDeps): Service {
  const quotas = createLaneQuotas()
  const gauge = createWaterGauge(deps)
  const marker = createMarker(deps)
  let stopping = false
  let wake: () => void = () => undefined
  let loop: Promise<void> = Promise.resolve()
  let listener: { close(): Promise<void> } | undefined

  async function pass(): Promise<Pass> {
    const lanes = await openLanes(deps, gauge.isOpen)
    if (lanes.length === 0) return { published: 0, more: false }
    const asked = quotas.of(lanes)
    let more = false
    const published = await deps.claimAndPublish(asked, async (rows) => {
      crashPoint('relay.after_claim')
      await publishRows(deps, rows)
      const marks = await marker.mark(rows)
      crashPoint('relay.after_publish')
      quotas.seen(rows)
      gauge.published(rows)
      more = isFilled(asked, rows)
      return marks
    })
    return { published, more }
  }

  function idle(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function run(): Promise<void> {
    let failures = 0
    while (!stopping) {
      // Armed before the pass, so that a NOTIFY that comes during it is not missed.
      const woken = idle(POLL_MS)
      try {
        const { published, more } = await pass()
        if (published > 0) crashPoint('relay.after_commit')
        failures = 0
        if (more) continue
        if (published >= CROWD_ROWS) await idleFor(LINGER_MS)
        await woken
      } catch (error) {
        failures += 1
        deps.logger.warn({ event: 'relay.failed', code: codeOf(error), failures })
        await idle(50 + fullJitterMs(failures, { baseMs: 100, capMs: 1_000 }))
      }
    }
  }

  return {
    name: 'relay',
    async start() {
      listener = deps.listen(() => wake())
      loop = run()
    },
    async stop() {
      stopping = true
      wake()
      await loop
      await listener?.close()
    },
  }
}

const idleFor = (waitMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, waitMs))

async function publishRows(deps: RelayDeps, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return
  const span = startSpan({
    name: 'publish',
    kind: 'producer',
    links: rows.slice(0, 32).map((row) => row.traceparent),
    attributes: { 'messaging.batch.message_count': rows.length },
  })
  try {
    await deps.publish(rows.map(toJob))
  } finally {
    span.end()
  }
  const now = Date.now()
  for (const row of rows) {
    deps.metrics.hopSeconds.outbox.observe(Math.max(0, now - row.createdAt.getTime()) / 1000)
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

async function openLanes(
  deps: RelayDeps,
  isOpen: (queue: string) => Promise<boolean>,
): Promise<readonly OutboxLane[]> {
  const lanes = await deps.listLanes()
  const { queues } = deps
  const mine = queues === undefined ? lanes : lanes.filter((lane) => queues.includes(lane.queue))
  const open = await Promise.all(mine.map((lane) => isOpen(lane.queue)))
  return mine.filter((_, index) => open[index])
}
