// Taking up a task again whose handoff was rolled back or has expired: once per such handoff.
import type { RevisionBase } from './revisions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { hasTaskEnded } from './states.ts'

/** A handoff that ended without an effect and can be taken up again. */
export interface ResumableHandoff extends RevisionBase {
  readonly taskId: string
  readonly parentId: string | null
  readonly attempt: number
  readonly attemptsMax: number
  readonly epoch: number
  readonly reason: string
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly spentMicroUSD: number
  readonly sentBy: string | null
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

const LOCK_TASK = `select status from task where id = $1 for no key update`

const RESUMABLE = `h.task_id = $1 and h.state in ('ROLLED_BACK', 'EXPIRED') and h.erased_at is null and ($2::uuid is null or h.id = $2)`

const LAST = `
select h.id as "handoffId", h.revision, h.traceparent, b.body, c.body as checkpoint,
  h.task_id as "taskId", h.parent_id as "parentId", h.attempt, h.attempts_max as "attemptsMax",
  coalesce(e.epoch, 0) as epoch, coalesce(h.reason, h.state) as reason, h.from_agent as "fromAgent",
  h.from_version as "fromVersion", h.from_execution as "fromExecution", h.to_agent as "toAgent",
  h.to_version as "toVersion", h.spent_micro_usd as "spentMicroUSD", h.sent_by as "sentBy",
  again.id as "againId", again.task_seq as "againSeq", again.state as "againState",
  again.traceparent as "againTraceparent"
from handoff h join handoff_body b on b.handoff_id = h.id join checkpoint c on c.id = h.checkpoint_id
left join execution e on e.handoff_id = h.id
left join handoff again on again.resumes_id = h.id
where ${RESUMABLE}
order by h.task_seq desc limit 1`

interface LastRow extends ResumableHandoff {
  readonly againId: string | null
  readonly againSeq: number | null
  readonly againState: string | null
  readonly againTraceparent: string | null
}

interface ResumeTarget {
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
  { taskId, handoffId }: Resumable,
): Promise<ResumeTarget | undefined> {
  const text = `select h.to_agent as "agentType", h.priority from handoff h where ${RESUMABLE}
    order by h.task_seq desc limit 1`
  const values = [taskId, handoffId ?? null]
  return (await run<ResumeTarget & object>(db, 'find_resume_target', text, values))[0]
}

/**
 * Locks the task until the caller's transaction ends, and answers what can be taken up again: the
 * handoff that is named, or the task's latest that was rolled back or has expired.
 */
export async function lockResumable(
  transaction: Database,
  { taskId, handoffId }: Resumable,
): Promise<ResumeState> {
  const [task] = await run<{ status: string }>(transaction, 'lock_resumable_task', LOCK_TASK, [
    taskId,
  ])
  if (task === undefined) return { kind: 'unknown' }
  const values = [taskId, handoffId ?? null]
  const [row] = await run<LastRow & object>(transaction, 'find_resumable', LAST, values)
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
  update sender_notice set acknowledged_at = clock_timestamp()
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
