// What every settlement shares: the fence, the events that commit with it, and who still held the epoch.
import type { AuditIntent } from './audit-outbox.ts'
import type { Fence } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** Stores the events of what `from` (handoff_id) settled; its three parameters begin at `first`. */
export const INTENTS = (from: string, first: number): string => `
intents as (
  insert into audit_outbox (id, handoff_id, entry)
  select i.id, i.handoff_id, i.entry
  from unnest($${first}::uuid[], $${first + 1}::uuid[], $${first + 2}::text[]) as i(id, handoff_id, entry)
  where i.handoff_id in (select handoff_id from ${from})
)`

export const intentColumns = (intents: readonly AuditIntent[]): unknown[] => [
  intents.map((intent) => intent.id),
  intents.map((intent) => intent.handoffId),
  intents.map((intent) => intent.entry),
]

export const fenceColumns = (fences: readonly Fence[]): unknown[] => [
  fences.map((fence) => fence.handoffId),
  fences.map((fence) => fence.epoch),
]

export type HandoffIds = ReadonlySet<string>

/** Runs a settlement; answers the handoffs that still held their epoch. */
export async function settledIds(
  db: Database,
  name: string,
  text: string,
  values: unknown[],
): Promise<HandoffIds> {
  const rows = await run<{ handoffId: string }>(db, name, text, values)
  return new Set(rows.map((row) => row.handoffId))
}
