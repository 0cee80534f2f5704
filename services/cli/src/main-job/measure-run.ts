// What a run did, from both databases: outcomes, latencies, cost, and what the audit log can prove of it.
import { readTaskTotals, readTrace, verifyChains } from '@baton/audit'
import type { TaskTotals, VerifyReport } from '@baton/audit'
import {
  countTaskSetHandoffs,
  countTaskSetReasons,
  countUnshippedEvents,
  listTaskOutcomes,
  measureAcceptLatencies,
} from '@baton/store'
import type { AcceptLatencies, HandoffFigures, Pool, TaskOutcome } from '@baton/store'
import type { AuditReader } from '../instance/audit-reader.ts'

export interface RunFigures extends HandoffFigures {
  readonly outcomes: readonly TaskOutcome[]
  readonly reasons: ReadonlyMap<string, number>
  readonly latencyMs: AcceptLatencies
  /** By task id. */
  readonly audited: ReadonlyMap<string, TaskTotals>
  readonly verification: VerifyReport
  /** How long one task's whole trace took to read and check. */
  readonly traceMs: number
}

const SHIPPED_MAX_MS = 10_000
const LOOK_EVERY_MS = 50

interface Parts {
  readonly pool: Pool
  readonly audit: AuditReader
  readonly taskIds: readonly string[]
  readonly onProgress: (records: number) => void
}

/** Reads once everything has reached the audit log, or ten seconds have passed. */
export async function measureRun({ pool, audit, taskIds, onProgress }: Parts): Promise<RunFigures> {
  await untilShipped(pool, taskIds)
  const [handoffs, reasons, latencyMs, outcomes, audited] = await Promise.all([
    countTaskSetHandoffs(pool, taskIds),
    countTaskSetReasons(pool, taskIds),
    measureAcceptLatencies(pool, taskIds),
    listTaskOutcomes(pool, taskIds),
    readTaskTotals(audit.pool, taskIds),
  ])
  const { vault, batchKeys, cold } = audit
  const verification = await verifyChains({
    pool: audit.pool,
    vault,
    batchKeys,
    seals: await audit.seals(),
    cold,
    onProgress,
  })
  const traceMs = await timeTrace(audit, taskIds.at(-1) ?? '')
  return { ...handoffs, reasons, latencyMs, outcomes, audited, verification, traceMs }
}

async function untilShipped(pool: Pool, taskIds: readonly string[]): Promise<void> {
  const deadline = performance.now() + SHIPPED_MAX_MS
  while ((await countUnshippedEvents(pool, taskIds)) > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}

async function timeTrace({ pool }: AuditReader, taskId: string): Promise<number> {
  const startedAt = performance.now()
  await readTrace(pool, taskId)
  return performance.now() - startedAt
}
