// Erasing handoffs: who names a person, what is still open, and text replaced by tombstones that keep its digest.
import { STORAGE_LEFT, uuid } from '@baton/postgres'
import type { StorageLeft } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export interface SubjectHandoff {
  readonly handoffId: string
  readonly taskId: string
  readonly state: string
  readonly createdAt: Date
  readonly erasedAt: Date | null
  /** Under way, waiting in quarantine or for a join, or with events that the audit store has not acknowledged. */
  readonly open: boolean
}

/** The handoffs that name a person as a data subject, oldest first; at most 10,000. */
export function findSubjectHandoffs(db: Database, subject: string): Promise<SubjectHandoff[]> {
  return run<SubjectHandoff & object>(
    db,
    'find_subject_handoffs',
    `select h.id as "handoffId", h.task_id as "taskId", h.state, h.created_at as "createdAt",
       h.erased_at as "erasedAt",
       h.ended_at is null
         or exists (select from dead_letter d where d.handoff_id = h.id and d.resolved_at is null)
         or exists (select from fan_out f where f.task_id = h.task_id and f.state in ('OPEN', 'READY'))
         or exists (select from audit_outbox o where o.handoff_id = h.id) as open
     from handoff_subject s join handoff h on h.id = s.handoff_id
     where s.subject_lookup = subject_lookup($1) order by h.created_at, h.id limit 10000`,
    [subject],
  )
}

/** How many items one place had, and how many of them still hold text. */
export interface ErasedRows {
  readonly name: string
  readonly before: number
  readonly after: number
}

/** What stands in place of erased bytes; the digest is the one that records and rows name. */
const TOMBSTONE = (sha256: string): string =>
  `convert_to('{"erased":true,"sha256":"' || encode(${sha256}, 'hex') || '"}', 'UTF8')`
const MARK = `convert_to('{"erased":true', 'UTF8')`
const IS_ERASED = (bytes: string): string => `substring(${bytes} for 14) = ${MARK}`
const RESULT = `'{"erased":true}'`

const CHECKPOINTS = `select h.checkpoint_id from handoff h where h.id = any($1::uuid[])
  union select r.checkpoint_id from handoff_revision r where r.handoff_id = any($1::uuid[])`
const TASKS = `select h.task_id from handoff h where h.id = any($1::uuid[])`

// In the order in which settlements lock: executions before handoffs.
const ERASE = [
  [
    'erase_execution_results',
    `update execution set result = ${RESULT}, named = null
     where handoff_id = any($1::uuid[]) and result is not null and result <> ${RESULT}`,
  ],
  ['erase_chunks', `delete from stream_chunk where handoff_id = any($1::uuid[])`],
  [
    'erase_handoffs',
    `update handoff set erased_at = coalesce(erased_at, clock_timestamp()), last_error = null,
       tracestate = null
     where id = any($1::uuid[]) and ended_at is not null`,
  ],
  [
    'erase_bodies',
    `update handoff_body b set body = ${TOMBSTONE('h.body_sha256')} from handoff h
     where h.id = b.handoff_id and h.id = any($1::uuid[]) and h.erased_at is not null
       and not ${IS_ERASED('b.body')}`,
  ],
  [
    'erase_revisions',
    `update handoff_revision set body = ${TOMBSTONE('body_sha256')}
     where handoff_id = any($1::uuid[]) and not ${IS_ERASED('body')}`,
  ],
  [
    'erase_checkpoints',
    `update checkpoint set body = ${TOMBSTONE('sha256')}, erased_at = clock_timestamp()
     where id in (${CHECKPOINTS}) and erased_at is null`,
  ],
  [
    'erase_task_results',
    `update task set result = ${RESULT}
     where id in (${TASKS}) and result is not null and result <> ${RESULT}`,
  ],
  [
    'erase_branches',
    `update branch set result = case when result is not null then ${RESULT} end, mac = null, name = (position + 1)::text
     where task_id in (${TASKS})`,
  ],
  [
    'erase_join_requests',
    `update fan_out set join_request = ${RESULT}, mac = null
     where task_id in (${TASKS}) and join_request is not null and join_request <> ${RESULT}`,
  ],
  [
    'erase_dead_letters',
    `update dead_letter set details = '[]', cluster = reason where handoff_id = any($1::uuid[])`,
  ],
  [
    'erase_votes',
    `update review_vote set proposal = '[]', signed = signed - 'salt' where handoff_id = any($1::uuid[])`,
  ],
  [
    'erase_overrides',
    `update approval_override set votes = null where handoff_id = any($1::uuid[]) and votes is not null`,
  ],
  [
    'erase_redrives',
    `update redrive set cluster = null where cluster is not null and id in
       (select l.redrive_id from redrive_dead_letter l where l.handoff_id = any($1::uuid[]))`,
  ],
  ['erase_returns', `update handoff_return set details = '[]' where handoff_id = any($1::uuid[])`],
  [
    'erase_notifications',
    `update sender_notification set details = '[]',
       acknowledged_at = coalesce(acknowledged_at, clock_timestamp())
     where handoff_id = any($1::uuid[])`,
  ],
  [
    'erase_external_refs',
    `update external_ref set request_sha256 = null
     where handoff_id = any($1::uuid[]) and request_sha256 is not null`,
  ],
  [
    'erase_approver_names',
    `update approval set decided_as = null, signed = signed - 'salt'
     where handoff_id = any($1::uuid[]) and (decided_as is not null or signed is not null)`,
  ],
  ['erase_idempotency_keys', `delete from idempotency_key where handoff_id = any($1::uuid[])`],
  ['erase_offers', `delete from offer where handoff_id = any($1::uuid[])`],
  ['erase_subjects', `delete from handoff_subject where handoff_id = any($1::uuid[])`],
] as const

/**
 * Erases the text of ended handoffs in the caller's transaction (I11). Their rows stay, with every digest;
 * nothing of them can be resumed, revised or released any more. Safe to repeat.
 */
export async function eraseHandoffs(
  transaction: Database,
  handoffIds: readonly string[],
): Promise<void> {
  const ids = handoffIds.toSorted()
  for (const [name, text] of ERASE) await run(transaction, name, text, [ids])
}

const COUNT = `
select 'handoff bodies' as name, count(*) as before, count(*) filter (where not ${IS_ERASED('b.body')}) as after
from handoff_body b where b.handoff_id = any($1::uuid[])
union all select 'earlier revisions', count(*), count(*) filter (where not ${IS_ERASED('body')})
from handoff_revision where handoff_id = any($1::uuid[])
union all select 'checkpoints', count(*), count(*) filter (where not ${IS_ERASED('body')})
from checkpoint where id in (${CHECKPOINTS})
union all select 'execution results', count(result), count(*) filter (where result <> ${RESULT})
from execution where handoff_id = any($1::uuid[])
union all select 'stream chunks', count(*), count(*) from stream_chunk where handoff_id = any($1::uuid[])
union all select 'task results', count(result), count(*) filter (where result <> ${RESULT})
from task where id in (${TASKS})
union all select 'branch results', count(result), count(*) filter (where result <> ${RESULT})
from branch where task_id in (${TASKS})
union all select 'join requests', count(join_request), count(*) filter (where join_request <> ${RESULT})
from fan_out where task_id in (${TASKS})
union all select 'dead letters', count(*), count(*) filter (where details <> '[]' or cluster <> reason)
from dead_letter where handoff_id = any($1::uuid[])
union all select 'review proposals', count(*), count(*) filter (where proposal <> '[]')
from review_vote where handoff_id = any($1::uuid[])
union all select 'last errors', count(*), count(last_error) from handoff where id = any($1::uuid[])
union all select 'returns', count(*), count(*) filter (where details <> '[]')
from handoff_return where handoff_id = any($1::uuid[])
union all select 'sender notifications', count(*), count(*) filter (where details <> '[]')
from sender_notification where handoff_id = any($1::uuid[])
union all select 'external ids', count(request_sha256), count(request_sha256)
from external_ref where handoff_id = any($1::uuid[])
union all select 'names of approvers', count(decided_as), count(decided_as)
from approval where handoff_id = any($1::uuid[])
union all select 'salts of signed decisions', count(signed), count(*) filter (where signed ? 'salt')
from (select signed from approval where handoff_id = any($1::uuid[])
  union all select signed from review_vote where handoff_id = any($1::uuid[])) decisions
union all select 'audit outbox', count(*), count(*) from audit_outbox where handoff_id = any($1::uuid[])
union all select 'queue publications', count(*), count(*) from outbox where handoff_id = any($1::uuid[])
union all select 'offers', count(*), count(*) from offer where handoff_id = any($1::uuid[])
union all select 'idempotency keys', count(*), count(*) from idempotency_key where handoff_id = any($1::uuid[])
union all select 'subject index', count(*), count(*) from handoff_subject where handoff_id = any($1::uuid[])`

export { rewriteTables } from '@baton/postgres'
export type { RewriteBounds, Rewritten, StorageLeft } from '@baton/postgres'

/** Tables in whose files text of an erased handoff can have stood. */
export const TABLES_WITH_TEXT: readonly string[] = [
  'handoff_body',
  'handoff_revision',
  'checkpoint',
  'execution',
  'stream_chunk',
  'task',
  'branch',
  'fan_out',
  'handoff',
  'dead_letter',
  'review_vote',
  'redrive',
  'handoff_return',
  'sender_notification',
  'audit_outbox',
  'external_ref',
  'approval',
  'idempotency_key',
  'offer',
  'handoff_subject',
]

/** What the files under the operational database can still hold of what was erased, in plain text. */
export async function readStorageLeft(db: Database): Promise<StorageLeft> {
  const [left] = await run<StorageLeft & object>(db, 'store_storage_left', STORAGE_LEFT, [
    TABLES_WITH_TEXT,
  ])
  return left as StorageLeft
}

/** What every store of the operational database holds of these handoffs. Their rows count, and their text. */
export function countErased(db: Database, handoffIds: readonly string[]): Promise<ErasedRows[]> {
  return run<ErasedRows & object>(db, 'count_erased', COUNT, [handoffIds])
}

/** Those of `handoffIds` whose text is stored although they were erased, as after a restore. */
export async function findUnreflected(
  db: Database,
  handoffIds: readonly string[],
): Promise<string[]> {
  const written = tables
    .selectFrom('handoff_body as b')
    .select('b.handoff_id as id')
    .where('b.handoff_id', '=', anyOf(uuid, handoffIds))
    .where(sql<boolean>`not ${sql.raw(IS_ERASED('b.body'))}`)
  return (await run(db, 'find_unreflected', written)).map((row) => row.id)
}
