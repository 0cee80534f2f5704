// Who gets how much of a relay's next claim: tenants share it equally, and the priority classes of each by their weight.
import type { ClaimQuota, ClassListing, OutboxRow, PriorityClass, WaitingClass } from '@baton/store'

/** Most rows in one claim. */
export const BATCH_MAX = 200
/** Shares of priorities 0 to 3, so that 3 always moves. */
const WEIGHTS = [8, 4, 2, 1] as const
const HINT_SLACK = 5_000
/** As long as the longest transaction lives. Behind a long snapshot each full scan reads all dead rows. */
const FULL_SCAN_MS = 10_000
/** Classes of one tenant in one pass: one that sends to any number of agent types keeps no other waiting. */
const CLASSES_MAX = BATCH_MAX

export interface Turns {
  /** What the next pass lists. */
  listing(): ClassListing
  /** Which of those listed that pass serves; the next one goes on behind them. */
  of(listed: readonly WaitingClass[]): { classes: readonly WaitingClass[]; skipped: boolean }
}

/** Goes through the classes of each tenant in turn, where it has more than one pass serves. */
export function createTurns(classesMax: number = CLASSES_MAX): Turns {
  const after = new Map<string, string>()
  return {
    listing: () => ({ perTenantMax: classesMax, after }),
    of(listed) {
      const left = new Set<PriorityClass>()
      const atEnd = [...after.keys()]
      after.clear()
      for (const [tenant, own] of byTenant(listed)) {
        if (own.length < classesMax) continue
        // Of the last queue not every priority may be listed: it comes first in the next pass, unless it is the only one.
        const last = own.at(-1)?.queue
        const before = own.findLast(({ queue }) => queue !== last)?.queue
        after.set(tenant, before ?? last ?? '')
        if (before !== undefined) for (const one of own) if (one.queue === last) left.add(one)
      }
      const skipped = after.size > 0 || atEnd.length > 0
      return { classes: listed.filter((one) => !left.has(one)), skipped }
    },
  }
}

function byTenant<Class extends PriorityClass>(
  classes: readonly Class[],
): ReadonlyMap<string, readonly Class[]> {
  return Map.groupBy(classes, ({ tenant }) => tenant)
}

const classKey = ({ tenant, queue, priority }: PriorityClass): string =>
  `${priority} ${tenant} ${queue}`

interface ClassQuotas {
  /** Quotas for one claim over these priority classes. */
  of(classes: readonly PriorityClass[]): ClaimQuota[]
  /** Remembers how far the relay has come. */
  seen(rows: readonly OutboxRow[]): void
}

/**
 * Tenants share a claim equally, and the classes of each by priority. Starts each priority class's scan shortly before the
 * last row seen, off the dead rows that a long snapshot keeps. A full scan every 10 s finds what committed late with a low number.
 */
export function createClassQuotas(now: () => number = () => performance.now()): ClassQuotas {
  const lastSeq = new Map<string, number>()
  let fullScanAt = -Infinity
  return {
    of(classes) {
      const full = now() - fullScanAt > FULL_SCAN_MS
      if (full) fullScanAt = now()
      const tenants = byTenant(classes)
      const share = BATCH_MAX / tenants.size
      return [...tenants.values()].flatMap((own) => {
        const total = own.reduce((sum, priorityClass) => sum + weightOf(priorityClass), 0)
        return own.map((priorityClass) => ({
          ...priorityClass,
          afterSeq: full
            ? 0
            : Math.max(0, (lastSeq.get(classKey(priorityClass)) ?? 0) - HINT_SLACK),
          limit: Math.max(1, Math.floor((share * weightOf(priorityClass)) / total)),
        }))
      })
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
