// What is asked of the log about a set of tasks at once.
import { uuidBytes } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

export interface TaskTotals {
  readonly records: number
  /** The highest running total that was recorded, in micro-USD. */
  readonly spentMicroUSD: number
}

/** Records and cost by task, of those of `taskIds` that the log knows. */
export async function readTaskTotals(
  db: Database,
  taskIds: readonly string[],
): Promise<ReadonlyMap<string, TaskTotals>> {
  const rows = await run<TaskTotals & { taskId: string }>(
    db,
    'read_task_totals',
    `select task_id as "taskId", count(*) as records, coalesce(max(spent_micro), 0) as "spentMicroUSD"
     from audit.record where task_id = any($1::uuid[]) group by task_id`,
    [BINARY.uuid.encode(taskIds.map(uuidBytes))],
  )
  return new Map(rows.map(({ taskId, ...totals }) => [taskId, totals]))
}
