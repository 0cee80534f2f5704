// By which scanner the processes of a kind judge, as the audit log has been told.
import type { OutboxEvent } from './audit-outbox.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/**
 * What became of the record of a scanner: it is stored; the log has it already; it names another scanner than the one it follows;
 * or its artefact is older than one that was activated, or another one of the same version.
 */
export type ToldRuleset = 'told' | 'known' | 'other' | 'not_rising'

/**
 * Stores the record that processes of this kind judge by another scanner. Postgres takes what it compares from the record itself.
 */
export async function recordChangedRuleset(
  db: Database,
  process: string,
  { id, handoffId, entry }: OutboxEvent,
): Promise<ToldRuleset> {
  const text = 'select told from tell_ruleset($1, $2, $3, $4)'
  const values = [process, id, handoffId, entry]
  const [row] = await run<{ told: ToldRuleset }>(db, 'tell_ruleset', text, values)
  return row?.told ?? 'other'
}

const RECORDED = tables
  .selectFrom('recorded_ruleset')
  .select(['ruleset', 'artefact_version as artefactVersion'])

export interface RecordedRuleset {
  readonly ruleset: string
  /** The highest one that was activated; 0 before. */
  readonly artefactVersion: number
}

/**
 * The highest artefact that processes of this kind ever activated; where they never did, that of all kinds; 0 where nobody has.
 */
export async function findArtefactBefore(db: Database, process: string): Promise<number> {
  const highest = RECORDED.orderBy((one) => one('process', '=', process), 'desc')
    .where('artefact_version', '>', 0)
    .orderBy('artefact_version', 'desc')
    .limit(1)
  return (await run(db, 'find_artefact_before', highest))[0]?.artefactVersion ?? 0
}

/** By which scanner the processes of a kind judged last; undefined before the first record. */
export async function findRecordedRuleset(
  db: Database,
  process: string,
): Promise<RecordedRuleset | undefined> {
  return (await run(db, 'find_recorded_ruleset', RECORDED.where('process', '=', process)))[0]
}
