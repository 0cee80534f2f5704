// Alerts: one open row for each cause, however often it comes. Settlements only add narrow rows that nobody waits for; the
// sweeper counts those. An alert, its history and what is told of it change in one statement.
import { sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/** Wake somebody, or leave it to a working day. */
export type AlertSeverity = 'page' | 'ticket'
export const ALERT_STATES = ['open', 'acknowledged', 'closed'] as const
export type AlertState = (typeof ALERT_STATES)[number]

export interface Alert {
  /** What makes two occurrences the same alert: one is open for each key. */
  readonly key: string
  readonly kind: string
  readonly severity: AlertSeverity
  /** A code, never text of a message. */
  readonly reason: string
  /** What it is about, by names: agent types, a transport. */
  readonly subject: Readonly<Record<string, string>>
}

// Names of agents hold spaces, and never a control character: other names are another key.
const KEY_SEPARATOR = '\u001f'

/** The key of what an alert is about, from its kind and the names that tell it from others. */
export const alertKey = (...parts: readonly string[]): string => parts.join(KEY_SEPARATOR)

/** An alert lists so many of its handoffs, the newest. */
const HANDOFFS_MAX = 20

// Rows are counted into open alerts in the order of their keys, so that two who count the same keys wait for each other
// and never in a circle. An alert that is being closed is waited for as well, and then a new one opens. One more digit in
// the count is ten times as often; of escalations only the first is told.
const RAISE = `
raised as (
  insert into alert as a (key, kind, severity, reason, subject, sender, occurrences, escalations, handoff_ids, first_at, last_at)
  select key, kind, severity, reason, subject, sender, occurrences, escalations, handoff_ids, first_at, last_at
  from counted order by key
  on conflict (key) where closed_at is null do update set severity = excluded.severity, reason = excluded.reason,
    subject = excluded.subject, occurrences = a.occurrences + excluded.occurrences,
    escalations = a.escalations + excluded.escalations,
    handoff_ids = (excluded.handoff_ids || a.handoff_ids)[1:${HANDOFFS_MAX}],
    first_at = least(a.first_at, excluded.first_at), last_at = greatest(a.last_at, excluded.last_at)
  returning id, key, occurrences, escalations
), changed as (
  select r.id, r.occurrences, case
      when r.occurrences = c.occurrences then 'opened'
      when c.escalations > 0 and r.escalations = c.escalations then 'escalated'
      when length(r.occurrences::text) > length((r.occurrences - c.occurrences)::text) then 'repeated' end as change
  from raised r join counted c on c.key = r.key
), told as (
  insert into alert_change (alert_id, change, occurrences)
  select id, change, occurrences from changed where change is not null
)`

const RAISE_ONE = `
with counted as (
  select $1::text as key, $2::text as kind, $3::text as severity, $4::text as reason, $5::jsonb as subject, null::text as sender,
    1::bigint as occurrences, 0::bigint as escalations, '{}'::uuid[] as handoff_ids,
    clock_timestamp() as first_at, clock_timestamp() as last_at
), ${RAISE}
select id as "alertId" from raised`

/**
 * Says that something happened: the first time opens an alert, every further time counts up the one that is open. Answers
 * its id. In a transaction, whoever raises the same key waits until that ends.
 */
export async function raiseAlert(db: Database, alert: Alert): Promise<string> {
  const { key, kind, severity, reason, subject } = alert
  const values = [key, kind, severity, reason, JSON.stringify(subject)]
  const [raised] = await run<{ alertId: string }>(db, 'raise_alert', RAISE_ONE, values)
  return raised?.alertId ?? ''
}

const CLOSE = `
with closed as (
  update alert set closed_at = clock_timestamp(), closed_by = $2, closed_why = $3
  where key = $1 and closed_at is null returning id, occurrences
)
insert into alert_change (alert_id, change, occurrences, actor, why)
select id, 'closed', occurrences, $2, $3 from closed returning alert_id as "alertId"`

/** What raised it is over: closes the open alert of this key by itself. Answers whether there was one. */
export async function closeAlert(db: Database, key: string): Promise<boolean> {
  return (await run(db, 'close_alert_by_key', CLOSE, [key, null, 'over'])).length > 0
}

/** The open alerts of one kind, by their keys, and what each is about. */
export async function listOpenSubjects(
  db: Database,
  kind: string,
): Promise<ReadonlyMap<string, Alert['subject']>> {
  const written = tables
    .selectFrom('alert')
    .select(['key', sql<Alert['subject']>`subject`.as('subject')])
    .where('kind', '=', kind)
    .where('closed_at', 'is', null)
  const open = await run(db, 'list_open_subjects', written)
  return new Map(open.map(({ key, subject }) => [key, subject]))
}

const COUNT_MAX = 2_000
/** Above so many open alerts no further pair gets its own: whoever sends can name agents without end. */
const OPEN_MAX = 1_000
/** So many open alerts at most are opened by the handoffs of one sender; one of each kind and reason counts the rest. */
const OPEN_OF_SENDER_MAX = 50

// Forged messages wake somebody; everything else that comes of a handoff waits for a person anyway.
const SEVERITY = `case when reason in ('SIGNATURE_INVALID', 'BATON_JOIN_FORGED') then 'page' else 'ticket' end`

const isOpen = (key: string) =>
  `exists (select from alert a where a.closed_at is null and a.key = ${key})`
const keyOf = (...parts: readonly string[]) =>
  `concat_ws('${KEY_SEPARATOR}', kind, reason, ${parts.join(', ')})`

// A pair has its own alert where one is open, or where its sender and all senders together are below their bounds. What
// else comes of a sender above its bound is counted into one alert, and beyond all bounds into one of its kind and reason.
// Whoever counts at the same time may each open as many as are left.
const COUNT = `
with taken as (
  delete from alert_occurrence where id = any(array(
    select id from alert_occurrence order by id limit ${COUNT_MAX} for update skip locked))
  returning *
), sent as (
  select o.*, h.from_agent, coalesce(h.routed_to, h.to_agent) as to_agent, coalesce(h.sent_by, h.from_agent) as sender
  from taken o left join handoff h on h.id = o.handoff_id
), keyed as (
  select *, ${keyOf('from_agent', 'to_agent')} as key, ${keyOf(`''`, `''`, 'sender')} as sender_key from sent
), found as (
  select *, ${isOpen('k.key')} as is_open from keyed k
), ranked as (
  select *, dense_rank() over (partition by sender, is_open order by key) as nth from found
), bounded as (
  select *, is_open or nth <= ${OPEN_OF_SENDER_MAX} - (select count(*) from (
    select from alert a where a.closed_at is null and a.sender = r.sender limit ${OPEN_OF_SENDER_MAX}) n) as is_within
  from ranked r
), judged as (
  select *, is_open or is_within and dense_rank() over (partition by is_open, is_within order by key) <= room.alerts as of_pair,
    not is_within and (room.alerts > 0 or ${isOpen('sender_key')}) as of_sender
  from bounded, (select ${OPEN_MAX} - count(*) as alerts from (
    select from alert where closed_at is null limit ${OPEN_MAX}) n) room
), placed as (
  select id, kind, reason, escalated, handoff_id, created_at, case when of_pair then sender end as sender,
    case when of_pair then key when of_sender then sender_key else ${keyOf('null')} end as key,
    case when of_pair then jsonb_build_object('fromAgent', from_agent, 'toAgent', to_agent)
      when of_sender then jsonb_build_object('sender', sender) else '{}' end as subject
  from judged
), counted as (
  select key, kind, ${SEVERITY} as severity, reason, jsonb_strip_nulls(subject) as subject,
    (array_agg(sender order by id))[1] as sender, count(*) as occurrences,
    count(*) filter (where escalated) as escalations,
    (array_agg(handoff_id order by id desc))[1:${HANDOFFS_MAX}] as handoff_ids,
    min(created_at) as first_at, max(created_at) as last_at
  from placed group by key, kind, reason, subject
), ${RAISE}
select count(*)::int as count from taken`

/**
 * Counts what settlements noted into alerts, one for each kind, reason and pair of agents (E15). Any number may count at
 * the same time: each takes other rows, and a row is counted exactly once. Answers how many it took.
 */
export async function countAlerts(db: Database): Promise<number> {
  let counted = 0
  for (let round = 1; round <= COUNT_ROUNDS_MAX; round += 1) {
    const [row] = await run<{ count: number }>(db, 'count_alerts', COUNT)
    counted += row?.count ?? 0
    if ((row?.count ?? 0) < COUNT_MAX) break
  }
  return counted
}

const COUNT_ROUNDS_MAX = 10
