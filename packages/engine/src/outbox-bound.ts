// Says no to new work early, while too much of its tenant's waits, in all or for its agent type, or the oldest of that waits too long (I12).
import { DEFAULT_TENANT } from '@baton/ledger/tenant-names'
import type { AskedQueue, CountBounds, OutboxDepth, QueueDepth } from '@baton/store'
import { transient } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'

/** A handoff for which there is to be room. */
export interface RoomFor {
  readonly agentType: string
  readonly priority: number
  /** Whose it is; null is for whose the agent type is. */
  readonly tenant: string | null
}

/** Throws BATON_OUTBOX_FULL while its tenant has no room in the outbox for a handoff. */
export type RequireRoom = (handoff: RoomFor) => Promise<void>

interface OutboxLimits {
  /** Handoffs of priority 0 of one tenant that may wait for one agent type; 1,000 where it is left out. */
  readonly criticalMax?: number | undefined
  /** Handoffs of one tenant that may wait for one agent type. */
  readonly depthMax: number
  /** Handoffs of one tenant that may wait in all; four times as many as for one agent type where it is left out. */
  readonly tenantMax?: number | undefined
  /** How long the oldest of them may wait. */
  readonly ageMaxMs: number
}

interface OutboxBoundDeps extends OutboxLimits {
  /** How much waits in all, for the metrics: counted a little further than `countMax`. */
  readDepth(countMax: number): Promise<OutboxDepth>
  /** How much of a tenant's waits for each of these agent types, and in all; in order. */
  readQueueDepths(
    queues: readonly AskedQueue[],
    countMax: CountBounds,
  ): Promise<readonly QueueDepth[]>
  readonly metrics: Pick<Metrics, 'outboxDepth' | 'outboxOldestAgeSeconds'>
  readonly now?: () => number
}

/** The defaults of the limits. */
export const OUTBOX_BOUNDS = {
  depthMax: 50_000,
  criticalMax: 1_000,
  tenantMax: 200_000,
  ageMaxMs: 30_000,
} as const

const CRITICAL = 0
/** Priority 0 has a bound of its own for each agent type, and this many times that of the tenant. */
const CRITICAL_TIMES = 2
/** A tenant has this many times what it may have for one agent type, where nothing else is said. */
const TENANT_TIMES = 4
/** What a tenant may have waiting for an agent type that is hosted however much of its own waits for others. */
const RESERVED = 1_000

/** Returns the check that every sender makes before it stores anything. */
export function createOutboxBound(deps: OutboxBoundDeps): RequireRoom {
  const { depthMax, ageMaxMs, tenantMax = TENANT_TIMES * depthMax } = deps
  const { criticalMax = OUTBOX_BOUNDS.criticalMax } = deps
  const limits = { depthMax, ageMaxMs, tenantMax, criticalMax }
  const readings = createReadings({ ...deps, tenantMax, criticalMax })
  return async ({ agentType, tenant, priority }) => {
    const reading = await readings.of({ queue: agentType, tenant })
    const refusal = reading === undefined ? undefined : whyNot(reading, { priority, limits })
    if (refusal !== undefined) throw refusal
  }
}

type Bounds = { readonly [Limit in keyof OutboxLimits]: NonNullable<OutboxLimits[Limit]> }

interface Asked {
  readonly priority: number
  readonly limits: Required<Bounds>
}

/**
 * Why a handoff must wait; undefined where there is room. Each tenant answers for itself, and of its agent types each for itself,
 * so that one which is mistyped, stuck or flooded delays no other. What a tenant has in all is bounded too, for a flood may name any
 * number of types; but a type that a live receiver hosts keeps a reserve which no flood to others can take. Priority 0 waits for
 * no room of others, only for its own. So at most 2 * tenantMax rows of a tenant wait, and 1,000 more for each hosted type.
 */
function whyNot(queue: QueueDepth, { priority, limits }: Asked): BatonError | undefined {
  const isCritical = priority === CRITICAL
  const times = isCritical ? CRITICAL_TIMES : 1
  if (isCritical && queue.criticalDepth >= limits.criticalMax) return criticalFull(queue)
  const isOld = queue.depth > 0 && queue.oldestAgeSeconds * 1_000 > limits.ageMaxMs
  if (!isCritical && (queue.depth > limits.depthMax || isOld)) return queueFull(queue)
  const isReserved = queue.hosted && queue.depth <= Math.min(RESERVED, limits.depthMax)
  const tenantMax = limits.tenantMax * times
  return queue.tenantDepth > tenantMax && !isReserved ? tenantFull(queue, tenantMax) : undefined
}

const full = (detail: string, fix: string): BatonError =>
  transient('BATON_OUTBOX_FULL', detail, { fix })

const LATER = 'Send it again in a while. Add relays or receivers if it lasts.'

function queueFull({ queue, tenant, depth, oldestAgeSeconds, hosted }: QueueDepth): BatonError {
  const counted = depth === 1 ? '1 handoff' : `${depth} handoffs`
  const waiting = `${counted}${tenant === DEFAULT_TENANT ? '' : ` of tenant ${tenant}`} ${depth === 1 ? 'waits' : 'wait'}`
  const detail = `${waiting} for agent type ${JSON.stringify(queue)}, the oldest for ${Math.floor(oldestAgeSeconds)} s`
  if (hosted) return full(detail, LATER)
  return full(
    `${detail}; no live receiver hosts it`,
    'Start a receiver that hosts it, or cancel what waits for it, and send again. If the name is a mistake, send to the right one.',
  )
}

const criticalFull = ({ queue, criticalDepth }: QueueDepth): BatonError =>
  full(
    `${criticalDepth} handoffs of priority 0 wait for agent type ${JSON.stringify(queue)}, and no more may`,
    'Send it again in a while, or with another priority. Start receivers that host the type if it lasts.',
  )

function tenantFull({ queue, tenant, hosted }: QueueDepth, tenantMax: number): BatonError {
  const detail = `more than ${tenantMax} handoffs of tenant ${tenant} wait in all`
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

interface ReadingsDeps extends OutboxBoundDeps {
  readonly tenantMax: number
  readonly criticalMax: number
}

const nameOf = ({ queue, tenant }: AskedQueue): string => `${tenant ?? ''} ${queue}`

/**
 * Knows how much waits. All callers share one reading at a time, of the agent types that were asked for since the
 * one before; while a type has been read lately nobody waits for it. Where nothing can be read the answer is
 * undefined, and the send itself tells why.
 */
function createReadings(deps: ReadingsDeps) {
  const { depthMax, criticalMax, tenantMax, metrics, now = () => performance.now() } = deps
  const countMax = {
    queueMax: depthMax,
    criticalMax,
    tenantMax: tenantMax * CRITICAL_TIMES,
  }
  const asked = new Map<string, AskedQueue>()
  // Those read longest ago come first.
  const known = new Map<string, Timed<QueueDepth>>()
  let wholeUntil: number | undefined
  let reading: Promise<void> | undefined

  async function read(): Promise<void> {
    const queues = [...asked.values()]
    asked.clear()
    const startedAt = now()
    const [inAll, each] = await Promise.all([
      isPast(wholeUntil) ? deps.readDepth(countMax.tenantMax) : undefined,
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
      wholeUntil = now() + freshMs
      metrics.outboxDepth.set(inAll.depth)
      metrics.outboxOldestAgeSeconds.set(inAll.oldestAgeSeconds)
    }
    for (const [index, one] of each.entries()) {
      const name = nameOf(queues[index] ?? one)
      known.delete(name)
      known.set(name, timed(one))
    }
    for (const name of [...known.keys()].slice(0, Math.max(0, known.size - KNOWN_MAX)))
      known.delete(name)
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
  const isStale = (name: string): boolean => isPast(known.get(name)?.staleFrom)

  async function bringUp(queue: AskedQueue): Promise<void> {
    const name = nameOf(queue)
    asked.set(name, queue)
    const current = refresh()
    if (!isStale(name)) return
    await current
    // That reading may have begun before this type was asked for.
    if (isStale(name) && asked.has(name)) await refresh()
  }

  return {
    async of(queue: AskedQueue): Promise<QueueDepth | undefined> {
      const name = nameOf(queue)
      if (isPast(known.get(name)?.freshUntil)) await bringUp(queue)
      return isStale(name) ? undefined : known.get(name)?.value
    },
  }
}
