// Corrections: the same handoff with other bytes. Executions are locked before handoffs, as by every settlement.
import type { NewHandoff } from './send.ts'
import { BINARY, columns, int4, int8, nullable, text, timestamptz, uuid } from '@baton/postgres'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { PUBLISH, QUEUE } from './publications.ts'
import { packBodies, stateOf } from './send.ts'
import { BRANCH_IS_OVER, LEASED } from './states.ts'

/** A handoff as its correction finds it. */
export interface RevisionBase {
  readonly handoffId: string
  readonly revision: number
  /** The exact signed bytes of that revision. */
  readonly body: Uint8Array
  readonly traceparent: string
  readonly checkpoint: Uint8Array
}

/** A corrected message on its way into Postgres, as this revision of its handoff. */
export interface Revision {
  readonly revision: number
  /** Signed; names the handoff's own task, parent, target and priority. */
  readonly message: NewHandoff
}

/** What a revision meets, with every row locked that decides about it. */
export interface RevisableHandoff {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  /** The revision that stands. */
  readonly revision: number
  /** Digest of what was asked for with the revision that is given; null where there was none. */
  readonly askedSha256: Uint8Array | null
  readonly state: string
  readonly taskStatus: string
  readonly attempt: number
  readonly fencingToken: number
  /** Somebody holds a live lease: it is being tried at this moment. */
  readonly live: boolean
  /** Its last attempt ended with a return. */
  readonly returned: boolean
  /** It waits as a dead letter whose sender was asked for a correction. */
  readonly asked: boolean
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  /** The most that remains for a handoff of the same task which names it as its parent; null without one. */
  readonly childRemainingMicroUSD: number | null
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
  /** Whose task it is in. */
  readonly tenant: string
}

const LOCK_EXECUTIONS = `
select handoff_id from execution where handoff_id = any($1::uuid[]) order by handoff_id for update`

const LOCK_HANDOFFS = `
select h.id from handoff h where h.id = any($1::uuid[]) order by h.id for update`

const WANTED = columns({ handoffId: uuid, revision: int4 })

const FACTS = `
select h.id as "handoffId", h.task_id as "taskId", h.parent_id as "parentId", h.revision,
  case when h.revision = i.revision then coalesce(h.revision_sha256, h.request_sha256)
    else old.asked_sha256 end as "askedSha256",
  h.state, case when ${BRANCH_IS_OVER} then 'FAILED' else t.status end as "taskStatus", h.attempt, coalesce(e.fencing_token, 0) as "fencingToken",
  coalesce(e.status in ${LEASED} and e.lease_until > clock_timestamp(), false) as live,
  h.ended_at is null and not h.cancel_requested and exists (select from handoff_return r
    where r.handoff_id = h.id and r.attempt = h.attempt - 1) as returned,
  h.state = 'DEAD_LETTERED' and exists (select from dead_letter d where d.handoff_id = h.id
    and d.asked_at is not null and d.resolved_at is null) as asked,
  h.spent_micro_usd as "spentMicroUSD", h.remaining_micro_usd as "remainingMicroUSD",
  (select max(c.remaining_micro_usd) from handoff c where c.task_id = h.task_id and c.parent_id = h.id)
    as "childRemainingMicroUSD",
  h.from_agent as "fromAgent", h.from_version as "fromVersion", h.from_execution as "fromExecution",
  h.to_agent as "toAgent", h.to_version as "toVersion", h.traceparent, h.tenant
from ${WANTED.unnest('i')}
join handoff h on h.id = i.handoff_id join task t on t.id = h.task_id
left join execution e on e.handoff_id = h.id
left join handoff_revision old on old.handoff_id = h.id and old.revision = i.revision`

/**
 * Locks handoffs and their executions until the caller's transaction ends, and answers how they
 * stand; `revision` is the one that a correction wants to be. No claim can start meanwhile, and one
 * that waits for the lock finds its publication outdated.
 */
export async function lockRevisable(
  transaction: Database,
  wanted: readonly { readonly handoffId: string; readonly revision: number }[],
): Promise<RevisableHandoff[]> {
  const ids = wanted.map((one) => one.handoffId)
  await run(transaction, 'lock_revised_executions', LOCK_EXECUTIONS, [ids])
  await run(transaction, 'lock_revised_handoffs', LOCK_HANDOFFS, [ids])
  return run(transaction, 'read_revisable', FACTS, WANTED.values(wanted))
}

const REVISED = columns({
  handoffId: uuid,
  revision: int4,
  state: text,
  keyId: text,
  signature: text,
  fromVersion: text,
  fromExecution: uuid,
  toVersion: nullable(text),
  expiresAt: nullable(timestamptz),
  spentMicroUSD: int8,
  remainingMicroUSD: int8,
  tracestate: nullable(text),
  sha256: BINARY.bytea,
  requestSha256: BINARY.bytea,
  checkpointId: uuid,
  checkpointSha256: BINARY.bytea,
  sentBy: nullable(text),
  bodyFrom: int4,
  bodyBytes: int4,
  checkpointFrom: int4,
  checkpointBytes: int4,
})
const BODIES = `$${REVISED.width + 1}::bytea`

const APPLY = `
with input as (
  select * from ${REVISED.unnest('t')}
), before as (
  select h.* from handoff h where h.id in (select handoff_id from input)
), kept as (
  insert into handoff_revision (handoff_id, revision, body, body_sha256, asked_sha256, key_id, signature, checkpoint_id)
  select h.id, h.revision, b.body, h.body_sha256, coalesce(h.revision_sha256, h.request_sha256),
    h.key_id, h.signature, h.checkpoint_id
  from before h join handoff_body b on b.handoff_id = h.id
), freed as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp(), lease_expiries = 0,
    publish_attempt = h.publish_attempt + 1
  from before h where e.handoff_id = h.id
), bodies as (
  update handoff_body b set body = substring(${BODIES} from i.body_from for i.body_bytes)
  from input i where b.handoff_id = i.handoff_id
), saved as (
  insert into checkpoint (id, task_id, body, sha256)
  select i.checkpoint_id, h.task_id, substring(${BODIES} from i.checkpoint_from for i.checkpoint_bytes),
    i.checkpoint_sha256
  from input i join before h on h.id = i.handoff_id
), revised as (
  update handoff h set revision = i.revision, revision_sha256 = i.request_sha256, state = i.state,
    publish_attempt = h.publish_attempt + 1, queued_at = clock_timestamp(), dispatched_at = null, ended_at = null,
    reason = null, last_error = null, approval_override_id = null, body_sha256 = i.sha256,
    body_bytes = i.body_bytes, key_id = i.key_id, signature = i.signature,
    from_version = i.from_version, from_execution = i.from_execution, to_version = i.to_version,
    expires_at = i.expires_at, spent_micro_usd = i.spent_micro_usd, remaining_micro_usd = i.remaining_micro_usd,
    checkpoint_id = i.checkpoint_id, tracestate = i.tracestate,
    sent_by = coalesce(i.sent_by, h.sent_by),
    earlier_senders = case when h.sent_by = i.sent_by or h.sent_by = any(h.earlier_senders) or h.sent_by is null or i.sent_by is null
      then h.earlier_senders else h.earlier_senders || h.sent_by end
  from input i where h.id = i.handoff_id
  returning h.*, ${QUEUE} as queue
), unscheduled as (
  delete from retry where handoff_id in (select id from revised)
), told as (
  update sender_notification set acknowledged_at = clock_timestamp()
  where handoff_id in (select id from revised) and acknowledged_at is null
), reviewed as (
  update dead_letter set resolved_at = clock_timestamp(), resolution = 'REVISED'
  where handoff_id in (select id from revised) and resolved_at is null
), held as (
  insert into approval (handoff_id, task_id) select id, task_id from revised
  where state = 'AWAITING_APPROVAL'
  on conflict (handoff_id) do update set requested_at = clock_timestamp(), closed_at = null,
    decision = null, decided_by = null, decided_as = null, reason_code = null, signed = null
), charged as (
  update task t set updated_at = clock_timestamp(), status = 'PENDING_HANDOFF', checkpoint_id = c.checkpoint_id,
    spent_micro_usd = t.spent_micro_usd + c.added
  from (select r.task_id, sum(r.spent_micro_usd - b.spent_micro_usd) as added,
      (array_agg(r.checkpoint_id order by r.task_seq desc))[1] as checkpoint_id
    from revised r join before b on b.id = r.id group by r.task_id) c
  where t.id = c.task_id
)
${PUBLISH("revised where state = 'QUEUED'")}`

/**
 * Replaces the messages of handoffs that `lockRevisable` has locked in this transaction; the caller
 * has judged what it answered. The bytes before are kept, the extra cost is charged to the task, a
 * dead letter is resolved, and the handoff is published anew, or held for approval.
 */
export async function applyRevisions(
  transaction: Database,
  revisions: readonly Revision[],
): Promise<void> {
  const { bodies, placed } = packBodies(
    revisions.map(({ revision, message }) => ({ ...message, revision, state: stateOf(message) })),
  )
  await run(transaction, 'apply_revisions', APPLY, [...REVISED.values(placed), bodies])
}

/** The message and the checkpoint that a correction starts from. */
export async function findRevisionBase(
  db: Database,
  handoffId: string,
): Promise<RevisionBase | undefined> {
  const written = tables
    .selectFrom('handoff as h')
    .innerJoin('handoff_body as b', 'b.handoff_id', 'h.id')
    .innerJoin('checkpoint as c', 'c.id', 'h.checkpoint_id')
    .select(['h.id as handoffId', 'h.revision', 'h.traceparent', 'b.body', 'c.body as checkpoint'])
    .where('h.id', '=', handoffId)
  return (await run(db, 'find_revision_base', written))[0]
}
