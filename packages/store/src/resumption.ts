// Taking up a task again whose handoff was rolled back or has expired: once per such handoff.
import { hasTaskEnded } from '@baton/protocol'
import type { RevisionBase } from './revisions.ts'
import { one, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { BRANCH_IS_OVER } from './states.ts'

/** A handoff that ended without an effect and can be taken up again. */
export interface ResumableHandoff extends RevisionBase {
  readonly taskId: string
  readonly parentId: string | null
  readonly branchId: string | null
  readonly joinsId: string | null
  readonly attempt: number
  readonly attemptsMax: number
  readonly fencingToken: number
  readonly reason: string
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly spentMicroUSD: number
  readonly sentBy: string | null
  /** Whose task it is in. */
  readonly tenant: string
}

/** What stands in the way of resuming a task; `resumed` names the handoff that did it before. */
export type ResumeState =
  | { readonly kind: 'resumable'; readonly handoff: ResumableHandoff }
  | {
      readonly kind: 'resumed'
      readonly handoffId: string
      readonly taskSeq: number
      readonly state: string
      readonly traceparent: string
    }
  | { readonly kind: 'unknown' | 'ended' | 'nothing' }

/** Those of a task that can be taken up again, the last one first. */
const resumable = ({ taskId, handoffId }: Resumable) => {
  const named = handoffId ?? null
  return (
    tables
      .selectFrom('handoff as h')
      .where('h.task_id', '=', taskId)
      .where('h.state', 'in', ['ROLLED_BACK', 'EXPIRED'])
      .where('h.erased_at', 'is', null)
      // What a join went on without is over.
      .where(sql<boolean>`not ${sql.raw(BRANCH_IS_OVER)}`)
      .where(sql<boolean>`(${named}::uuid is null or h.id = ${named})`)
      .orderBy('h.task_seq', 'desc')
      .limit(one)
  )
}

interface ResumeTarget {
  readonly fromAgent: string
  readonly agentType: string
  readonly priority: number
}

interface Resumable {
  readonly taskId: string
  readonly handoffId?: string | undefined
}

/** Where the handoff goes that would be taken up again, were it unchanged. */
export async function findResumeTarget(
  db: Database,
  target: Resumable,
): Promise<ResumeTarget | undefined> {
  const written = resumable(target).select([
    'h.from_agent as fromAgent',
    'h.to_agent as agentType',
    'h.priority',
  ])
  return (await run(db, 'find_resume_target', written))[0]
}

/**
 * Locks the task until the caller's transaction ends, and answers what can be taken up again: the
 * handoff that is named, or the task's latest that was rolled back or has expired.
 */
export async function lockResumable(
  transaction: Database,
  target: Resumable,
): Promise<ResumeState> {
  const locked = tables
    .selectFrom('task')
    .select('status')
    .where('id', '=', target.taskId)
    .forNoKeyUpdate()
  const [task] = await run(transaction, 'lock_resumable_task', locked)
  if (task === undefined) return { kind: 'unknown' }
  const last = resumable(target)
    .innerJoin('handoff_body as b', 'b.handoff_id', 'h.id')
    .innerJoin('checkpoint as c', 'c.id', 'h.checkpoint_id')
    .leftJoin('execution as e', 'e.handoff_id', 'h.id')
    .leftJoin('handoff as again', 'again.resumes_id', 'h.id')
    .select(({ fn, val }) => [
      'h.id as handoffId',
      'h.revision',
      'h.traceparent',
      'h.tenant',
      'b.body',
      'c.body as checkpoint',
      'h.task_id as taskId',
      'h.parent_id as parentId',
      'h.branch_id as branchId',
      'h.joins_id as joinsId',
      'h.attempt',
      'h.attempts_max as attemptsMax',
      fn.coalesce('e.fencing_token', val(0)).as('fencingToken'),
      fn.coalesce('h.reason', 'h.state').as('reason'),
      'h.from_agent as fromAgent',
      'h.from_version as fromVersion',
      'h.from_execution as fromExecution',
      'h.to_agent as toAgent',
      'h.to_version as toVersion',
      'h.spent_micro_usd as spentMicroUSD',
      'h.sent_by as sentBy',
      'again.id as againId',
      'again.task_seq as againSeq',
      'again.state as againState',
      'again.traceparent as againTraceparent',
    ])
  const [row] = await run(transaction, 'find_resumable', last)
  if (row === undefined) return { kind: hasTaskEnded(task.status) ? 'ended' : 'nothing' }
  const { againId, againSeq, againState, againTraceparent, ...handoff } = row
  if (againId !== null) {
    return {
      kind: 'resumed',
      handoffId: againId,
      taskSeq: againSeq ?? 0,
      state: againState ?? '',
      traceparent: againTraceparent ?? '',
    }
  }
  return hasTaskEnded(task.status) ? { kind: 'ended' } : { kind: 'resumable', handoff }
}

const LINK = `
with linked as (
  update handoff set resumes_id = $2 where id = $1 returning task_id
), told as (
  update sender_notification set acknowledged_at = clock_timestamp()
  where handoff_id = $2 and acknowledged_at is null
)
update escalation set resolved_at = clock_timestamp()
where handoff_id in (select h.id from handoff h join linked l on h.task_id = l.task_id)
  and resolved_at is null`

/** Says in the same transaction that the one takes up the other; its escalations wait no longer. */
export async function linkResumed(
  transaction: Database,
  { handoffId, resumesId }: { readonly handoffId: string; readonly resumesId: string },
): Promise<void> {
  await run(transaction, 'link_resumed', LINK, [handoffId, resumesId])
}
