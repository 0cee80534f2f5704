// Takes a task up again after a rollback: at most one handoff ever takes up a rolled-back one.
import type { AuditIntent, NewHandoff, ResumableHandoff, ResumeState } from '@baton/store'
import { crashPoint, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import type { PrepareOptions } from './prepare-handoff.ts'
import { prepareResumption } from './prepare-resumption.ts'
import type { ResumeChange } from './prepare-resumption.ts'
import type { Sent } from './send-handoff.ts'

export interface ResumeRequest {
  readonly taskId: string
  /** Which rolled-back handoff; the task's latest by default. */
  readonly handoffId?: string | undefined
  readonly change?: ResumeChange
  /** Who answers for it: the person, or the sending agent itself. */
  readonly actor: string
}

/** The handoff that takes up `resumes`, and the event that commits with it. */
export interface Resumption {
  readonly handoff: NewHandoff
  readonly resumesId: string
  readonly intents: readonly AuditIntent[]
}

export type ResumeOutcome =
  | Exclude<ResumeState, { readonly kind: 'resumable' }>
  | {
      readonly kind: 'sent'
      readonly handoff: NewHandoff
      readonly taskSeq: number
      readonly state: string
    }

export interface ResumeDeps extends PrepareOptions {
  /** In one transaction: locks the task, and sends what `prepare` makes where there is something to resume. */
  commitResumption(
    request: Pick<ResumeRequest, 'taskId' | 'handoffId'>,
    prepare: (handoff: ResumableHandoff) => Resumption,
  ): Promise<ResumeOutcome>
  wakeRelays(): void
  readonly metrics: Metrics
  readonly logger: Logger
}

/**
 * Sends the rolled-back or expired handoff of a task again as a new one (E15); its escalations wait no
 * longer. Repeating it answers the first one as `duplicate`. Throws BATON_TASK_UNKNOWN,
 * BATON_TASK_ENDED and BATON_NOTHING_TO_RESUME.
 */
export async function resumeTask(deps: ResumeDeps, request: ResumeRequest): Promise<Sent> {
  const { taskId, change = {}, actor } = request
  crashPoint('resume.before_commit')
  const outcome = await deps.commitResumption(request, (resumable) => {
    const handoff = prepareResumption(resumable, change, deps)
    return {
      handoff,
      resumesId: resumable.handoffId,
      intents: [resumed(resumable, handoff, actor)],
    }
  })
  crashPoint('resume.after_commit')
  if (outcome.kind === 'sent') {
    const { handoffId, traceparent } = outcome.handoff
    deps.wakeRelays()
    deps.metrics.handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc()
    deps.metrics.resumesTotal.inc()
    deps.logger.info({ event: 'task.resumed', taskId, handoffId })
    const { taskSeq, state } = outcome
    return { handoffId, taskId, taskSeq, state, duplicate: false, traceparent }
  }
  if (outcome.kind !== 'resumed') throw refusedResumption(taskId, outcome.kind)
  const { kind: _, ...first } = outcome
  return { ...first, taskId, duplicate: true }
}

// Stands with the handoff that was rolled back; the act's id is the handoff that takes it up.
function resumed(
  resumable: ResumableHandoff,
  { handoffId }: NewHandoff,
  actor: string,
): AuditIntent {
  const act = { id: handoffId, actor }
  return toIntent({ ...lifecycleEntry(resumable, 'TASK_RESUMED', resumable.reason), act })
}

function refusedResumption(taskId: string, kind: 'unknown' | 'ended' | 'nothing'): Error {
  if (kind === 'unknown')
    return permanent('BATON_TASK_UNKNOWN', `there is no task ${taskId}`, {
      fix: 'Use the taskId as it was answered.',
    })
  if (kind === 'ended') {
    return permanent('BATON_TASK_ENDED', `task ${taskId} has ended`, {
      fix: 'Start a new task; an ended one takes no further handoffs.',
    })
  }
  return permanent(
    'BATON_NOTHING_TO_RESUME',
    `no handoff of task ${taskId} was rolled back or has expired`,
    {
      fix: 'A task is resumed after a rollback; a dead letter waits for a reviewer instead.',
    },
  )
}
