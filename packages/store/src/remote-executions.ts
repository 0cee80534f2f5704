// Executions that an agent outside has taken: it keeps the lease and settles over whatever face it took them by.
// Fenced like all others, and by who took them.
import { columns, int4, text, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { CLAIMED_COLUMNS, CLAIMED_JOINS, MAY_GO_ON } from './executions.ts'
import type { ClaimedHandoff, ClaimRequest, Fence } from './executions.ts'
import { CLAIMABLE, EARLIER_IS_OPEN, IN_TIME, LEASED } from './states.ts'

export interface RemoteExecution extends Fence {
  /** The operator who took it. */
  readonly takenBy: string
  readonly agentType: string
  readonly agentVersion: string
  /** For how long each of its heartbeats keeps it. */
  readonly leaseMs: number
  /** How long it holds from now, until its first heartbeat. */
  readonly firstLeaseMs: number
  /** The span in which it was given away. */
  readonly traceparent: string
}

const TAKEN = columns({
  handoffId: uuid,
  fencingToken: int4,
  takenBy: text,
  agentType: text,
  agentVersion: text,
  leaseMs: int4,
  firstLeaseMs: int4,
  traceparent: text,
})

const TAKE = `
with input as (
  select * from ${TAKEN.unnest('t')}
), held as (
  update execution e set lease_until = clock_timestamp() + i.first_lease_ms * interval '1 millisecond'
  from input i, handoff h
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status = 'EXECUTING'
    and h.id = e.handoff_id and ${MAY_GO_ON}
  returning e.handoff_id, e.lease_until, e.chunks, h.expires_at
), taken as (
  insert into remote_execution (handoff_id, fencing_token, taken_by, agent_type, agent_version, lease_ms, traceparent)
  select i.handoff_id, i.fencing_token, i.taken_by, i.agent_type, i.agent_version, i.lease_ms, i.traceparent
  from input i join held on held.handoff_id = i.handoff_id
  on conflict (handoff_id) do update set fencing_token = excluded.fencing_token, taken_by = excluded.taken_by,
    agent_type = excluded.agent_type, agent_version = excluded.agent_version, lease_ms = excluded.lease_ms,
    traceparent = excluded.traceparent, taken_at = clock_timestamp()
)
select handoff_id as "handoffId", lease_until as "leaseUntil", expires_at as "expiresAt", chunks from held`

/** A lease that holds until `leaseUntil`, by Postgres' clock; nothing of it commits after `expiresAt`. */
export interface TakenLease {
  readonly handoffId: string
  readonly leaseUntil: Date
  readonly expiresAt: Date | null
  /** How many chunks earlier attempts have committed: the number of the last. */
  readonly chunks: number
}

/** Gives started executions to who took them, for a lease from now; answers those whose fencing token still held. */
export function takeExecutions(
  db: Database,
  taken: readonly RemoteExecution[],
): Promise<TakenLease[]> {
  return run(db, 'take_executions', TAKE, TAKEN.values(taken))
}

const FENCES = columns({ handoffId: uuid, fencingToken: int4 })

/** Who says that an execution is theirs. */
export interface Taker {
  readonly operator: string
  /** Those it may work as; all where it is undefined. */
  readonly agentTypes?: ReadonlySet<string> | undefined
}

const takerValues = ({ operator, agentTypes }: Taker) => [
  operator,
  agentTypes === undefined ? null : [...agentTypes],
]

const IS_TAKER = (remote: string): string =>
  `${remote}.taken_by = $3 and ($4::text[] is null or ${remote}.agent_type = any($4::text[]))`

/** Execution `e` is remote and was taken by the taker in parameters `$3` and `$4`, under the token of `i`. */
const IS_THEIRS = `e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token
  and r.handoff_id = e.handoff_id and r.fencing_token = e.fencing_token and ${IS_TAKER('r')}`

const KEEP = `
update execution e set lease_until = clock_timestamp() + r.lease_ms * interval '1 millisecond'
from ${FENCES.unnest('i')}, handoff h, remote_execution r
where ${IS_THEIRS} and h.id = e.handoff_id and e.status in ${LEASED} and ${MAY_GO_ON}
returning e.handoff_id as "handoffId", e.lease_until as "leaseUntil", h.cancel_grace_until as "canceledUntil"`

export interface KeptLease {
  readonly handoffId: string
  readonly leaseUntil: Date
  /** Null unless it is being canceled: then a result counts until that time. */
  readonly canceledUntil: Date | null
}

/** Heartbeat of who took them; answers the leases that still hold. */
export function keepRemoteLeases(
  db: Database,
  fences: readonly Fence[],
  taker: Taker,
): Promise<KeptLease[]> {
  return run(db, 'keep_remote_leases', KEEP, [...FENCES.values(fences), ...takerValues(taker)])
}

/** What is settled: as it was claimed, and by which agent it was executed. */
export interface TakenHandoff extends ClaimedHandoff {
  readonly agentType: string
  readonly agentVersion: string
  /** The span in which it was given away. */
  readonly takenIn: string
}

const LOAD = `
select ${CLAIMED_COLUMNS('e')}, x.agent_type as "agentType", x.agent_version as "agentVersion", x.traceparent as "takenIn"
from ${FENCES.unnest('i')} join execution e on e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token
join remote_execution x on x.handoff_id = e.handoff_id and x.fencing_token = e.fencing_token and ${IS_TAKER('x')}
${CLAIMED_JOINS('e')}
where e.status = 'EXECUTING'`

/** Those that run still, each with its signed bytes. */
export async function loadTaken(
  db: Database,
  fences: readonly Fence[],
  taker: Taker,
): Promise<TakenHandoff[]> {
  const rows = await run<Omit<TakenHandoff, 'kind'>>(db, 'load_taken', LOAD, [
    ...FENCES.values(fences),
    ...takerValues(taker),
  ])
  return rows.map((row) => ({ kind: 'claimed', ...row }))
}

const IS_TAKEN = `
select from ${FENCES.unnest('i')}, execution e, remote_execution r where ${IS_THEIRS} and e.status = 'EXECUTING'`

/** Whether it runs still, and is theirs. */
export async function isTaken(db: Database, fence: Fence, taker: Taker): Promise<boolean> {
  const taken = await run(db, 'is_taken', IS_TAKEN, [
    ...FENCES.values([fence]),
    ...takerValues(taker),
  ])
  return taken.length > 0
}

const SETTLED = `
select i.handoff_id as "handoffId", h.state
from ${FENCES.unnest('i')}, execution e, remote_execution r, handoff h
where ${IS_THEIRS} and e.status = 'DONE' and h.id = e.handoff_id`

/** Those that were settled under this very fencing token before, with the state they are in. */
export function findSettled(
  db: Database,
  fences: readonly Fence[],
  taker: Taker,
): Promise<{ readonly handoffId: string; readonly state: string }[]> {
  return run(db, 'find_settled', SETTLED, [...FENCES.values(fences), ...takerValues(taker)])
}

const CLAIM_REQUEST = `
select h.id as "handoffId", h.publish_attempt as "publishAttempt" from handoff h
where h.id = $1 and h.state in ${CLAIMABLE} and ${IN_TIME} and not h.cancel_requested and not ${EARLIER_IS_OPEN}`

/** What claims a handoff that is named rather than fetched from a queue; undefined where it cannot be claimed now. */
export async function findClaim(
  db: Database,
  handoffId: string,
): Promise<ClaimRequest | undefined> {
  return (await run<ClaimRequest>(db, 'find_claim', CLAIM_REQUEST, [handoffId]))[0]
}

const FORGET = `
delete from remote_execution where handoff_id in (
  select r.handoff_id from remote_execution r join execution e on e.handoff_id = r.handoff_id
  where r.taken_at < clock_timestamp() - interval '1 day'
    and (e.status not in ${LEASED} or e.fencing_token <> r.fencing_token)
  order by r.taken_at limit 500 for update of r skip locked)`

/** Forgets those that were settled or lost a day ago: nobody repeats a settlement that late. */
export async function forgetRemoteExecutions(db: Database): Promise<void> {
  await run(db, 'forget_remote_executions', FORGET)
}
