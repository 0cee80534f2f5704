// Which workers host which agent types now, and which type could take a handoff that was blocked elsewhere.
import { COUNTED_MAX } from '@baton/postgres/list-positions'
import type { AgentRegistration } from '@baton/protocol'
import type { Fence } from './executions.ts'
import { columns, int4, jsonb, nullable, text } from '@baton/postgres'
import { run, tables } from './database.ts'
import { PUBLISH, QUEUE } from './publications.ts'
import { LEASED } from './states.ts'
import type { Database } from './database.ts'

/** A worker renews its rows every 10 s; one that was not renewed for this long does not count. */
export const LIVE = `seen_at > clock_timestamp() - interval '30 seconds'`

const HOSTED = columns({
  type: text,
  version: text,
  lists: jsonb,
  contextWindowTokens: nullable(int4),
  jurisdiction: nullable(text),
})

const REGISTER = `
insert into agent_registration as a (type, worker, version, requires, capabilities, mcp, context_window, jurisdiction)
select t.type, $1, t.version, array(select jsonb_array_elements_text(t.lists -> 'requires')),
  array(select jsonb_array_elements_text(t.lists -> 'capabilities')),
  array(select jsonb_array_elements_text(t.lists -> 'mcp')), t.context_window_tokens, t.jurisdiction
from ${HOSTED.unnest('t', { after: 1 })}
order by t.type
on conflict (type, worker) do update set version = excluded.version, requires = excluded.requires,
  capabilities = excluded.capabilities, mcp = excluded.mcp, context_window = excluded.context_window,
  jurisdiction = excluded.jurisdiction, seen_at = clock_timestamp()`

/** Says that `worker` hosts these agents now, by Postgres' clock. */
export async function registerAgents(
  db: Database,
  worker: string,
  agents: readonly AgentRegistration[],
): Promise<void> {
  const hosted = agents.map(
    ({ type, version, requires, capabilities = [], mcp = [], ...agent }) => ({
      type,
      version,
      lists: JSON.stringify({ requires, capabilities, mcp }),
      contextWindowTokens: agent.contextWindowTokens ?? null,
      jurisdiction: agent.jurisdiction ?? null,
    }),
  )
  await run(db, 'register_agents', REGISTER, [worker, ...HOSTED.values(hosted)])
}

/** Says that a worker hosts nothing any more. */
export async function unregisterAgents(db: Database, worker: string): Promise<void> {
  const written = tables.deleteFrom('agent_registration').where('worker', '=', worker)
  await run(db, 'unregister_agents', written)
}

/** Removes the registrations of workers that ended without unregistering. */
export async function sweepRegistrations(db: Database): Promise<void> {
  const text = `delete from agent_registration where (type, worker) in (
    select type, worker from agent_registration
    where seen_at < clock_timestamp() - interval '1 hour' limit 500 for update skip locked)`
  await run(db, 'sweep_registrations', text)
}

/** Those of these agent types that a live worker hosts. */
export async function findLiveTypes(
  db: Database,
  types: readonly string[],
): Promise<ReadonlySet<string>> {
  const written = `select distinct type from agent_registration where type = any($1::text[]) and ${LIVE}`
  const rows = await run<{ type: string }>(db, 'find_live_types', written, [types])
  return new Set(rows.map((row) => row.type))
}

const CONTEXT_WINDOWS = `
select type, case when bool_or(${LIVE}) then min(context_window) filter (where ${LIVE})
  else min(context_window) end as "windowTokens"
from agent_registration where type = any($1::text[]) group by type`

/**
 * The smallest context window among the live workers of each of these agent types, since any of them may claim; of a
 * type whose workers have just died, the smallest among those. A type that registered none is not in it.
 */
export async function findContextWindows(
  db: Database,
  types: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await run<{ type: string; windowTokens: number | null }>(
    db,
    'find_context_windows',
    CONTEXT_WINDOWS,
    [types],
  )
  return new Map(
    rows.flatMap(({ type, windowTokens }) => (windowTokens === null ? [] : [[type, windowTokens]])),
  )
}

export interface LiveAgentView {
  readonly type: string
  /** Distinct versions among the live workers, in no order. */
  readonly versions: readonly string[]
  readonly requires: readonly string[]
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
  readonly workers: number
  readonly seenAt: Date
  readonly position: string
}

export interface LiveAgentPage {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

/** Agent types with a live worker, by name. What a type is said to have, every one of its workers has. */
export function listLiveAgents(
  db: Database,
  asked: number | LiveAgentPage,
): Promise<LiveAgentView[]> {
  const { limit, cursor = '' }: LiveAgentPage = typeof asked === 'number' ? { limit: asked } : asked
  const common = (column: string) =>
    `array(select member from agent_registration c, unnest(c.${column}) as member
       where c.type = a.type and c.${LIVE} group by member
       having count(distinct c.worker) = (select count(*) from agent_registration w
         where w.type = a.type and w.${LIVE}) order by member)`
  const text = `select a.type, a.type as position, array_agg(distinct a.version) as versions, count(*) as workers,
      max(a.seen_at) as "seenAt",
      array(select distinct member from agent_registration c, unnest(c.requires) as member
        where c.type = a.type and c.${LIVE} order by member) as requires,
      ${common('capabilities')} as capabilities, ${common('mcp')} as mcp
    from agent_registration a where a.${LIVE} and a.type > $2 group by a.type order by a.type limit $1`
  return run(db, 'list_live_agents', text, [limit, cursor])
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countLiveAgents(db: Database): Promise<number> {
  const text = `select count(*)::int as count from
    (select distinct a.type from agent_registration a where a.${LIVE} limit $1) as counted`
  return (
    (await run<{ count: number }>(db, 'count_live_agents', text, [COUNTED_MAX + 1]))[0]?.count ?? 0
  )
}

// Only a type whose every live worker can take it: any of them may be the one that claims it.
const CAN_TAKE = (needs: Readonly<Record<keyof Needs, string>>): string => `bool_and(
    a.capabilities @> ${needs.capabilities}::text[] and a.mcp @> ${needs.mcp}::text[]
    and a.requires <@ ${needs.stateKeys}::text[]
    and (${needs.places}::text[] is null or coalesce(a.jurisdiction = any(${needs.places}), false)))`

const CAPABLE = `
select a.type, count(*)::int as workers, array_agg(distinct a.version) as versions
from agent_registration a where a.${LIVE} and a.type <> $5
  and reaches(coalesce((select tenant from task where id = $7), $8, 'default'), a.type)
group by a.type
having ${CAN_TAKE({ capabilities: '$1', mcp: '$2', stateKeys: '$3', places: '$4' })}
order by count(*) desc, a.type limit $6`

/** An agent type whose every live worker has what a handoff needs. */
export interface CapableType {
  readonly type: string
  readonly workers: number
  readonly versions: readonly string[]
}

/** For whom a type is looked for, and at most how many. */
interface CapableFor {
  /** It never goes back to it. */
  readonly sender: string
  readonly limit: number
  /** Only types that its tenant reaches; where the task begins, those that `tenant` does. */
  readonly taskId: string
  readonly tenant: string | null
}

/** Those that could take what `sender` hands on, the one with the most workers first. */
export function findCapableTypes(
  db: Database,
  { capabilities, mcp, stateKeys, places }: Needs,
  { sender, limit, taskId, tenant }: CapableFor,
): Promise<CapableType[]> {
  const values = [capabilities, mcp, stateKeys, places, sender, limit, taskId, tenant]
  return run(db, 'find_capable_types', CAPABLE, values)
}

const REROUTE = `
with target as (
  select a.type from agent_registration a, handoff h
  where h.id = $1 and a.${LIVE}
    and a.type <> all (h.blocked_at_types) and a.type not in ($3, h.to_agent, h.from_agent)
    and reaches(h.tenant, a.type)
  group by a.type
  having ${CAN_TAKE({ capabilities: '$4', mcp: '$5', stateKeys: '$6', places: '$8' })}
  order by count(*) desc, a.type limit 1
), stopped as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from target where e.handoff_id = $1 and e.fencing_token = $2 and e.status in ${LEASED}
  returning e.handoff_id
), routed as (
  update handoff h set routed_to = target.type, blocked_at_types = array_append(h.blocked_at_types, $3),
    state = 'QUEUED', publish_attempt = h.publish_attempt + 1, queued_at = clock_timestamp(),
    reason = 'BLOCKED', last_error = $7
  from stopped s, target where h.id = s.handoff_id and h.ended_at is null and not h.cancel_requested
  returning h.*, ${QUEUE} as queue
), published as (${PUBLISH('routed')}
)
select routed_to as "routedTo" from routed`

/** What a handoff needs of whoever executes it. */
export interface Needs {
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
  /** Keys that its `currentState` has. */
  readonly stateKeys: readonly string[]
  /** Where its data may be processed; null where it may be anywhere. */
  readonly places: readonly string[] | null
}

export interface BlockedAt extends Fence, Needs {
  /** The type that could not take it. */
  readonly type: string
  /** JSON: what was missing. */
  readonly details: string
}

/**
 * Publishes a blocked handoff for another live agent type that has all it needs, and answers which;
 * undefined where there is none it was not blocked at before, or the fencing token is lost. Every type is
 * tried once, so this ends.
 */
export async function rerouteHandoff(
  db: Database,
  blocked: BlockedAt,
): Promise<string | undefined> {
  const { handoffId, fencingToken, type, capabilities, mcp, stateKeys, details, places } = blocked
  const rows = await run<{ routedTo: string }>(db, 'reroute_handoff', REROUTE, [
    handoffId,
    fencingToken,
    type,
    capabilities,
    mcp,
    stateKeys,
    details,
    places,
  ])
  return rows[0]?.routedTo
}
