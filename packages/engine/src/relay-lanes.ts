// How a relay shares one claim out over queues and priorities, and where it starts to look.
import type { ClaimQuota, OutboxLane, OutboxRow } from '@baton/store'

/** Most rows in one claim. */
export const BATCH_MAX = 200
/** Shares of priorities 0 to 3, so that 3 always moves. */
const WEIGHTS = [8, 4, 2, 1] as const
const HINT_SLACK = 5_000
/** As long as the longest transaction lives. Behind a long snapshot each full scan reads all dead rows. */
const FULL_SCAN_MS = 10_000
const WATER_CHECK_MS = 250

const laneKey = (lane: OutboxLane): string => `${lane.priority} ${lane.queue}`

export interface LaneQuotas {
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
