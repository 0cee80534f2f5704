// Says no to new work early, while too much waits for its agent type or the oldest waits too long (I12).
import type { OutboxDepth, QueueDepth } from '@baton/store'
import { transient } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

/** Throws BATON_OUTBOX_FULL while the outbox has no room for a handoff of this agent type and priority. */
export type RequireRoom = (agentType: string, priority: number) => Promise<void>

interface OutboxLimits {
  /** Handoffs that may wait for one agent type. */
  readonly depthMax: number
  /** How long the oldest of them may wait. */
  readonly ageMaxMs: number
}

interface OutboxBoundDeps extends OutboxLimits {
  /** How much waits in all, counted a little further than `countMax`. */
  readDepth(countMax: number): Promise<OutboxDepth>
  /** The same for each of these agent types. */
  readQueueDepths(queues: readonly string[], countMax: number): Promise<readonly QueueDepth[]>
  readonly metrics: Pick<Metrics, 'outboxDepth' | 'outboxOldestAgeSeconds'>
  readonly now?: () => number
}

/** The defaults of both limits. */
export const OUTBOX_BOUNDS = { depthMax: 50_000, ageMaxMs: 30_000 } as const

const CRITICAL = 0
/** Priority 0 passes every limit of age, and this many times every limit of depth. */
const CRITICAL_TIMES = 2
/** The whole outbox holds this many times what one agent type may have. */
const WHOLE_TIMES = 4
/** What an agent type that is hosted may have waiting however full the whole is. */
const RESERVED = 1_000

/** Returns the check that every sender makes before it stores anything. */
export function createOutboxBound(deps: OutboxBoundDeps): RequireRoom {
  const readings = createReadings(deps)
  return async (agentType, priority) => {
    const reading = await readings.of(agentType)
    const refusal = reading === undefined ? undefined : whyNot(reading, { priority, limits: deps })
    if (refusal !== undefined) throw refusal
  }
}

interface Reading {
  readonly whole: OutboxDepth
  readonly queue: QueueDepth
}

interface Asked {
  readonly priority: number
  readonly limits: OutboxLimits
}

/**
 * Why a handoff must wait; undefined where there is room. An agent type answers for itself, so that one
 * which is mistyped, stuck or flooded delays no other. The whole is bounded too, for a flood may name any number
 * of types; but a type that a live receiver hosts keeps a reserve which no flood to others can take. So at most
 * 2 * 4 * depthMax rows wait, and 1,000 more for each hosted type.
 */
function whyNot({ whole, queue }: Reading, { priority, limits }: Asked): BatonError | undefined {
  const isCritical = priority === CRITICAL
  const depthMax = limits.depthMax * (isCritical ? CRITICAL_TIMES : 1)
  const isOld = queue.depth > 0 && queue.oldestAgeSeconds * 1_000 > limits.ageMaxMs
  if (queue.depth > depthMax || (isOld && !isCritical)) return queueFull(queue)
  const isReserved = queue.hosted && queue.depth <= Math.min(RESERVED, limits.depthMax)
  const wholeMax = depthMax * WHOLE_TIMES
  return whole.depth > wholeMax && !isReserved ? outboxFull(queue, wholeMax) : undefined
}

const full = (detail: string, fix: string): BatonError =>
  transient('BATON_OUTBOX_FULL', detail, { fix })

const LATER = 'Send it again in a while. Add relays or receivers if it lasts.'

function queueFull({ queue, depth, oldestAgeSeconds, hosted }: QueueDepth): BatonError {
  const waiting = depth === 1 ? '1 handoff waits' : `${depth} handoffs wait`
  const detail = `${waiting} for agent type ${JSON.stringify(queue)}, the oldest for ${Math.floor(oldestAgeSeconds)} s`
  if (hosted) return full(detail, LATER)
  return full(
    `${detail}; no live receiver hosts it`,
    'Start a receiver that hosts it, or cancel what waits for it, and send again. If the name is a mistake, send to the right one.',
  )
}

function outboxFull({ queue, hosted }: QueueDepth, wholeMax: number): BatonError {
  const detail = `more than ${wholeMax} handoffs wait in all`
  if (hosted) return full(detail, LATER)
  return full(
    `${detail}; no live receiver hosts agent type ${JSON.stringify(queue)}`,
    'Start a receiver that hosts it, and send again in a while.',
  )
}

const FRESH_MS = 250
const FRESH_MS_MAX = 5_000
/** Counting takes at most about a tenth of one connection's time, however much there is to count. */
const FRESH_TIMES_COUNTING = 10
/** So many times older than fresh, a reading says nothing any more and a caller waits for the next. */
const STALE_TIMES = 4
/** Agent types whose last reading is kept. */
const KNOWN_MAX = 1_000

interface Timed<Value> {
  readonly value: Value
  readonly freshUntil: number
  readonly staleFrom: number
}

/**
 * Knows how much waits. All callers share one reading at a time, of the agent types that were asked for since the
 * one before; while a type has been read lately nobody waits for it. Where nothing can be read the answer is
 * undefined, and the send itself tells why.
 */
function createReadings(deps: OutboxBoundDeps) {
  const { depthMax, metrics, now = () => performance.now() } = deps
  const asked = new Set<string>()
  // Those read longest ago come first.
  const known = new Map<string, Timed<QueueDepth>>()
  let whole: Timed<OutboxDepth> | undefined
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const queues = [...asked]
    asked.clear()
    const startedAt = now()
    const countMax = depthMax * CRITICAL_TIMES
    const [inAll, each] = await Promise.all([
      isPast(whole?.freshUntil) ? deps.readDepth(countMax * WHOLE_TIMES) : undefined,
      deps.readQueueDepths(queues, countMax),
    ])
    const tookMs = now() - startedAt
    const freshMs = Math.min(FRESH_MS_MAX, Math.max(FRESH_MS, FRESH_TIMES_COUNTING * tookMs))
    const timed = <Value>(value: Value): Timed<Value> => ({
      value,
      freshUntil: now() + freshMs,
      staleFrom: now() + STALE_TIMES * freshMs,
    })
    if (inAll !== undefined) {
      whole = timed(inAll)
      metrics.outboxDepth.set(inAll.depth)
      metrics.outboxOldestAgeSeconds.set(inAll.oldestAgeSeconds)
    }
    for (const one of each) {
      known.delete(one.queue)
      known.set(one.queue, timed(one))
    }
    for (const queue of [...known.keys()].slice(0, Math.max(0, known.size - KNOWN_MAX)))
      known.delete(queue)
  }

  function refresh(): Promise<void> {
    reading ??= read()
      .catch(() => undefined)
      .finally(() => {
        reading = undefined
      })
    return reading
  }

  const isPast = (at = -Infinity): boolean => now() > at
  const isStale = (queue: string): boolean =>
    isPast(whole?.staleFrom) || isPast(known.get(queue)?.staleFrom)

  async function bringUp(queue: string): Promise<void> {
    asked.add(queue)
    const current = refresh()
    if (!isStale(queue)) return
    await current
    // That reading may have begun before this type was asked for.
    if (isStale(queue) && asked.has(queue)) await refresh()
  }

  return {
    async of(agentType: string): Promise<Reading | undefined> {
      if (isPast(whole?.freshUntil) || isPast(known.get(agentType)?.freshUntil))
        await bringUp(agentType)
      const queue = known.get(agentType)?.value
      if (isStale(agentType) || whole === undefined || queue === undefined) return undefined
      return { whole: whole.value, queue }
    },
  }
}
