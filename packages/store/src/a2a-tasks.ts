// Tasks that came in by A2A: found, listed and watched, with all that their callers are told of them.
import { COUNTED_MAX } from '@baton/postgres/list-positions'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

export interface NewA2aTask {
  readonly taskId: string
  readonly tenant: string
  readonly contextId: string
  readonly handoffId: string
  readonly messageId: string
}

/** Stands with the handoff that a message became; a task that is known keeps its context. */
export async function addA2aMessage(db: Database, added: NewA2aTask): Promise<void> {
  const { taskId, tenant, contextId, handoffId, messageId } = added
  const task = tables
    .insertInto('a2a_task')
    .values({ task_id: taskId, tenant, context_id: contextId })
    .onConflict((conflict) => conflict.column('task_id').doNothing())
  await run(db, 'add_a2a_task', task)
  const message = tables
    .insertInto('a2a_message')
    .values({ handoff_id: handoffId, task_id: taskId, message_id: messageId })
    .onConflict((conflict) => conflict.column('handoff_id').doNothing())
  await run(db, 'add_a2a_message', message)
}

export interface A2aPlace {
  readonly taskId: string
  readonly contextId: string
}

/** The context of a task that came in by A2A. */
export async function findA2aPlace(db: Database, taskId: string): Promise<A2aPlace | undefined> {
  const written = tables
    .selectFrom('a2a_task')
    .select(['task_id as taskId', 'context_id as contextId'])
    .where('task_id', '=', taskId)
  return (await run(db, 'find_a2a_place', written))[0]
}

/** How a task stands: what its state in A2A is made of. */
export interface A2aStanding {
  readonly taskId: string
  readonly contextId: string
  readonly status: string
  readonly open: number
  readonly executing: boolean
  readonly awaiting: boolean
  readonly accepted: boolean
  readonly movedAt: Date
  /** The same time to the microsecond, as Postgres writes it. */
  readonly movedAtExact: string
  /** Chunks of all its streams. */
  readonly chunks: number
  /** Of its last handoff. */
  readonly handoffId: string
  readonly lastState: string
  readonly reason: string | null
  readonly details: unknown
  readonly traceparent: string
  readonly spentMicroUSD: number
  readonly erased: boolean
}

const STANDING = `
select c.task_id as "taskId", c.context_id as "contextId", t.status, o.open, o.executing, o.awaiting, o.accepted, o.chunks,
  greatest(t.updated_at, o.moved_at) as "movedAt", greatest(t.updated_at, o.moved_at)::text as "movedAtExact", l.id as "handoffId", l.state as "lastState", l.reason,
  l.last_error as details, l.traceparent, t.spent_micro_usd as "spentMicroUSD", o.erased`

const FACTS = `
join task t on t.id = c.task_id
cross join lateral (
  select count(*) filter (where h.ended_at is null)::int as open, bool_or(h.state = 'EXECUTING') as executing,
    bool_or(h.state = 'AWAITING_APPROVAL') as awaiting, bool_or(h.accepted_at is not null) as accepted,
    bool_or(h.erased_at is not null) as erased, coalesce(sum(e.chunks), 0)::int as chunks,
    max(greatest(h.created_at, h.accepted_at, h.ended_at)) as moved_at
  from handoff h left join execution e on e.handoff_id = h.id where h.task_id = c.task_id) o
join lateral (
  select h.id, h.state, h.reason, h.last_error, h.traceparent from handoff h where h.task_id = c.task_id
  order by h.task_seq desc limit 1) l on true`

const STANDINGS = `${STANDING} from a2a_task c ${FACTS} where c.task_id = any($1::uuid[])`

/** Those of these tasks that came in by A2A, in no order. */
export function listA2aStandings(db: Database, taskIds: readonly string[]): Promise<A2aStanding[]> {
  return run<A2aStanding & object>(db, 'list_a2a_standings', STANDINGS, [taskIds])
}

export interface A2aFilter {
  readonly contextId?: string | undefined
  /** Moved at or after this time. */
  readonly since?: Date | undefined
}

// The newest of them, so that the order by when they last moved costs no more however many there have been.
const RECENT = `
with recent as (
  select c.task_id, c.context_id from a2a_task c
  where c.tenant = current_tenant() and ($1::text is null or c.context_id = $1)
  order by c.created_at desc, c.task_id desc limit ${COUNTED_MAX})
${STANDING} from recent c ${FACTS}
where $2::timestamptz is null or greatest(t.updated_at, o.moved_at) >= $2`

/** The tasks of the tenant for whom is asked, most recently moved first: of the newest 10,000 of them. */
export function listA2aTasks(
  db: Database,
  { contextId, since }: A2aFilter,
): Promise<A2aStanding[]> {
  const text = `${RECENT} order by "movedAt" desc, "taskId" desc`
  return run<A2aStanding & object>(db, 'list_a2a_tasks', text, [contextId ?? null, since ?? null])
}

/** What a task holds beside how it stands. */
export interface A2aContents {
  readonly taskId: string
  /** As JSON text. */
  readonly result: string | null
  readonly messages: readonly A2aMessage[]
}

export interface A2aMessage {
  readonly taskId: string
  readonly handoffId: string
  readonly messageId: string
  readonly erased: boolean
  readonly body: Buffer
}

const MESSAGES = `
select "taskId", "handoffId", "messageId", erased, body from (
  select m.task_id as "taskId", m.handoff_id as "handoffId", m.message_id as "messageId", h.erased_at is not null as erased, b.body,
    h.task_seq, row_number() over (partition by m.task_id order by h.task_seq desc) as newest
  from a2a_message m join handoff h on h.id = m.handoff_id join handoff_body b on b.handoff_id = m.handoff_id
  where m.task_id = any($1::uuid[])) c
where newest <= $2 order by "taskId", task_seq`

const RESULTS = `select id as "taskId", result from task where id = any($1::uuid[])`

/** Of these tasks, the last so many messages of each, and what came of them. */
export async function listA2aContents(
  db: Database,
  taskIds: readonly string[],
  messagesMax: number,
): Promise<ReadonlyMap<string, A2aContents>> {
  const results = await run<Omit<A2aContents, 'messages'> & object>(
    db,
    'list_a2a_results',
    RESULTS,
    [taskIds],
  )
  const messages =
    messagesMax === 0
      ? []
      : await run<A2aMessage & object>(db, 'list_a2a_messages', MESSAGES, [taskIds, messagesMax])
  return new Map(
    results.map((one) => [
      one.taskId,
      { ...one, messages: messages.filter(({ taskId }) => taskId === one.taskId) },
    ]),
  )
}

const SIZES = `
select i.id as "taskId", coalesce(octet_length(t.result), 0) + coalesce((
  select sum(octet_length(b.body)) from a2a_message m join handoff_body b on b.handoff_id = m.handoff_id
  where m.task_id = i.id), 0)::int + case when $2 then coalesce((
  select sum(e.chunk_bytes) from handoff h join execution e on e.handoff_id = h.id where h.task_id = i.id), 0)::int else 0 end as bytes
from unnest($1::uuid[]) i (id) join task t on t.id = i.id`

/** How many bytes the contents of each of these tasks have at most, with what their streams yielded where that is asked for. */
export async function measureA2aContents(
  db: Database,
  taskIds: readonly string[],
  withStreams: boolean,
): Promise<ReadonlyMap<string, number>> {
  const rows = await run<{ taskId: string; bytes: number }>(db, 'measure_a2a_contents', SIZES, [
    taskIds,
    withStreams,
  ])
  return new Map(rows.map(({ taskId, bytes }) => [taskId, bytes]))
}

/** A handoff of a task that has yielded chunks. */
export interface A2aStream {
  readonly taskId: string
  readonly handoffId: string
  readonly chunks: number
  readonly ended: boolean
}

/** The streams of a task, in the order of its handoffs. */
export function listA2aStreams(db: Database, taskId: string): Promise<A2aStream[]> {
  const written = tables
    .selectFrom('handoff as h')
    .innerJoin('execution as e', 'e.handoff_id', 'h.id')
    .select(({ eb }) => [
      'h.task_id as taskId',
      'h.id as handoffId',
      'e.chunks',
      eb('h.ended_at', 'is not', null).as('ended'),
    ])
    .where('h.task_id', '=', taskId)
    .where('e.chunks', '>', 0)
    .orderBy('h.task_seq')
    .limit(1_000)
  return run(db, 'list_a2a_streams', written) as Promise<A2aStream[]>
}
