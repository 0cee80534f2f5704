// What senders are told: notifications are inserted by the statement that makes them true, taken with a lease, and told at least once.
import { listen } from '@baton/postgres'
import type { Listener } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { ENDED_TASK, LEASED } from './states.ts'

/** What a sender is told: correct this message, or go on from your checkpoint. */
export interface SenderNotification {
  readonly noticeId: string
  readonly kind: 'return' | 'rollback'
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  /** The attempt that failed, from 1. */
  readonly attempt: number
  readonly attemptsMax: number
  /** The revision that was refused; a correction is the next one. */
  readonly revision: number
  readonly reason: string
  /** What was wrong, where and how to mend it. */
  readonly details: unknown
  readonly traceparent: string
  /** The exact signed bytes that were refused or rolled back. */
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
  /** The exact bytes of the sender's saved state. */
  readonly checkpoint: Uint8Array
  readonly checkpointSha256: Uint8Array
  /** From then on another taker may be told. */
  readonly leaseUntil: Date
  /** When it is tried again unless it is corrected before; null where nothing is scheduled. */
  readonly retryAt: Date | null
}

/** Who takes notifications, for how long, and how many at most. */
export interface TakeRequest {
  readonly agents: readonly string[]
  readonly kinds: readonly SenderNotification['kind'][]
  readonly taker: string
  readonly leaseMs: number
  readonly limit: number
}

/** Begins an insert of notifications; ends with `) n` after a select of the columns from handoff_id to details. */
export const NOTIFY_SENDER = (kind: SenderNotification['kind']): string => `
  insert into sender_notification (id, kind, handoff_id, task_id, from_agent, attempt, revision, reason, details)
  select gen_random_uuid(), '${kind}', n.* from (`

/** A notification whose taker failed this often is not offered again; attempts and people go on without it. */
const TAKES_MAX = 5

// One that is no longer true is put away on the way: the handoff was tried again, corrected or taken up
// since, or its task has ended. Taking a return holds its next attempt back for as long as the lease.
// Whoever is executing it meanwhile is not disturbed. Stale queue messages are refused by their publish attempt.
const TAKE = `
with waiting as (
  select n.id from unnest($1::text[]) as a(agent) cross join lateral (
    select s.id, s.created_at from sender_notification s
    where s.from_agent = a.agent and s.acknowledged_at is null and s.kind = any($5::text[])
      and (s.lease_until is null or s.lease_until < clock_timestamp())
    order by s.created_at limit $4 for update skip locked) n
  order by n.created_at limit $4
), looked as (
  select n.id, n.kind, n.handoff_id, n.takes < ${TAKES_MAX} and case
      when n.kind = 'rollback' then t.status not in ${ENDED_TASK}
        and not exists (select from handoff later where later.resumes_id = h.id)
      when h.state = 'DEAD_LETTERED' then h.revision = n.revision and exists (select from dead_letter d
        where d.handoff_id = h.id and d.asked_at is not null and d.resolved_at is null)
      else h.ended_at is null and h.revision = n.revision and h.attempt = n.attempt + 1 end as holds
  from waiting w join sender_notification n on n.id = w.id
  join handoff h on h.id = n.handoff_id join task t on t.id = n.task_id
), taken as (
  update sender_notification n set taker = $2, takes = n.takes + 1,
    lease_until = clock_timestamp() + $3 * interval '1 millisecond',
    acknowledged_at = case when not l.holds then clock_timestamp() end
  from looked l where n.id = l.id
  returning n.*, l.holds
), parked as (
  update handoff h set state = 'QUEUED', publish_attempt = h.publish_attempt + 1
  from taken n where n.holds and n.kind = 'return' and h.id = n.handoff_id
    and h.state in ('QUEUED', 'DISPATCHED') and not exists (select from execution e
      where e.handoff_id = h.id and e.status in ${LEASED} and e.lease_until > clock_timestamp())
  returning h.id, least(n.lease_until, coalesce(h.expires_at, 'infinity')) as due
), held_back as (
  insert into retry as r (handoff_id, due) select id, due from parked order by id
  on conflict (handoff_id) do update set due = greatest(r.due, excluded.due)
  returning handoff_id, due
)
select n.holds, n.id as "noticeId", n.kind, n.handoff_id as "handoffId", n.task_id as "taskId",
  n.from_agent as "fromAgent", h.to_agent as "toAgent", n.attempt, h.attempts_max as "attemptsMax",
  n.revision, n.reason, n.details, h.traceparent, b.body, h.key_id as "keyId", h.signature,
  c.body as checkpoint, c.sha256 as "checkpointSha256", n.lease_until as "leaseUntil",
  p.due as "retryAt"
from taken n join handoff h on h.id = n.handoff_id join handoff_body b on b.handoff_id = h.id
join checkpoint c on c.id = h.checkpoint_id left join held_back p on p.handoff_id = h.id
order by n.created_at`

const TAKE_ROUNDS_MAX = 10

/**
 * Takes what the senders `agents` must be told, oldest first, at most `limit` (E09, E15). Nobody else
 * is told the same within `leaseMs` of Postgres' clock; without an acknowledgement or a correction it
 * is told again, at most five times. A taken return is not tried again before its lease ends.
 */
export async function takeNotifications(
  db: Database,
  { agents, kinds, taker, leaseMs, limit }: TakeRequest,
): Promise<SenderNotification[]> {
  for (let round = 1; ; round += 1) {
    const rows = await run<SenderNotification & { readonly holds: boolean }>(
      db,
      'take_notifications',
      TAKE,
      [agents, taker, leaseMs, limit, kinds],
    )
    const told = rows.flatMap(({ holds, ...notification }) => (holds ? [notification] : []))
    if (told.length > 0 || rows.length < limit || round === TAKE_ROUNDS_MAX) return told
  }
}

const ACKNOWLEDGE = `
with known as (
  select id from sender_notification where id = any($1::uuid[]) and taker = $2 order by id for update
), done as (
  update sender_notification set acknowledged_at = clock_timestamp()
  where id in (select id from known) and acknowledged_at is null
  returning kind, handoff_id, attempt, revision
), hurried as (
  update retry r set due = least(r.due, clock_timestamp())
  from done d join handoff h on h.id = d.handoff_id
  where d.kind = 'return' and r.handoff_id = h.id
    and h.attempt = d.attempt + 1 and h.revision = d.revision
)
select id from known`

/**
 * The taker is done with these; repeating it changes nothing. A return that was not corrected is
 * tried again at once. Answers which of them the taker had.
 */
export async function acknowledgeNotifications(
  db: Database,
  noticeIds: readonly string[],
  taker: string,
): Promise<ReadonlySet<string>> {
  const rows = await run<{ id: string }>(db, 'acknowledge_notifications', ACKNOWLEDGE, [
    noticeIds,
    taker,
  ])
  return new Set(rows.map((row) => row.id))
}

const SWEEP_MAX = 500

const SWEEP = `
delete from sender_notification where id = any(
  array(select id from sender_notification where acknowledged_at < clock_timestamp() - interval '1 hour'
    order by acknowledged_at limit ${SWEEP_MAX} for update skip locked)
  || array(select id from sender_notification where created_at < clock_timestamp() - interval '7 days'
    order by created_at limit ${SWEEP_MAX} for update skip locked))
returning id`

/** Forgets notifications an hour after they were dealt with, and after seven days in any case; answers how many. */
export async function sweepNotifications(db: Database): Promise<number> {
  return (await run(db, 'sweep_notifications', SWEEP)).length
}

/** Wakes whoever answers for agents. Sent outside the writing transaction, as notifyOutbox. */
export async function notifySenders(db: Database): Promise<void> {
  await run(db, 'notify_senders', `select pg_notify('baton_senders', '')`)
}

/** Hears `notifySenders` on a connection of its own, until closed. */
export const listenToSenders = (heard: {
  readonly url: string
  readonly onWake: () => void
}): Listener => listen({ ...heard, channel: 'baton_senders' })
