// What must hold in the audit log beyond its own chains. Each statement answers the ids of what breaks its
// rule, at most 100, among the records of the last day: older ones were checked when they were new.
import { uuidBytes } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { findRecordedKeys } from '../append/idempotency.ts'

const IDS_MAX = 100
const NEW = `recorded_at > now() - interval '1 day'`

async function ids(db: Database, name: string, text: string): Promise<readonly string[]> {
  const rows = await run<{ id: string }>(db, name, `${text} limit ${IDS_MAX}`)
  return rows.map((row) => row.id)
}

const BODY = (alias: string): string => `convert_from(${alias}.body, 'UTF8')::jsonb`

const RULES = [
  {
    promise: 'I3',
    rule: 'every execution of the last day was decided before',
    statement: 'find_undecided_completions',
    breaches: `select r.handoff_id as id from audit.record r where r.event = 4 and ${NEW}
        and not exists (select from audit.record d where d.handoff_id = r.handoff_id
          and d.event = 1 and d.chain = r.chain and d.seq < r.seq)`,
  },
  {
    promise: 'I6',
    rule: 'nothing that the scanner rejects was accepted in the last day without a release before it',
    statement: 'find_unreleased_acceptances',
    breaches: `select r.handoff_id as id from audit.record r where r.event = 1 and ${NEW}
        and ${BODY('r')} #>> '{verdicts,safety,decision}' = 'reject'
        and not exists (select from audit.record d where d.handoff_id = r.handoff_id and d.event = 14
          and d.chain = r.chain and d.seq < r.seq
          and ${BODY('d')} ->> 'release' = ${BODY('r')} ->> 'release')`,
  },
  {
    promise: 'I4',
    rule: 'no handoff of the last day was completed twice',
    statement: 'find_repeated_completions',
    breaches: `select handoff_id as id from audit.record where event = 4 and ${NEW}
      group by handoff_id having count(*) > 1`,
  },
  {
    promise: 'I9',
    rule: 'all records of a task of the last day name one trace',
    statement: 'find_split_records',
    breaches: `select task_id as id from audit.record where ${NEW} group by task_id
      having count(distinct split_part(
        convert_from(body, 'UTF8')::jsonb ->> 'traceparent', '-', 2)) > 1`,
  },
] as const

/** Every rule, bound to one database; each check answers at most 100 ids, none where the rule holds. */
export const auditInvariants = (db: Database) =>
  RULES.map(({ promise, rule, statement, breaches }) => ({
    promise,
    rule,
    check: () => ids(db, statement, breaches),
  }))

/** The hash (lower-case hex) of each of `recordIds` that is recorded. */
export async function findRecordHashes(
  db: Database,
  recordIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await findRecordedKeys(db, recordIds.map(uuidBytes))
  return new Map(rows.map((row) => [row.key, row.recordHash.toString('hex')]))
}

/** I10: tables of the log, partitions too, on which the appending role may do more than read. */
export const findExcessPrivileges = (db: Database): Promise<readonly string[]> =>
  ids(
    db,
    'find_excess_privileges',
    `select c.relname as id from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'audit' and c.relkind in ('r', 'p')
       and (has_table_privilege('audit_writer', c.oid, 'insert, update, delete, truncate')
         or pg_has_role('audit_writer', c.relowner, 'member'))`,
  )
