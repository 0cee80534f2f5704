// The statements on audit.cold_watch and audit.cold_fault: how far the cold store was re-read, and what of it is missing or changed.
import type { Finding, FindingRule } from '@baton/ledger'
import { sql } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { inPages, PAGE_ROWS } from '../pages.ts'

export interface ColdPass {
  readonly startedAt: string
  readonly endedAt: string
  readonly bundles: number
  readonly faults: number
}

/** Where a pass over the store is. Nothing that is relied on follows from it, so it may stand in the database. */
export interface ColdWatchPosition {
  readonly log: number
  /** The bundle that is read next. */
  readonly bundle: number
  readonly passStartedAt: string
  readonly passBundles: number
  readonly passFaults: number
  /** The pass before this one; null in the first. */
  readonly lastPass: ColdPass | null
}

/** What is wrong with one bundle of a log, or with a hash tile that ends with it. */
export interface ColdFault {
  readonly log: number
  readonly bundle: number
  readonly seq: number
  readonly rule: FindingRule
  readonly message: string
}

/** Undefined before the first piece. */
export const readColdWatch = async (db: Database): Promise<ColdWatchPosition | undefined> => {
  const statement = audit.selectFrom('audit.cold_watch').select('reached')
  const rows = await run(
    db,
    'read_cold_watch',
    statement.$narrowType<{ reached: ColdWatchPosition }>(),
  )
  return rows[0]?.reached
}

/** As audit_archiver. */
export const storeColdWatch = async (db: Database, position: ColdWatchPosition): Promise<void> => {
  const statement = 'select audit.store_cold_watch($1::jsonb)'
  await run(db, 'store_cold_watch', statement, [JSON.stringify(position)])
}

/** Everything of the store that is known to be missing or changed, the seal log first, some at a time. */
export const readColdFaults = (db: Database): AsyncGenerator<readonly ColdFault[]> =>
  inPages((after?: ColdFault) =>
    run(
      db,
      'read_cold_faults',
      audit
        .selectFrom('audit.cold_fault')
        .select(['log', 'bundle', 'seq', 'rule', 'message'])
        .$narrowType<{ rule: FindingRule }>()
        .where(({ eb, refTuple, tuple }) =>
          eb(refTuple('log', 'bundle'), '>', tuple(after?.log ?? -2, after?.bundle ?? -1)),
        )
        .orderBy('log')
        .orderBy('bundle')
        .limit(sql.lit(PAGE_ROWS)),
    ),
  )

export interface FirstColdFaults {
  readonly faults: readonly ColdFault[]
  /** Whether there may be more than these. */
  readonly isFull: boolean
}

/** The first of them, for whoever shows them, or has only to know whether there are many. */
export async function readFirstColdFaults(db: Database): Promise<FirstColdFaults> {
  for await (const faults of readColdFaults(db))
    return { faults, isFull: faults.length === PAGE_ROWS }
  return { faults: [], isFull: false }
}

type Place = Pick<ColdFault, 'log' | 'bundle'>

/** As audit_archiver. Safe to repeat. */
export async function storeColdFault(
  db: Database,
  { log, bundle }: Place,
  { seq, rule, message }: Finding,
): Promise<void> {
  await run(
    db,
    'store_cold_fault',
    'select audit.store_cold_fault($1::smallint, $2::bigint, $3::bigint, $4, $5)',
    [log, bundle, seq ?? 0, rule, message],
  )
}

/** As audit_archiver. */
export async function clearColdFault(db: Database, { log, bundle }: Place): Promise<void> {
  const statement = 'select audit.clear_cold_fault($1::smallint, $2::bigint)'
  await run(db, 'clear_cold_fault', statement, [log, bundle])
}
