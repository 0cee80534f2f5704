// Approvals: handoffs held for a person, and the one decision about each (R13, R15).
import { BRANCH_NAME } from './branch-places.ts'
import type { ExpiredHandoff } from './ended-outside.ts'
import type { DecisionSignature } from '@baton/ledger'
import { sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { CLEAR_ENDED, KNOWN } from './ended-outside.ts'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'
import { NOTIFY_SENDER } from './sender-notifications.ts'
import { PUBLISH, QUEUE } from './publications.ts'
import { IN_TIME } from './states.ts'

export interface ApprovalView {
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  /** The operator whose key sent it; null where an application sent it by itself. */
  readonly sentBy: string | null
  readonly priority: number
  readonly requestedAt: Date
  readonly expiresAt: Date | null
  /** Lower-case hex digest of the signed bytes: what is approved. */
  readonly sha256: string
  /** The name of its branch; null on the task’s own way. */
  readonly branch: string | null
}

export interface ListedApproval extends ApprovalView {
  /** Where a list goes on behind it. */
  readonly position: string
}

const OPEN = tables
  .selectFrom('approval as a')
  .innerJoin('handoff as h', 'h.id', 'a.handoff_id')
  .where('a.closed_at', 'is', null)
  .where('h.state', '=', 'AWAITING_APPROVAL')
  .where(sql<boolean>`${sql.raw(IN_TIME)}`)

/** Handoffs that wait for a decision, oldest first. */
export function listApprovals(
  db: Database,
  { limit, cursor = null }: { readonly limit: number; readonly cursor?: string | null | undefined },
): Promise<ListedApproval[]> {
  const written = OPEN.select([
    positionOf('a.handoff_id', 'a.requested_at').as('position'),
    'a.handoff_id as handoffId',
    'a.task_id as taskId',
    'h.from_agent as fromAgent',
    'h.to_agent as toAgent',
    'h.sent_by as sentBy',
    'h.priority',
    'a.requested_at as requestedAt',
    'h.expires_at as expiresAt',
    sql<string>`encode(h.body_sha256, 'hex')`.as('sha256'),
    sql<string | null>`${sql.raw(BRANCH_NAME)}`.as('branch'),
  ])
    .where(behind(cursor, { id: 'a.handoff_id', createdAt: 'a.requested_at', newestFirst: false }))
    .orderBy('a.requested_at')
    .orderBy('a.handoff_id')
    .limit(limit)
  return run(db, 'list_approvals', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countApprovals(db: Database): Promise<number> {
  const counted = OPEN.select('a.handoff_id').limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_approvals', written))[0]?.count ?? 0
}

export type ApprovalDecision = 'approve' | 'reject'

export interface DecidedApproval {
  readonly handoffId: string
  readonly taskId: string
  readonly decision: ApprovalDecision | null
  readonly decidedBy: string | null
  readonly reasonCode: string | null
  readonly decidedAt: Date | null
  /** The state the handoff is in now. */
  readonly state: string
  /** Lower-case hex digest of the bytes that the handoff has now. */
  readonly sha256: string
  readonly sentBy: string | null
  readonly earlierSenders: readonly string[]
  /** Whether it can be decided about now. */
  readonly waits: boolean
}

/** What was decided about a handoff; undefined where it was never held for a person. */
export async function findApproval(
  db: Database,
  handoffId: string,
): Promise<DecidedApproval | undefined> {
  const written = tables
    .selectFrom('approval as a')
    .innerJoin('handoff as h', 'h.id', 'a.handoff_id')
    .select([
      'a.handoff_id as handoffId',
      'a.task_id as taskId',
      'a.decision',
      'a.decided_by as decidedBy',
      'a.reason_code as reasonCode',
      'a.closed_at as decidedAt',
      'h.state',
      'h.sent_by as sentBy',
      'h.earlier_senders as earlierSenders',
      sql<string>`encode(h.body_sha256, 'hex')`.as('sha256'),
      sql<boolean>`h.state = 'AWAITING_APPROVAL' and not h.cancel_requested and ${sql.raw(IN_TIME)}`.as(
        'waits',
      ),
    ])
    .where('a.handoff_id', '=', handoffId)
  return (await run(db, 'find_approval', written))[0]
}

// The handoff's row is locked first: of an approval, a refusal, an expiry and a cancellation one wins.
const WAITING = `
waiting as (
  select h.id from handoff h where h.id = $1 and h.state = 'AWAITING_APPROVAL'
    and not h.cancel_requested and ${IN_TIME} and h.body_sha256 = decode($7, 'hex')
  for update
), decided as (
  update approval set closed_at = clock_timestamp(), decision = $2, decided_by = $3, reason_code = $4, decided_as = $5, signed = $6::jsonb
  where handoff_id in (select id from waiting) and closed_at is null
  returning handoff_id
)`

const APPROVE = `
with ${WAITING}, ended as (
  update handoff set state = 'QUEUED', queued_at = clock_timestamp()
  where id in (select handoff_id from decided)
  returning *, ${QUEUE} as queue, 0 as fencing_token
), published as (${PUBLISH('ended')}
)
select ${KNOWN} from ended e`

const REFUSE = `
with ${WAITING}, due as (
  select handoff_id as id from decided
), stopped as (
  insert into execution as e (handoff_id, fencing_token, status, owner, lease_until)
  select id, 0, 'DONE', '00000000-0000-0000-0000-000000000000', clock_timestamp() from due
  on conflict (handoff_id) do update set status = 'DONE'
  returning e.handoff_id, e.fencing_token
), ended as (
  update handoff h set state = 'REJECTED', reason = 'APPROVAL_REFUSED', ended_at = clock_timestamp()
  from stopped s where h.id = s.handoff_id
  returning h.*, s.fencing_token
), tasks as (
  update task t set status = 'PENDING_HANDOFF', checkpoint_id = e.checkpoint_id,
    updated_at = clock_timestamp()
  from ended e where t.id = e.task_id and t.status <> 'CANCELED'
), told as (
  ${NOTIFY_SENDER('rollback')}
  select id, task_id, from_agent, attempt, revision, coalesce($4, reason), '[]'::jsonb from ended) n
), ${CLEAR_ENDED}
select ${KNOWN} from ended e`

export interface ApprovalAct {
  readonly handoffId: string
  readonly decision: ApprovalDecision
  readonly decidedBy: string
  readonly reasonCode: string | null
  /** The name the decider gave, where a protocol asks for one; no proof of anything. */
  readonly decidedAs?: string | null
  readonly signed: DecisionSignature
  /** Lower-case hex digest of the bytes that are decided about. */
  readonly sha256: string
}

/**
 * Decides about a handoff that waits for a person: approved it is queued from now on, refused it ends
 * and the sender's checkpoint stands. Undefined where it no longer waits: it was decided before, has
 * expired, was canceled or has other bytes.
 */
export async function decideApproval(
  db: Database,
  act: ApprovalAct,
): Promise<ExpiredHandoff | undefined> {
  const { handoffId, decision, decidedBy, reasonCode, decidedAs = null, signed, sha256 } = act
  const approve = decision === 'approve'
  const rows = await run<ExpiredHandoff & object>(
    db,
    approve ? 'approve_handoff' : 'refuse_handoff',
    approve ? APPROVE : REFUSE,
    [handoffId, decision, decidedBy, reasonCode, decidedAs, JSON.stringify(signed), sha256],
  )
  return rows[0]
}
