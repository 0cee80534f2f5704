// Erasures as they are kept outside the databases, beside the backups: ids and signatures, never a person. A database that is older
// than an erasure learns of it here, and whoever carries erasures on does it again.
import { uuidBytes } from '@baton/ledger'
import { BINARY, text } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import { audit, run, vault } from '../database.ts'
import type { Database } from '../database.ts'
import { destroyKeys } from './erasure-keys.ts'
import type { ErasureSignature } from './signed-erasure.ts'

/** One that two people have decided. What makes it count are the signatures in it; times are ISO 8601. */
export interface JournalledErasure {
  readonly id: string
  readonly basis: string
  readonly requestedBy: string
  readonly requestedAt: string
  readonly confirmedBy: string
  readonly confirmedAt: string
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
  readonly signed: ErasureSignature | null
  /** How records name who is erased. */
  readonly subjectRefs: readonly string[]
}

const DECIDED = ['CONFIRMED', 'ERASED', 'COMPLETED'] as const

/** Every erasure that two people have decided, the oldest first. */
export const readErasureJournal = (db: Database): Promise<JournalledErasure[]> =>
  run<JournalledErasure>(
    db,
    'read_erasure_journal',
    `select e.id, e.basis, e.requested_by as "requestedBy", e.confirmed_by as "confirmedBy",
       ${iso('e.requested_at')} as "requestedAt", ${iso('e.confirmed_at')} as "confirmedAt",
       e.handoff_ids as "handoffIds", e.task_ids as "taskIds", e.signed,
       array(select s.subject_ref from audit.erased_subject s where s.erasure_id = e.id order by 1) as "subjectRefs"
     from audit.erasure e where e.state = any($1::text[]) order by e.confirmed_at, e.id`,
    [DECIDED],
  )

const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/** Those that the log and the vault say nothing of, or only that they were planned. */
export async function findForgottenErasures(
  db: Database,
  journal: readonly JournalledErasure[],
): Promise<readonly JournalledErasure[]> {
  const ids = journal.map(({ id }) => uuidBytes(id))
  const known = await run(
    db,
    'find_decided_erasures',
    audit
      .selectFrom('audit.erasure')
      .select('id')
      .where('id', '=', anyOf(BINARY.uuid, ids))
      .where('state', '=', anyOf(text, DECIDED)),
  )
  const decided = new Set(known.map(({ id }) => id))
  return journal.filter(({ id }) => !decided.has(id))
}

interface AuditDatabases {
  /** The log, as who owns it. */
  readonly log: Database
  /** The vault, as who owns it. */
  readonly vault: Database
}

/**
 * Destroys the keys again, and has the log know each erasure as confirmed: the auditor finds it so when it starts, checks who signed
 * it, records it and deletes what it names, before it takes traffic. Safe to repeat. Answers how many keys were there.
 */
export async function repeatErasure(
  { log, vault: keys }: AuditDatabases,
  erasure: JournalledErasure,
): Promise<number> {
  const refs = erasure.subjectRefs.map(uuidBytes)
  await run(
    keys,
    'detach_journalled_keys',
    `insert into vault.erasure_key (erasure_id, subject_ref) select $1, unnest($2::uuid[]) on conflict do nothing`,
    [erasure.id, erasure.subjectRefs],
  )
  await run(
    keys,
    'unmap_journalled_keys',
    vault.deleteFrom('vault.subject_member').where('subject_ref', '=', anyOf(BINARY.uuid, refs)),
  )
  const destroyed = await destroyKeys(keys, refs)
  await run(
    log,
    'confirm_journalled',
    audit
      .insertInto('audit.erasure')
      .values({
        id: erasure.id,
        state: 'CONFIRMED',
        basis: erasure.basis,
        requested_by: erasure.requestedBy,
        requested_at: new Date(erasure.requestedAt),
        confirmed_by: erasure.confirmedBy,
        confirmed_at: new Date(erasure.confirmedAt),
        handoff_ids: erasure.handoffIds,
        task_ids: erasure.taskIds,
        signed: JSON.stringify(erasure.signed),
      })
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet({
          state: 'CONFIRMED',
          confirmed_by: erasure.confirmedBy,
          confirmed_at: sql<Date>`excluded.confirmed_at`,
          handoff_ids: erasure.handoffIds,
          task_ids: erasure.taskIds,
          signed: JSON.stringify(erasure.signed),
        }),
      ),
  )
  return destroyed
}
