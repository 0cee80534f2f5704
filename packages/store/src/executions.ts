// Executions: claiming a fencing token, recording the audit receipt, keeping the lease. All times are Postgres' own.
import type { DecisionSignature } from '@baton/ledger'
import type { OfferedOverride } from '@baton/protocol'
import { columns, int4, int8, nullable, text, timestamptz, uuid } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { REQUEUE } from './publications.ts'
import type { SignedVote } from './reviews.ts'
import { CLAIMABLE, EARLIER_IS_OPEN, IN_TIME, LEASED } from './states.ts'

export interface ClaimRequest {
  readonly handoffId: string
  readonly publishAttempt: number
}

/** A claimed handoff with its signed bytes; the fencing token fences every later write. */
export interface ClaimedHandoff {
  readonly kind: 'claimed'
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly fencingToken: number
  /** How often an owner died or stalled while it held this handoff. */
  readonly leaseExpiries: number
  /** Whether somebody approved, released, corrected or resumed it: that stands in the log first. */
  readonly decided: boolean
  readonly attempt: number
  readonly attemptsMax: number
  readonly publishAttempt: number
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  /** The branch it belongs to; null on the task’s own way. */
  readonly branchId: string | null
  /** The last handoffs of the branches that it joins; null where it joins none. */
  readonly joins: readonly string[] | null
  /** The agent type that executes it instead of `toAgent`, which could not. */
  readonly routedTo: string | null
  readonly parentId: string | null
  readonly traceparent: string
  readonly tracestate: string | null
  /** Time since the handoff was published, or queued where that is not yet visible. */
  readonly queueSeconds: number
  /** Of the task, or of the branch it belongs to. */
  readonly budgetMicroUSD: number
  /** How many handoffs of the task have failed before. */
  readonly failedHandoffs: number
  /** What the parent handoff left over; null for a task's first handoff. */
  readonly parentRemainingMicroUSD: number | null
  readonly sentBy: string | null
  /** Who had sent it before it was corrected. */
  readonly earlierSenders: readonly string[]
  /** Whose task it is in. */
  readonly tenant: string
  /** Under which it may pass the safety check; whether it still holds is judged, not assumed. */
  readonly approvalOverride: ClaimedOverride | null
  /** What a person signed where they approved it; null where nobody did. */
  readonly approval: ClaimedApproval | null
}

/** What people allowed, as it stands in Postgres: whether they did is judged by their signatures. */
export interface ClaimedOverride extends OfferedOverride {
  /** Null, as the next two, on what was given before people signed. */
  readonly quarantineAttempt: number | null
  readonly validHours: number | null
  readonly votes: readonly SignedVote[] | null
}

export interface ClaimedApproval {
  readonly person: string | null
  readonly reasonCode: string | null
  /** Null on approvals from before people signed. */
  readonly signed: DecisionSignature | null
}

/** Not claimed: ended, held by a live lease, superseded by a later publish attempt, or not its turn. */
export interface RefusedClaim {
  readonly kind: 'refused'
}

/** Names an execution and proves the right to settle it. */
export interface Fence {
  readonly handoffId: string
  readonly fencingToken: number
}

/** A lease that still holds. Both times are null unless the handoff is being canceled. */
export interface HeldLease {
  readonly handoffId: string
  /** Until when a result still commits, and how long that is from now, by Postgres' clock. */
  readonly canceledUntil: Date | null
  readonly graceMs: number | null
}

/** An execution that is about to start, with the receipt that proves its decision record. */
export interface StartedExecution extends Fence {
  readonly auditOrigin: string
  readonly auditSeq: number
  /** Lower-case hex. */
  readonly auditHash: string
  /** When it must be done; once it is accepted, nothing else ends it. */
  readonly deadline: string | null
}

const CLAIMS = columns({ handoffId: uuid, publishAttempt: int4 })

/** A row `r` of `approval_override` as ClaimedOverride; evaluated only for the few handoffs that have one. */
const OVERRIDE_JSON = `json_build_object('id', r.id, 'handoffId', r.handoff_id,
  'sha256', encode(r.body_sha256, 'hex'), 'rulesetVersion', r.ruleset_version, 'reason', r.reason,
  'quarantineAttempt', r.quarantine_attempt, 'validHours', r.valid_hours, 'votes', r.votes,
  'expiresAt', to_char(r.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'expired', r.expires_at <= clock_timestamp())`

/** A row `a` of `approval` as ClaimedApproval; evaluated only for the few handoffs that were approved. */
const APPROVAL_JSON = `json_build_object('person', a.decided_by, 'reasonCode', a.reason_code, 'signed', a.signed)`

/** Read only of the few handoffs that join something. */
const JOINS = `(select coalesce(array_agg(j.last_handoff_id::text order by j.position), '{}') from branch j
  where j.fan_out_id = h.joins_id and j.last_handoff_id is not null)`

/** The columns of a ClaimedHandoff whose execution is the row `from`; with CLAIMED_JOINS. */
export const CLAIMED_COLUMNS = (from: string): string => `
  ${from}.handoff_id as "handoffId", ${from}.fencing_token as "fencingToken", ${from}.lease_expiries as "leaseExpiries",
  h.task_id as "taskId", h.task_seq as "taskSeq", h.attempt, h.attempts_max as "attemptsMax",
  h.publish_attempt as "publishAttempt", b.body, h.key_id as "keyId", h.signature, h.from_agent as "fromAgent",
  h.from_version as "fromVersion", h.from_execution as "fromExecution", h.to_agent as "toAgent",
  h.to_version as "toVersion", h.parent_id as "parentId", h.traceparent, h.tracestate,
  extract(epoch from clock_timestamp() - coalesce(h.dispatched_at, h.queued_at))::float8 as "queueSeconds",
  h.branch_id as "branchId", case when h.joins_id is not null then ${JOINS} end as joins,
  coalesce(branch.budget_micro_usd, t.budget_micro_usd) as "budgetMicroUSD", t.failed_handoffs as "failedHandoffs", parent.remaining_micro_usd as "parentRemainingMicroUSD",
  h.sent_by as "sentBy", h.earlier_senders as "earlierSenders", h.tenant,
  h.approval_override_id is not null or h.revision > 1 or h.resumes_id is not null
    or a.handoff_id is not null as decided, case when a.decision = 'approve' then ${APPROVAL_JSON} end as approval, h.routed_to as "routedTo", case when r.id is not null then ${OVERRIDE_JSON} end as "approvalOverride"`

export const CLAIMED_JOINS = (from: string): string => `
join handoff h on h.id = ${from}.handoff_id
join handoff_body b on b.handoff_id = ${from}.handoff_id
join task t on t.id = h.task_id
left join branch on branch.id = h.branch_id
left join handoff parent on parent.id = h.parent_id
left join approval a on a.handoff_id = h.id
left join approval_override r on r.id = h.approval_override_id`

const CLAIM = `
with input as (
  select * from ${CLAIMS.unnest('t')}
), claimed as (
  insert into execution as e (handoff_id, fencing_token, status, owner, lease_until, publish_attempt)
  select h.id, 1, 'CLAIMED', $3, clock_timestamp() + $4 * interval '1 millisecond', h.publish_attempt
  from input i join handoff h on h.id = i.handoff_id and h.publish_attempt = i.publish_attempt
  where h.state in ${CLAIMABLE}
    and ${IN_TIME}
    and not h.cancel_requested
    and not ${EARLIER_IS_OPEN}
  order by h.id
  on conflict (handoff_id) do update set
    fencing_token = e.fencing_token + 1, status = 'CLAIMED', owner = excluded.owner,
    lease_until = excluded.lease_until, audit_origin = null, audit_seq = null, audit_hash = null,
    lease_expiries = e.lease_expiries + case when e.status = 'ABANDONED' then 0 else 1 end, publish_attempt = excluded.publish_attempt
  where e.status <> 'DONE' and e.lease_until < clock_timestamp() and e.publish_attempt <= excluded.publish_attempt
  returning handoff_id, fencing_token, lease_expiries
)
select ${CLAIMED_COLUMNS('c')}
from claimed c ${CLAIMED_JOINS('c')}`

/** Claims each handoff that is due and free, and loads its signed bytes in the same statement. */
export async function claimExecutions(
  db: Database,
  { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
  requests: readonly ClaimRequest[],
): Promise<readonly (ClaimedHandoff | RefusedClaim)[]> {
  // The same queue message may come twice within one set; the later publish attempt is the live one.
  const wanted = new Map<string, number>()
  for (const { handoffId, publishAttempt } of requests) {
    wanted.set(handoffId, Math.max(publishAttempt, wanted.get(handoffId) ?? 0))
  }
  const claims = [...wanted].map(([handoffId, publishAttempt]) => ({ handoffId, publishAttempt }))
  const rows = await run<Omit<ClaimedHandoff, 'kind'>>(db, 'claim_executions', CLAIM, [
    ...CLAIMS.values(claims),
    owner,
    leaseMs,
  ])
  const claimed = new Map(rows.map((row) => [row.handoffId, row]))
  return requests.map(({ handoffId, publishAttempt }) => {
    const row = claimed.get(handoffId)
    if (row === undefined || row.publishAttempt !== publishAttempt) return { kind: 'refused' }
    claimed.delete(handoffId)
    return { kind: 'claimed', ...row }
  })
}

const STARTED = columns({
  handoffId: uuid,
  fencingToken: int4,
  auditOrigin: text,
  auditSeq: int8,
  auditHash: text,
  deadline: nullable(timestamptz),
})

const MARK_EXECUTING = `
with started as (
  update execution e set status = 'EXECUTING', audit_origin = i.audit_origin, audit_seq = i.audit_seq,
    audit_hash = decode(i.audit_hash, 'hex')
  from ${STARTED.unnest('i')}, handoff h
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status = 'CLAIMED'
    and e.lease_until > clock_timestamp() and h.id = e.handoff_id and not h.cancel_requested
    and h.state in ${CLAIMABLE} and ${IN_TIME}
  returning e.handoff_id, e.fencing_token, i.deadline
), accepted as (
  update handoff set state = 'EXECUTING', expires_at = started.deadline, accepted_at = coalesce(accepted_at, clock_timestamp())
  from started
  where id = started.handoff_id and state in ${CLAIMABLE}
  returning id, task_id, queued_at, fencing_token
), running as (
  update task set status = 'RUNNING', updated_at = clock_timestamp()
  where id in (select id from task where id in (select task_id from accepted) order by id
               for no key update) and status = 'PENDING_HANDOFF'
)
select id as "handoffId", fencing_token as "fencingToken", extract(epoch from clock_timestamp() - queued_at)::float8 as "latencySeconds"
from accepted`

/**
 * Stores the receipts and lets the executions start: from now on only their deadlines end them. Answers the dispatch-to-accept latency in
 * seconds, or undefined where nothing may run: the fencing token is no longer the caller's, or the handoff
 * has expired or ended since it was claimed.
 */
export async function markExecuting(
  db: Database,
  started: readonly StartedExecution[],
): Promise<readonly (number | undefined)[]> {
  const rows = await run<Fence & { latencySeconds: number }>(
    db,
    'mark_executing',
    MARK_EXECUTING,
    STARTED.values(started),
  )
  const accepted = new Map(rows.map((row) => [row.handoffId, row]))
  return started.map(({ handoffId, fencingToken }) => {
    const row = accepted.get(handoffId)
    return row?.fencingToken === fencingToken ? row.latencySeconds : undefined
  })
}

const FENCES = columns({ handoffId: uuid, fencingToken: int4 })

/** A running execution `e` of handoff `h` ends at its deadline, and with the grace of a cancellation. */
export const MAY_GO_ON = `${IN_TIME}
  and (not h.cancel_requested or h.cancel_grace_until > clock_timestamp())`
const CANCELED_UNTIL = `h.cancel_grace_until as "canceledUntil",
  extract(epoch from h.cancel_grace_until - clock_timestamp())::float8 * 1000 as "graceMs"`

const EXTEND = `
update execution e set lease_until = clock_timestamp() + $3 * interval '1 millisecond'
from ${FENCES.unnest('i')}, handoff h
where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and h.id = e.handoff_id
  and e.status in ${LEASED} and ${MAY_GO_ON}
returning e.handoff_id as "handoffId", ${CANCELED_UNTIL}`

/**
 * Heartbeat of everything a process executes; answers the leases that still hold, and which of them
 * are being canceled. None holds past its handoff's deadline or past the grace of its cancellation.
 */
export function extendLeases(
  db: Database,
  leases: readonly Fence[],
  leaseMs: number,
): Promise<HeldLease[]> {
  return run(db, 'extend_leases', EXTEND, [...FENCES.values(leases), leaseMs])
}

const LOOK = `
select * from (
  select i.handoff_id as "handoffId",
    (e.fencing_token = i.fencing_token and e.status in ${LEASED} and ${MAY_GO_ON}) as held, ${CANCELED_UNTIL}
  from ${FENCES.unnest('i')}
  join execution e on e.handoff_id = i.handoff_id join handoff h on h.id = i.handoff_id) looked
where not held or "canceledUntil" is not null`

/** Between two heartbeats: only those of the leases that were lost or are being canceled. */
export function findInterrupted(
  db: Database,
  leases: readonly Fence[],
): Promise<(HeldLease & { readonly held: boolean })[]> {
  return run(db, 'find_interrupted', LOOK, FENCES.values(leases))
}

const RELEASE = `
with released as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from ${FENCES.unnest('i')}
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status in ${LEASED}
  returning e.handoff_id
), queued as (
  update handoff set state = 'QUEUED'
  where id in (select handoff_id from released) and ended_at is null returning id
)
insert into retry (handoff_id, due)
select id, clock_timestamp() + $3 * interval '1 millisecond' from queued
on conflict (handoff_id) do nothing`

/** Releases claims without counting an attempt: audit store down, or this process is draining. */
export async function releaseLeasesLater(
  db: Database,
  leases: readonly Fence[],
  delayMs: number,
): Promise<void> {
  await run(db, 'release_leases_later', RELEASE, [...FENCES.values(leases), delayMs])
}

const RELEASE_AT_ONCE = `
with taken as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from ${FENCES.unnest('i')}
  where e.handoff_id = i.handoff_id and e.fencing_token = i.fencing_token and e.status in ${LEASED}
  returning e.handoff_id
), ${REQUEUE}`

/**
 * Releases leases: they end and the handoffs are published again, each as its next
 * publish attempt. No attempt is counted.
 */
export async function releaseLeases(db: Database, leases: readonly Fence[]): Promise<void> {
  const sorted = leases.toSorted((a, b) => (a.handoffId < b.handoffId ? -1 : 1))
  await run(db, 'release_leases', RELEASE_AT_ONCE, FENCES.values(sorted))
}

const RELEASE_OWN_LEASES = `
with taken as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  where e.handoff_id in (
    select handoff_id from execution where status in ${LEASED} and owner = $1
      and lease_until > '-infinity' order by handoff_id for update)
  returning e.handoff_id
), ${REQUEUE}`

/** The same for everything that one owner holds, whatever became of it there; answers how much. */
export async function releaseOwnLeases(db: Database, owner: string): Promise<number> {
  return (await run(db, 'release_own_leases', RELEASE_OWN_LEASES, [owner])).length
}
