// What people decide about dead letters. The row of the dead letter is locked first, so that one decision wins.
import type { DecisionSignature } from '@baton/ledger'
import type { ApprovalOverride } from '@baton/protocol'
import { bool, columns, nullable, uuid } from '@baton/postgres'
import { sql } from '@baton/postgres/statements'
import { END_BRANCHES } from './fan-outs.ts'
import { PUBLICATION, PUBLISH } from './publications.ts'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { BRANCH_IS_OVER } from './states.ts'

/** A dead letter with what a decision about it needs; nobody else decides while it is held. */
export interface HeldDeadLetter {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  /** Of the execution that ended in quarantine. */
  readonly fencingToken: number
  readonly attempt: number
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly traceparent: string
  /** Whose task it is in. */
  readonly tenant: string
  readonly reason: string
  /** Rises whenever the handoff is quarantined again; votes count within one quarantine attempt. */
  readonly quarantineAttempt: number
  /** Null while it waits. */
  readonly resolution: Resolution | null
  /** The operator whose key sent it. */
  readonly sentBy: string | null
  readonly earlierSenders: readonly string[]
  /** The sender was asked for another message in this quarantine attempt. */
  readonly asked: boolean
  /** The scanner that judged it; null where none did. */
  readonly rulesetVersion: string | null
  /** Lower-case hex digest of the bytes that wait. */
  readonly sha256: string
  readonly taskStatus: string
  /** Its deadline has passed: whatever is decided, it would not execute any more. */
  readonly overdue: boolean
  /** The task or the handoff is being canceled, or its branch is over: nothing of it would count. */
  readonly canceling: boolean
}

export type Resolution = 'RELEASED' | 'REDACTED' | 'REDRIVEN' | 'REVISED' | 'DISCARDED' | 'CANCELED'

export type VotedAction = 'RELEASE' | 'REDACT'

export interface NewVote {
  readonly id: string
  readonly handoffId: string
  readonly quarantineAttempt: number
  readonly action: VotedAction
  /** Lower-case hex. */
  readonly proposalSha256: string
  /** JSON of what is proposed. */
  readonly proposal: string
  readonly reviewer: string
  readonly signed: DecisionSignature
}

export interface Vote {
  readonly action: VotedAction
  readonly proposalSha256: string
  readonly proposal: unknown
  readonly reviewer: string
  /** Null on votes from before people signed. */
  readonly signed: DecisionSignature | null
  readonly createdAt: Date
}

/** Which dead letter goes back to the queue, under which approval override. */
export interface Reopening {
  readonly handoffId: string
  readonly approvalOverrideId: string | null
  /** Its bytes are other ones than those that a person approved: it waits for an approval of these first. */
  readonly approveAnew?: boolean
}

/** What votes came to, with each of them: a receiver checks them all. */
export interface SignedOverride extends ApprovalOverride {
  readonly quarantineAttempt: number
  readonly validHours: number
  readonly votes: readonly SignedVote[]
}

export interface SignedVote {
  readonly person: string
  readonly signed: DecisionSignature
}

/** The signed bytes of a handoff, as they are stored. */
export interface StoredMessage {
  readonly body: Uint8Array
  readonly keyId: string
  readonly signature: string
}

const HOLD = `
select d.handoff_id as "handoffId", d.task_id as "taskId", h.parent_id as "parentId",
  coalesce(e.fencing_token, 0) as "fencingToken", h.attempt, h.from_agent as "fromAgent",
  h.from_version as "fromVersion", h.from_execution as "fromExecution", h.to_agent as "toAgent",
  h.to_version as "toVersion", h.traceparent, h.tenant, d.reason, d.quarantine_attempt as "quarantineAttempt", d.resolution, h.sent_by as "sentBy", h.earlier_senders as "earlierSenders",
  d.asked_at is not null as asked, d.ruleset_version as "rulesetVersion", encode(h.body_sha256, 'hex') as sha256, t.status as "taskStatus",
  coalesce(h.expires_at <= clock_timestamp(), false) as overdue,
  h.cancel_requested or t.cancel_requested or ${BRANCH_IS_OVER} as canceling
from dead_letter d
join handoff h on h.id = d.handoff_id
join task t on t.id = d.task_id
left join execution e on e.handoff_id = d.handoff_id
where d.handoff_id = any($1::uuid[]) order by d.handoff_id for update of d`

// In the order in which settlements and corrections lock, so that none of them waits in a circle.
const LOCK_EXECUTIONS = `
select handoff_id from execution where handoff_id = any($1::uuid[]) order by handoff_id for update`
const LOCK_HANDOFFS = `select id from handoff where id = any($1::uuid[]) order by id for update`

/** Locks dead letters until the transaction ends; answers those that exist, by handoff id. */
export async function holdDeadLetters(
  db: Database,
  handoffIds: readonly string[],
): Promise<ReadonlyMap<string, HeldDeadLetter>> {
  await run(db, 'hold_executions', LOCK_EXECUTIONS, [handoffIds])
  await run(db, 'hold_handoffs', LOCK_HANDOFFS, [handoffIds])
  const rows = await run<HeldDeadLetter & object>(db, 'hold_dead_letters', HOLD, [handoffIds])
  return new Map(rows.map((row) => [row.handoffId, row]))
}

/** Stores a vote; false where this person has voted for the same before. One from before people signed is signed now. */
export async function addVote(db: Database, vote: NewVote): Promise<boolean> {
  const written = tables
    .insertInto('review_vote')
    .values({
      id: vote.id,
      handoff_id: vote.handoffId,
      quarantine_attempt: vote.quarantineAttempt,
      action: vote.action,
      proposal_sha256: Buffer.from(vote.proposalSha256, 'hex'),
      proposal: vote.proposal,
      reviewer: vote.reviewer,
      signed: JSON.stringify(vote.signed),
    })
    .onConflict((conflict) =>
      conflict
        .columns(['handoff_id', 'quarantine_attempt', 'action', 'proposal_sha256', 'reviewer'])
        .doUpdateSet({ id: vote.id, signed: JSON.stringify(vote.signed) })
        .where('review_vote.signed', 'is', null),
    )
    .returning('id')
  return (await run(db, 'add_vote', written)).length > 0
}

/** The votes of one quarantine attempt, first one first. */
export function listVotes(
  db: Database,
  handoffId: string,
  quarantineAttempt: number,
): Promise<Vote[]> {
  const written = tables
    .selectFrom('review_vote')
    .select([
      'action',
      sql<string>`encode(proposal_sha256, 'hex')`.as('proposalSha256'),
      'proposal',
      'reviewer',
      sql<DecisionSignature | null>`signed`.as('signed'),
      'created_at as createdAt',
    ])
    .where('handoff_id', '=', handoffId)
    .where('quarantine_attempt', '=', quarantineAttempt)
    .orderBy('created_at')
    .orderBy('id')
  return run(db, 'list_votes', written)
}

const REOPENED = columns({ handoffId: uuid, approvalOverrideId: nullable(uuid), approveAnew: bool })

// The same handoff again: it is published once more, the lease is free at once, and one more attempt is allowed.
const REOPEN = `
with input as (
  select * from ${REOPENED.unnest('t')}
), reopened as (
  update handoff h set state = case when i.approve_anew then 'AWAITING_APPROVAL' else 'QUEUED' end,
    reason = null, ended_at = null, approval_override_id = i.approval_override_id,
    publish_attempt = h.publish_attempt + 1, attempt = h.attempt + 1,
    attempts_max = greatest(h.attempts_max, h.attempt + 1), queued_at = clock_timestamp(),
    dispatched_at = null, blocked_at_types = '{}'
  from input i where h.id = i.handoff_id and h.state = 'DEAD_LETTERED'
  returning ${PUBLICATION}, h.state
), held as (
  insert into approval (handoff_id, task_id) select id, task_id from reopened where state = 'AWAITING_APPROVAL'
  on conflict (handoff_id) do update set requested_at = clock_timestamp(), closed_at = null,
    decision = null, decided_by = null, decided_as = null, reason_code = null, signed = null
), freed as (
  update execution e set status = 'ABANDONED', lease_expiries = 0, lease_until = clock_timestamp(),
    publish_attempt = r.publish_attempt
  from reopened r where e.handoff_id = r.id
), tasks as (
  update task set status = 'PENDING_HANDOFF', updated_at = clock_timestamp()
  where id in (select id from task where id in (select task_id from reopened) order by id
               for no key update) and status = 'AWAITING_HUMAN'
), resolved as (
  update dead_letter set resolved_at = clock_timestamp(), resolution = $4
  where handoff_id in (select id from reopened)
), published as (${PUBLISH("reopened where state = 'QUEUED'")}
)
select id from reopened`

/** Puts held dead letters back into the queue, each as the same handoff; answers how many. */
export async function reopenHandoffs(
  db: Database,
  reopenings: readonly Reopening[],
  resolution: Exclude<Resolution, 'DISCARDED'>,
): Promise<number> {
  const rows = await run(db, 'reopen_handoffs', REOPEN, [
    ...REOPENED.values(reopenings.map((one) => ({ approveAnew: false, ...one }))),
    resolution,
  ])
  return rows.length
}

const DISCARD = `
with discarded as (
  update dead_letter set resolved_at = clock_timestamp(), resolution = 'DISCARDED'
  where handoff_id = $1 and resolved_at is null returning handoff_id, task_id
), given_up as (
  select h.id, h.branch_id, h.state, h.reason, h.spent_micro_usd from discarded d join handoff h on h.id = d.handoff_id
), ${END_BRANCHES(`select branch_id, id as handoff_id, state as outcome, reason, null::text as result, null::text as mac,
    spent_micro_usd as spent, true as is_over
  from given_up where branch_id is not null`)}
update task t set status = 'FAILED', updated_at = clock_timestamp()
where t.id in (select id from task where id in (select task_id from discarded) for no key update)
  and t.status = 'AWAITING_HUMAN' and t.fan_outs_open = 0
  and not exists (select from handoff h where h.task_id = t.id and h.ended_at is null)
  and not exists (select from dead_letter d where d.task_id = t.id and d.resolved_at is null
    and d.handoff_id <> $1)`

/** Gives a held dead letter up for good; its task fails where nothing else of it is open. In a branch it ends the branch. */
export async function discardDeadLetter(db: Database, handoffId: string): Promise<void> {
  await run(db, 'discard_dead_letter', DISCARD, [handoffId])
}

const ASK = `
with asked as (
  update dead_letter set asked_at = clock_timestamp() where handoff_id = $1 and resolved_at is null
  returning handoff_id, task_id, reason, details
)
insert into sender_notification (id, kind, handoff_id, task_id, from_agent, attempt, revision, reason, details)
select $2, 'return', h.id, a.task_id, h.from_agent, h.attempt, h.revision, a.reason, a.details
from asked a join handoff h on h.id = a.handoff_id`

/** Hands a held dead letter back to its sender; the sender's next revision reopens it. */
export async function askSender(db: Database, handoffId: string, noticeId: string): Promise<void> {
  await run(db, 'ask_sender', ASK, [handoffId, noticeId])
}

/** The exact signed bytes that wait. */
export async function findStoredMessage(
  db: Database,
  handoffId: string,
): Promise<StoredMessage | undefined> {
  const written = tables
    .selectFrom('handoff as h')
    .innerJoin('handoff_body as b', 'b.handoff_id', 'h.id')
    .select(['b.body', 'h.key_id as keyId', 'h.signature'])
    .where('h.id', '=', handoffId)
  return (await run(db, 'find_stored_message', written))[0]
}

const REPLACE = `
with old as (
  select h.id, h.revision, b.body, h.body_sha256, coalesce(h.revision_sha256, h.request_sha256) as asked,
    h.key_id, h.signature, h.checkpoint_id
  from handoff h join handoff_body b on b.handoff_id = h.id where h.id = $1
), kept as (
  insert into handoff_revision (handoff_id, revision, body, body_sha256, asked_sha256, key_id, signature,
    checkpoint_id)
  select id, revision, body, body_sha256, asked, key_id, signature, checkpoint_id from old
), replaced as (
  update handoff_body set body = $2 where handoff_id = $1
)
update handoff set revision = revision + 1, body_sha256 = sha256($2), body_bytes = octet_length($2),
  key_id = $3, signature = $4 where id = $1`

/** Makes other signed bytes the handoff's message; the ones before stay as an earlier revision. */
export async function replaceMessage(
  db: Database,
  handoffId: string,
  { body, keyId, signature }: StoredMessage,
): Promise<void> {
  await run(db, 'replace_message', REPLACE, [handoffId, body, keyId, signature])
}

/** Stores an approval override; run it in the transaction that reopens the handoff under it. */
export async function addOverride(db: Database, override: SignedOverride): Promise<void> {
  const written = tables.insertInto('approval_override').values({
    id: override.id,
    handoff_id: override.handoffId,
    body_sha256: Buffer.from(override.sha256, 'hex'),
    ruleset_version: override.rulesetVersion,
    reason: override.reason,
    reviewers: override.votes.map(({ person }) => person),
    expires_at: new Date(override.expiresAt),
    quarantine_attempt: override.quarantineAttempt,
    valid_hours: override.validHours,
    votes: JSON.stringify(override.votes),
  })
  await run(db, 'add_override', written)
}
