// Executions that went on although their handoff had long been claimed again and nothing kept them from hearing it.
import type { LedgerLine } from './effect-ledger.ts'
import { groupBy } from './evidence.ts'
import type { Evidence } from './evidence.ts'

/** Within a third of a lease the next heartbeat tells an execution that it has been overtaken. */
const HEARD_WITHIN_LEASES = 0.9
/** A process whose agent writes this often is awake. */
const AWAKE_GAP_MS = 400
/** How long a fault on the way to Postgres keeps statements waiting after it has healed: one beat later at most. */
const AFTERMATH_MS = 3_500
/** A silent connection is given up only by the time-out of the statement. */
const SILENCE_AFTERMATH_MS = 7_000

/** Each with its fencing token and how long it went on. */
export function overdueExecutions(evidence: Evidence): readonly string[] {
  const byHandoff = groupBy(evidence.ledger, (line) => line.handoffId)
  return [...byHandoff].flatMap(([handoffId, lines]) => {
    const starts = lines.filter((line) => line.what === 'start')
    return starts.slice(0, -1).flatMap((start) => {
      const next = starts.find((other) => other.fencingToken > start.fencingToken)
      if (next === undefined) return []
      const own = lines.filter(
        (line) => line.fencingToken === start.fencingToken && line.at > next.at,
      )
      const wentOnMs = awakeStretchMs(own, evidence)
      if (wentOnMs <= evidence.limits.leaseMs * HEARD_WITHIN_LEASES) return []
      return [
        `fencing token ${start.fencingToken} went on for ${Math.round(wentOnMs)} ms after fencing token ${next.fencingToken} began: ${handoffId}`,
      ]
    })
  })
}

/** The longest stretch of lines in which the process was awake and nothing stood between it and Postgres. */
function awakeStretchMs(lines: readonly LedgerLine[], evidence: Evidence): number {
  let longest = 0
  let from = lines[0]?.at ?? 0
  let last = from
  for (const { at } of lines) {
    if (at - last > AWAKE_GAP_MS || isDisturbed(evidence, from, at)) from = at
    longest = Math.max(longest, at - from)
    last = at
  }
  return longest
}

/** A held snapshot keeps no heartbeat waiting. */
const ON_THE_WAY = /^(postgres\.(?!held-snapshot)|network\.)/
const SILENT = /^network\.(half-open|loss|split)/

function isDisturbed({ faults }: Evidence, from: number, until: number): boolean {
  return faults.some(
    ({ kind, target, begunAt, endedAt }) =>
      ON_THE_WAY.test(kind) &&
      (target === 'postgres' || target === 'receiver-postgres') &&
      begunAt <= until &&
      endedAt + (SILENT.test(kind) ? SILENCE_AFTERMATH_MS : AFTERMATH_MS) >= from,
  )
}
