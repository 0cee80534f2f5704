// What waits, counted once for every gauge: in queues by agent type, and for people. Every count is bounded and reads
// nothing but indexes of what is open.
import { run } from './database.ts'
import type { Database } from './database.ts'
import { EARLIER_IS_OPEN, IS_HELD } from './states.ts'

/** Published handoffs of one agent type that nobody has claimed. */
export interface QueuedForAgent {
  readonly agent: string
  readonly depth: number
  readonly oldestAgeSeconds: number
}

export interface Waiting {
  /** Agent types with nothing are left out. */
  readonly queues: readonly QueuedForAgent[]
  readonly deadLetters: number
  readonly deadLetterOldestAgeSeconds: number
  readonly approvals: number
  readonly escalations: number
  /** Open and not acknowledged. */
  readonly alerts: number
}

/** Further than this nothing is counted. */
const COUNT_MAX = 100_000
/** Agent types that are looked at, in the order of their names. */
const AGENTS_MAX = 1_000
/** Open handoffs of one agent type that are looked at; published ones come before those that still wait for a relay. */
const OPEN_MAX = 2_000

const count = (table: string, where: string): string =>
  `(select count(*) from (select from ${table} where ${where} limit ${COUNT_MAX}) counted)`

const AGENT = 'coalesce(h.routed_to, h.to_agent)'

// Jumps from one agent type to the next along the index, as the classes of the outbox are found. What waits for a retry
// or for its turn in the task has a job that no receiver may take yet.
const WAITING = `
with recursive agent as (
  (select ${AGENT} as type from handoff h where h.ended_at is null and ${AGENT} is not null order by ${AGENT} limit 1)
  union all
  select next.type from agent cross join lateral (
    select ${AGENT} as type from handoff h where h.ended_at is null and ${AGENT} > agent.type order by ${AGENT} limit 1) next
), queued as (
  select a.type as agent, waiting.depth, waiting.oldest
  from (select type from agent limit ${AGENTS_MAX}) a cross join lateral (
    select count(*) as depth, min(h.dispatched_at) as oldest
    from (select * from handoff h where h.ended_at is null and ${AGENT} = a.type
      order by h.priority, h.created_at, h.id limit ${OPEN_MAX}) h
    where h.state = 'DISPATCHED' and not ${IS_HELD} and not ${EARLIER_IS_OPEN}
      and not exists (select from retry r where r.handoff_id = h.id)) waiting
  where waiting.depth > 0
)
select
  (select coalesce(jsonb_agg(jsonb_build_object('agent', agent, 'depth', depth,
    'oldestAgeSeconds', extract(epoch from clock_timestamp() - oldest)::float8)), '[]') from queued) as queues,
  ${count('dead_letter', 'resolved_at is null')} as "deadLetters",
  coalesce((select extract(epoch from clock_timestamp() - created_at)::float8 from dead_letter
    where resolved_at is null order by created_at limit 1), 0) as "deadLetterOldestAgeSeconds",
  ${count('approval', 'closed_at is null')} as approvals,
  ${count('escalation', 'resolved_at is null')} as escalations,
  ${count('alert', 'closed_at is null and acknowledged_at is null')} as alerts`

export async function readWaiting(db: Database): Promise<Waiting> {
  const [row] = await run<Waiting>(db, 'read_waiting', WAITING)
  if (row === undefined) throw new Error('a statement without from has one row')
  return row
}
