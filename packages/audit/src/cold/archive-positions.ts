// The statements on audit.archive: how far each log stands in the cold store, and what is gone from the hot one. Calls of the
// functions that move it, and what is asked of the catalog, are text: kysely knows the columns of neither.
import { micros } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'

/** The number of the seal log among the archived logs. */
export const SEAL_LOG = -1

/** Counts of records, from the first one on. */
export interface ArchivePosition {
  readonly log: number
  /** In full bundles of the cold store. */
  readonly size: number
  /** In the cold store, a partial bundle included. */
  readonly tail: number
  /** Records below stand in the cold store alone. */
  readonly hotFrom: number
  /** Records below have expired. */
  readonly minIndex: number
  /** Hash and time of the record before `minIndex`. */
  readonly startHash: Buffer
  readonly startMicros: number
  /** Objects of records below are removed. */
  readonly removed: number
}

const NOTHING = {
  size: 0,
  tail: 0,
  hotFrom: 0,
  minIndex: 0,
  startHash: Buffer.alloc(32),
  startMicros: 0,
  removed: 0,
}

/** The position of a log; all zero where nothing of it is archived. */
export const positionOf = (
  positions: ReadonlyMap<number, ArchivePosition>,
  log: number,
): ArchivePosition => positions.get(log) ?? { log, ...NOTHING }

/** By number of the chain; a log that nothing is archived of has none. */
export async function readArchivePositions(
  db: Database,
): Promise<ReadonlyMap<number, ArchivePosition>> {
  const rows = await run(
    db,
    'read_archive_positions',
    audit
      .selectFrom('audit.archive')
      .select(['log', 'size', 'tail', 'hot_from as hotFrom', 'min_index as minIndex'])
      .select(['start_hash as startHash', 'removed'])
      .select(({ ref }) => micros(ref('start_at')).as('startMicros')),
  )
  return new Map(rows.map((row) => [row.log, row]))
}

/** As audit_archiver. Only moves forward, and never past what is sealed. */
export async function markArchived(
  db: Database,
  { log, size, tail }: { readonly log: number; readonly size: number; readonly tail: number },
): Promise<void> {
  await run(
    db,
    'mark_archived',
    'select audit.mark_archived($1::smallint, $2::bigint, $3::bigint)',
    [log, size, tail],
  )
}

/** The days of which records stand in the hot store, oldest first, as YYYY-MM-DD. */
export async function readHotDays(db: Database): Promise<readonly string[]> {
  const rows = await run<{ day: string }>(
    db,
    'read_hot_days',
    `select to_char(to_date(right(c.relname, 8), 'YYYYMMDD'), 'YYYY-MM-DD') as day
     from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'audit.record'::regclass order by 1`,
  )
  return rows.map((row) => row.day)
}

/** The records of one day by chain: the first and the last. */
export const readDayRanges = (
  db: Database,
  day: string,
): Promise<{ chain: number; first: number; last: number }[]> => {
  const start = new Date(`${day}T00:00:00Z`)
  return run(
    db,
    'read_day_ranges',
    audit
      .selectFrom('audit.record')
      .select(({ fn }) => ['chain', fn.min('seq').as('first'), fn.max('seq').as('last')])
      .where('recorded_at', '>=', start)
      .where('recorded_at', '<', new Date(start.getTime() + DAY_MS))
      .groupBy('chain')
      .orderBy('chain'),
  )
}

const DAY_MS = 86_400_000

/** Why a day cannot be dropped. */
export type DropObstacle = 'HOT' | 'EARLIER_DAY' | 'NOT_ARCHIVED' | 'LEGAL_HOLD'

/** Why a day (YYYY-MM-DD) cannot be dropped while `hotDays` days must stay; null where it can. */
export async function findDropObstacle(
  db: Database,
  { day, hotDays }: { readonly day: string; readonly hotDays: number },
): Promise<DropObstacle | null> {
  const rows = await run<{ obstacle: DropObstacle | null }>(
    db,
    'find_drop_obstacle',
    'select audit.drop_obstacle($1::date, $2::integer) as obstacle',
    [day, hotDays],
  )
  return rows[0]?.obstacle ?? null
}

interface DroppedDay {
  readonly day: string
  readonly hotDays: number
  /** Where the record of the drop stands. */
  readonly chain: number
  readonly seq: number
}

/** As audit_archiver. Safe to repeat; answers how many records left the hot store. */
export async function dropDay(db: Database, dropped: DroppedDay): Promise<number> {
  const { day, hotDays, chain, seq } = dropped
  const rows = await run<{ records: number }>(
    db,
    'drop_day',
    'select audit.drop_day($1::date, $2::integer, $3::smallint, $4::bigint) as records',
    [day, hotDays, chain, seq],
  )
  return rows[0]?.records ?? 0
}

interface Expiry {
  readonly chain: number
  readonly toIndex: number
  /** The last record that expires, by its place in its task. */
  readonly lastTask: string
  readonly lastTaskSeq: number
}

/** As audit_archiver. Refused under a legal hold and before 183 days. */
export async function expireRecords(db: Database, expiry: Expiry): Promise<void> {
  const { chain, toIndex, lastTask, lastTaskSeq } = expiry
  await run(
    db,
    'expire_records',
    'select audit.expire($1::smallint, $2::bigint, $3::uuid, $4::integer)',
    [chain, toIndex, lastTask, lastTaskSeq],
  )
}

/** As audit_archiver. The objects of the records below `toIndex`, which have expired, are removed. */
export async function markRemoved(
  db: Database,
  { chain, toIndex }: { readonly chain: number; readonly toIndex: number },
): Promise<void> {
  await run(db, 'mark_removed', 'select audit.mark_removed($1::smallint, $2::bigint)', [
    chain,
    toIndex,
  ])
}

export interface LegalHold {
  readonly taskId: string
  readonly chain: number
  readonly seq: number
  readonly heldAt: Date
  /** Where its lift stands, until a seal covers that. */
  readonly liftedSeq: number | null
}

/** Every task that is held now, or of which no seal covers yet that it is not; oldest hold first. */
export const readLegalHolds = (db: Database): Promise<LegalHold[]> =>
  run(
    db,
    'read_legal_holds',
    audit
      .selectFrom('audit.legal_hold')
      .select(['task_id as taskId', 'chain', 'seq', 'held_at as heldAt'])
      .select('lifted_seq as liftedSeq')
      .orderBy('held_at')
      .orderBy('task_id'),
  )

/** The first record of a chain from `fromSeq` on that a held task has; null where there is none. */
export async function readHeldFrom(
  db: Database,
  { chain, fromSeq }: { readonly chain: number; readonly fromSeq: number },
): Promise<number | null> {
  const rows = await run(
    db,
    'read_held_from',
    audit
      .selectFrom('audit.legal_hold as h')
      .innerJoin('audit.idem as i', 'i.task_id', 'h.task_id')
      .select(({ fn }) => fn.min<number | null>('i.seq').as('seq'))
      .where('i.chain', '=', chain)
      .where('i.seq', '>=', fromSeq),
  )
  return rows[0]?.seq ?? null
}

/** By the index alone, which is not made for it: reads all of it. For a record that stands nowhere else. */
export async function findIndexedTask(
  db: Database,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<string | undefined> {
  const rows = await run(
    db,
    'find_indexed_task',
    audit
      .selectFrom('audit.idem')
      .select('task_id as taskId')
      .where('chain', '=', chain)
      .where('seq', '=', seq),
  )
  return rows[0]?.taskId
}

export interface IndexedRecord {
  readonly chain: number
  readonly seq: number
  readonly taskSeq: number
  readonly recordHash: Buffer
}

/** Every record of a task that was ever appended, whichever tier it stands in, in order of (chain, seq). */
export const readTaskIndex = (db: Database, taskId: string): Promise<IndexedRecord[]> =>
  run(
    db,
    'read_task_index',
    audit
      .selectFrom('audit.idem')
      .select(['chain', 'seq', 'task_seq as taskSeq', 'record_hash as recordHash'])
      .where('task_id', '=', taskId)
      .orderBy('chain')
      .orderBy('seq'),
  )
