// Replies to session peers: one row per handoff that came in over a session, until the peer has been told how it ended.
import { COUNTED_MAX } from '@baton/postgres/list-positions'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { OPEN } from './states.ts'

export interface NewSessionReply {
  readonly handoffId: string
  readonly messageId: string
  readonly peer: string
  readonly contextId: string
  readonly taskId: string
  readonly replySchema: string
  /** Not sent sooner than in so many milliseconds; null where the peer has no address. */
  readonly dueInMs: number | null
}

export type OpenedContext =
  | { readonly kind: 'opened'; readonly isFirst: boolean }
  /** One of its turns is under way already. */
  | { readonly kind: 'context_busy' }
  /** As many of the peer's contexts are under way as may be. */
  | { readonly kind: 'peer_busy' }

const UNDER_WAY = `
select count(*) filter (where r.context_id = $2)::int as "inContext", count(distinct r.context_id)::int as contexts
from session_reply r join handoff h on h.id = r.handoff_id
where r.peer = $1 and r.told_at is null and r.dead_at is null and h.state in ${OPEN}`

const ADD = `
insert into session_reply (handoff_id, message_id, peer, context_id, task_id, reply_schema, due_at)
values ($1, $2, $3, $4, $5, $6, clock_timestamp() + $7 * interval '1 millisecond')`

/**
 * Begins a turn in the caller's transaction, which must also send the handoff: one turn of a context at a time,
 * and at most `contextsMax` of a peer, whichever gateways it asks.
 */
export async function openSessionTurn(
  db: Database,
  reply: NewSessionReply,
  contextsMax: number,
): Promise<OpenedContext> {
  const { handoffId, messageId, peer, contextId, taskId, replySchema, dueInMs } = reply
  await run(
    db,
    'lock_session_peer',
    'select pg_advisory_xact_lock(hashtextextended($1, 8420))::text as locked',
    [peer],
  )
  const [underWay] = await run<{ inContext: number; contexts: number }>(
    db,
    'session_turns',
    UNDER_WAY,
    [peer, contextId],
  )
  if ((underWay?.inContext ?? 0) > 0) return { kind: 'context_busy' }
  if ((underWay?.contexts ?? 0) >= contextsMax) return { kind: 'peer_busy' }
  const [known] = await run<{ known: boolean }>(
    db,
    'session_context',
    'select exists (select from session_reply where peer = $1 and context_id = $2) as known',
    [peer, contextId],
  )
  await run(db, 'add_session_reply', ADD, [
    handoffId,
    messageId,
    peer,
    contextId,
    taskId,
    replySchema,
    dueInMs,
  ])
  return { kind: 'opened', isFirst: known?.known !== true }
}

export interface SessionReply {
  readonly handoffId: string
  readonly messageId: string
  readonly peer: string
  readonly contextId: string
  readonly taskId: string
  readonly replySchema: string
  readonly attempts: number
}

const COLUMNS = `r.handoff_id as "handoffId", r.message_id as "messageId", r.peer, r.context_id as "contextId",
  r.task_id as "taskId", r.reply_schema as "replySchema", r.attempts`

export async function findSessionReply(
  db: Database,
  handoffId: string,
): Promise<SessionReply | undefined> {
  const text = `select ${COLUMNS} from session_reply r where r.handoff_id = $1`
  return (await run<SessionReply>(db, 'find_session_reply', text, [handoffId]))[0]
}

const CLAIM = `
with due as (
  select r.handoff_id from session_reply r join handoff h on h.id = r.handoff_id
  where r.told_at is null and r.dead_at is null and r.due_at <= clock_timestamp()
    and (r.lease_until is null or r.lease_until <= clock_timestamp()) and h.state not in ${OPEN}
  order by r.due_at limit $1 for update of r skip locked
)
update session_reply r set attempts = r.attempts + 1, lease_until = clock_timestamp() + $2 * interval '1 millisecond'
from due where r.handoff_id = due.handoff_id returning ${COLUMNS}`

/** Claims replies whose handoffs have ended, each for a lease by Postgres' clock: one gateway sends it at a time. */
export function claimSessionReplies(
  db: Database,
  limit: number,
  leaseMs: number,
): Promise<SessionReply[]> {
  return run(db, 'claim_session_replies', CLAIM, [limit, leaseMs])
}

const TELL = `update session_reply set told_at = clock_timestamp(), lease_until = null, dead_at = null, last_error = null
where handoff_id = $1 and told_at is null`

/** The peer has the reply: nobody sends it again. */
export async function closeSessionReply(db: Database, handoffId: string): Promise<void> {
  await run(db, 'close_session_reply', TELL, [handoffId])
}

export interface UntoldReply {
  readonly handoffId: string
  readonly attempts: number
  readonly code: string
  readonly againInMs: number
  /** How long after it was first asked for it is tried at all. */
  readonly endMs: number
}

const POSTPONE = `
update session_reply r set lease_until = null, last_error = $3, due_at = clock_timestamp() + $4 * interval '1 millisecond',
  dead_at = case when h.ended_at + $5 * interval '1 millisecond' <= clock_timestamp() then clock_timestamp() end
from handoff h
where r.handoff_id = $1 and r.attempts = $2 and r.told_at is null and h.id = r.handoff_id
returning r.dead_at is not null as dead`

/** The peer does not have it: tried again later, or never where its time is over. Answers whether that is so. */
export async function postponeSessionReply(
  db: Database,
  { handoffId, attempts, code, againInMs, endMs }: UntoldReply,
): Promise<boolean> {
  const [row] = await run<{ dead: boolean }>(db, 'postpone_session_reply', POSTPONE, [
    handoffId,
    attempts,
    code,
    againInMs,
    endMs,
  ])
  return row?.dead === true
}

export interface SessionReplyView extends SessionReply {
  readonly createdAt: Date
  readonly dueAt: Date | null
  readonly deadAt: Date | null
  readonly lastError: string | null
  readonly position: string
}

export interface SessionReplyPage {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

const LIST_DEAD = `
select ${COLUMNS}, r.created_at as "createdAt", r.due_at as "dueAt", r.dead_at as "deadAt", r.last_error as "lastError",
  (extract(epoch from r.dead_at) * 1000000)::bigint || '.' || r.handoff_id as position
from session_reply r where r.dead_at is not null
  and ($2::text is null or (r.dead_at, r.handoff_id) < (timestamptz 'epoch' + split_part($2, '.', 1)::float8 * interval '1 microsecond',
    split_part($2, '.', 2)::uuid))
order by r.dead_at desc, r.handoff_id desc limit $1`

/** Replies that no peer took until the end of trying, newest first. */
export function listDeadSessionReplies(
  db: Database,
  { limit, cursor }: SessionReplyPage,
): Promise<SessionReplyView[]> {
  return run(db, 'list_dead_session_replies', LIST_DEAD, [limit, cursor ?? null])
}

const COUNT_DEAD = `
select count(*)::int as count from
  (select from session_reply r where r.dead_at is not null limit $1) as counted`

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countDeadSessionReplies(db: Database): Promise<number> {
  const rows = await run<{ count: number }>(db, 'count_dead_session_replies', COUNT_DEAD, [
    COUNTED_MAX + 1,
  ])
  return rows[0]?.count ?? 0
}

const FORGET = `
delete from session_reply where handoff_id in (
  select r.handoff_id from session_reply r join handoff h on h.id = r.handoff_id
  where r.created_at < clock_timestamp() - interval '30 days' and h.state not in ${OPEN}
  order by r.created_at limit 500 for update of r skip locked)`

/** Forgets those of a month ago: no peer asks for an answer that late. */
export async function forgetSessionReplies(db: Database): Promise<void> {
  await run(db, 'forget_session_replies', FORGET)
}

const TAKEN_BY = `
select r.handoff_id as "handoffId", r.fencing_token as "fencingToken"
from remote_execution r where r.handoff_id = $1 and r.taken_by = $2`

/** The fencing token under which somebody has a handoff, or had it last; undefined where they never had it. */
export async function findTakenBy(
  db: Database,
  handoffId: string,
  takenBy: string,
): Promise<{ readonly handoffId: string; readonly fencingToken: number } | undefined> {
  const rows = await run<{ handoffId: string; fencingToken: number }>(
    db,
    'find_taken_by',
    TAKEN_BY,
    [handoffId, takenBy],
  )
  return rows[0]
}

const COUNT_TAKEN = `
select r.taken_by as "takenBy", count(*)::int as count from remote_execution r
join execution e on e.handoff_id = r.handoff_id and e.fencing_token = r.fencing_token
where e.status = 'EXECUTING' and e.lease_until > clock_timestamp() and r.taken_by = any($1::text[]) group by r.taken_by`

/** How many executions each of them has now. */
export async function countTaken(
  db: Database,
  takers: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await run<{ takenBy: string; count: number }>(db, 'count_taken', COUNT_TAKEN, [
    takers,
  ])
  return new Map(rows.map(({ takenBy, count }) => [takenBy, count]))
}
