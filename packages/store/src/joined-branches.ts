// What came out of one branch of those that a handoff joins, whole: its message may hold less of it.
import { run } from './database.ts'
import type { Database } from './database.ts'

const JOINED_BRANCH = `
select b.name as branch, coalesce(b.outcome, 'CANCELED') as outcome, b.reason, b.last_handoff_id as "handoffId", b.result::json as result
from handoff h join branch b on b.fan_out_id = h.joins_id
where h.id = $1 and (b.name = $2 or b.position = $3)`

/** What came out of a branch, whole. */
export interface JoinedBranch {
  readonly branch: string
  readonly outcome: string
  readonly reason: string | null
  readonly handoffId: string | null
  readonly result: unknown
}

/** What came out of one branch of those that a handoff joins, by its name or its place, from 0; undefined where there is none. */
export async function findJoinedBranch(
  db: Database,
  joinId: string,
  { name, position }: { readonly name?: string; readonly position?: number },
): Promise<JoinedBranch | undefined> {
  const values = [joinId, name ?? null, position ?? null]
  return (await run<JoinedBranch & object>(db, 'find_joined_branch', JOINED_BRANCH, values))[0]
}
