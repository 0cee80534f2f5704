// Which settings and migrations the audit log has been told of: each is told once.
import { columns, text } from '@baton/postgres'
import type { OutboxEvent } from './audit-outbox.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** What became of the record of a process's settings. */
export interface ToldSettings {
  /** Whether the newest process of this kind had said something else; only then the record is stored. */
  readonly changed: boolean
  /** The names of the keys that sign handoffs; null where that is not known, or it signs none. */
  readonly signedBefore: string | null
  readonly signsNow: string | null
}

/**
 * Stores the record of what a process of this kind begins with, unless the newest one says the same. Postgres takes the digest by
 * which it is known, and the name of the key that signs, from the record itself.
 */
export async function recordChangedSettings(
  db: Database,
  subject: string,
  { id, handoffId, entry }: OutboxEvent,
): Promise<ToldSettings> {
  const text = `select changed, signed_before as "signedBefore", signs_now as "signsNow" from tell_settings($1, $2, $3, $4)`
  const values = [subject, id, handoffId, entry]
  const [row] = await run<ToldSettings>(db, 'tell_settings', text, values)
  return row ?? { changed: false, signedBefore: null, signsNow: null }
}

/** What was done to the installation, or decided by a person, as its record is known by. */
export interface ToldOperation {
  readonly event: string
  readonly handoffId: string
  readonly actId: string
  readonly epoch: number
}

const TOLD = `
select t.event, t.handoff_id as "handoffId", t.act_id as "actId", t.epoch from told_operation t
where t.told_at > clock_timestamp() - interval '7 days' and t.told_at < clock_timestamp() - interval '10 minutes'
  and not exists (select from audit_outbox o where o.id = t.id)
order by t.told_at desc limit $1`

/** The newest of a week that must be in the log by now: they wait no longer. */
export const listToldOperations = (db: Database, limit: number): Promise<ToldOperation[]> =>
  run(db, 'list_told_operations', TOLD, [limit])

const NAMES = columns({ name: text })

/** Those of `names` that were not told of before; only the role that migrates may. */
export async function addRecordedMigrations(
  db: Database,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const written = `insert into recorded_migration (name) select * from ${NAMES.unnest('i')}
    on conflict do nothing returning name`
  const values = NAMES.values(names.map((name) => ({ name })))
  const rows = await run<{ name: string }>(db, 'add_recorded_migrations', written, values)
  return new Set(rows.map(({ name }) => name))
}

const WAITING_OPERATIONS = `
select entry from audit_outbox where strpos(entry, $1) > 0 and strpos(entry, $2) > 0
order by created_at, id limit 1000`

/**
 * What waits to be recorded and names both: JSON of the ledger's AuditEntry, or whatever else somebody wrote there who may deliver, and
 * which must not keep anybody from reading the rest. At most 1,000.
 */
export async function findWaitingOperations(
  db: Database,
  { event, subject }: { readonly event: string; readonly subject: string },
): Promise<readonly string[]> {
  const rows = await run<{ entry: string }>(db, 'find_waiting_operations', WAITING_OPERATIONS, [
    event,
    subject,
  ])
  return rows.map(({ entry }) => entry)
}

/** When something was last done, and under which id its record stands. */
export interface NewestOperation {
  readonly event: string
  readonly handoffId: string
  readonly toldAt: Date
}

const NEWEST = `
select distinct on (t.event) t.event, t.handoff_id as "handoffId", t.told_at as "toldAt" from told_operation t
where t.event = any($1::text[]) order by t.event, t.told_at desc`

/** Of each kind the newest of the last 90 days; none where there is none. */
export const findNewestOperations = (
  db: Database,
  events: readonly string[],
): Promise<NewestOperation[]> => run(db, 'find_newest_operations', NEWEST, [events])
