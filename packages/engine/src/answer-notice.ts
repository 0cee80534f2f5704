// Answers one notice through the sender's hook. What the hook says commits or is told again; a failure is bounded by the lease.
import { createHash } from 'node:crypto'
import type { RevisionOutcome, SenderNotice } from '@baton/store'
import { defect, transient } from '@baton/runtime'
import type { NoticeHooks } from './notice-hooks.ts'
import { readCheckpoint, readMessage } from './prepare-revision.ts'
import type { Correction } from './prepare-revision.ts'
import type { ResumeRequest } from './resume-task.ts'
import { refusedRevision } from './revise-handoff.ts'
import type { Sent } from './send-handoff.ts'

export interface AnswerDeps {
  revise(notice: SenderNotice, correction: Correction): Promise<RevisionOutcome>
  resume(request: Omit<ResumeRequest, 'actor'>, notice: SenderNotice): Promise<Sent>
  /** Told and done with; a return that was not corrected is then tried again at once. */
  acknowledge(notice: SenderNotice): Promise<void>
  /** How long a hook may take. */
  readonly correctionMs: number
}

/** Throws what the hook throws, and BATON_HOOK_SLOW; the notice is then told again after its lease. */
export async function answerNotice(
  deps: AnswerDeps,
  notice: SenderNotice,
  hooks: NoticeHooks,
): Promise<void> {
  refuseDamage(notice)
  if (notice.kind === 'return') await answerReturn(deps, notice, hooks)
  else await answerRollback(deps, notice, hooks)
}

async function answerReturn(
  deps: AnswerDeps,
  notice: SenderNotice,
  hooks: NoticeHooks,
): Promise<void> {
  const { revision, retryAt } = notice
  const returned = { ...toldOf(notice), revision, retryAt, message: readMessage(notice.body) }
  const correction = await within(deps.correctionMs, hooks.onReturn?.(returned))
  if (correction === undefined) return deps.acknowledge(notice)
  const outcome = await deps.revise(notice, correction)
  // Corrected by somebody else, or tried again meanwhile: there is nothing left to do for this notice.
  const isDone = ['revised', 'duplicate', 'stale', 'claimed', 'closed', 'unknown']
  if (outcome.kind === 'budget') throw refusedRevision(notice.handoffId, outcome)
  if (isDone.includes(outcome.kind)) await deps.acknowledge(notice)
}

async function answerRollback(
  deps: AnswerDeps,
  notice: SenderNotice,
  hooks: NoticeHooks,
): Promise<void> {
  const { taskId, handoffId } = notice
  await within(
    deps.correctionMs,
    hooks.onRollback?.({
      ...toldOf(notice),
      checkpoint: notice.checkpoint,
      resume: (change = {}) => deps.resume({ taskId, handoffId, change }, notice),
    }),
  )
  await deps.acknowledge(notice)
}

const toldOf = (notice: SenderNotice) => ({
  handoffId: notice.handoffId,
  taskId: notice.taskId,
  fromAgent: notice.fromAgent,
  toAgent: notice.toAgent,
  attempt: notice.attempt,
  attemptsMax: notice.attemptsMax,
  reason: notice.reason,
  details: notice.details,
  traceparent: notice.traceparent,
  saved: readCheckpoint(notice.checkpoint),
})

// I7: nobody goes on from bytes that are not the ones that were saved.
function refuseDamage({ checkpoint, checkpointSha256, handoffId }: SenderNotice): void {
  const found = createHash('sha256').update(checkpoint).digest()
  if (found.equals(checkpointSha256)) return
  throw defect(
    'BATON_CHECKPOINT_DAMAGED',
    `the checkpoint of handoff ${handoffId} is not what was saved`,
    {
      fix: 'Restore the database from a backup; `baton doctor` names every damaged checkpoint.',
    },
  )
}

function within<Result>(
  limitMs: number,
  work: Promise<Result> | undefined,
): Promise<Result | undefined> {
  if (work === undefined) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const slow = () =>
      reject(
        transient('BATON_HOOK_SLOW', `the hook did not answer within ${limitMs} ms`, {
          fix: 'Answer sooner, or raise the correction time.',
        }),
      )
    const timer = setTimeout(slow, limitMs)
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}
