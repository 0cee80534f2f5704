// Which tasks must not be erased now: what their own records say of a legal hold, and what the table of holds says.
import { uuidBytes } from '@baton/ledger'
import { BINARY } from '@baton/postgres'
import { anyOf } from '@baton/postgres/statements'
import type { ColdStore } from '../cold/cold-store.ts'
import { audit, run } from '../database.ts'
import type { Database, Pool } from '../database.ts'
import { readTrace } from '../read/read-trace.ts'

interface HoldReading {
  /** Connected as audit_reader. */
  readonly reader: Pool
  /** Where records stand that are not in the database any more. */
  readonly cold: ColdStore | undefined
}

/**
 * Those of `taskIds` that are held, in order. The table follows from the records, and whoever owns the database
 * can delete a row of it: a task is held where either says so, or where its records cannot be believed.
 */
export async function findHeldTasks(
  { reader, cold }: HoldReading,
  taskIds: readonly string[],
): Promise<string[]> {
  const held = new Set(await listHeld(reader, taskIds))
  for (const taskId of taskIds) {
    if (held.has(taskId)) continue
    const { records, verified } = await readTrace(reader, taskId, { cold })
    const last = records.findLast(({ body }) => body.event in IS_HELD)
    const isHeld = last !== undefined && IS_HELD[last.body.event] === true
    if (isHeld || !verified) held.add(taskId)
  }
  return [...held].toSorted()
}

const IS_HELD: Readonly<Record<string, boolean>> = {
  LEGAL_HOLD_SET: true,
  LEGAL_HOLD_LIFTED: false,
}

async function listHeld(db: Database, taskIds: readonly string[]): Promise<string[]> {
  const rows = await run(
    db,
    'find_held_tasks',
    audit
      .selectFrom('audit.legal_hold')
      .select('task_id as taskId')
      .where('task_id', '=', anyOf(BINARY.uuid, taskIds.map(uuidBytes))),
  )
  return rows.map((row) => row.taskId)
}
