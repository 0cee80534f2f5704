// What comes back to senders is answered by their own code: a return with a correction, a rollback by resuming. What a
// hook says commits or is told again; a failure is bounded by the lease.
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Checkpoint, HandoffMessage } from '@baton/protocol'
import { codeOf, defect, every, transient, within } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import { acknowledgeNotifications, listenToSenders, takeNotifications } from '@baton/store'
import type { SenderNotification } from '@baton/store'
import type { RevisionOutcome } from './decide/revision.ts'
import { readCheckpoint, readMessage } from './prepare-handoff.ts'
import { resumeTask } from './resume-task.ts'
import type { ResumeChange } from './resume-task.ts'
import { refusedRevision, reviseHandoff } from './revise-handoff.ts'
import type { Correction, ReturnParts } from './revise-handoff.ts'
import type { Sent } from './commit-outgoing.ts'

interface Told extends Pick<
  SenderNotification,
  | 'handoffId'
  | 'taskId'
  | 'fromAgent'
  | 'toAgent'
  | 'attempt'
  | 'attemptsMax'
  | 'reason'
  | 'details'
  | 'traceparent'
> {
  /** What the sender saved: its state, and the request the message was built from. */
  readonly saved: Checkpoint
}

/** A refused handoff: `details` say what was wrong, at which JSON pointer, and how to mend it (E09). */
export interface ReturnedHandoff extends Told {
  readonly revision: number
  /** The message that was refused. */
  readonly message: HandoffMessage
  /** When it is tried again as it is, unless it is corrected before. */
  readonly retryAt: Date | null
}

/** A handoff that came to nothing; its task waits at the sender's checkpoint (E15). */
export interface RolledBackHandoff extends Told {
  /** The exact bytes that were saved, compared with their digest. */
  readonly checkpoint: Uint8Array
  /**
   * Sends it again as a new handoff, as it stood or with changes. Only the first call sends;
   * repeating it answers the same handoff as a duplicate.
   */
  resume(change?: ResumeChange): Promise<Sent>
}

/** Hooks may be called again for the same handoff: after a crash, an error or a lease that ended. */
export interface NotificationHooks {
  /** Answers the correction, or nothing where it has none: then the attempts go on as they were. */
  onReturn?(returned: ReturnedHandoff): Promise<Correction | undefined>
  /** Resumes the task, does something else about it, or leaves it to a person. */
  onRollback?(rolledBack: RolledBackHandoff): Promise<void>
}

interface WatchParts extends ReturnParts {
  readonly databaseUrl: string
  /** Hooks by the agent that sent. */
  readonly hooks: ReadonlyMap<string, NotificationHooks>
  /** How long a hook has; 30 s by default. */
  readonly correctionMs?: number | undefined
  /** The operator for whom is corrected and resumed; the agent itself where there is none. */
  readonly operator: string | null
}

const CORRECTION_MS = 30_000
const POLL_MS = 500
const FAILED_WAIT_MS = 2_000
const UNDER_WAY_MAX = 8
const STOP_WAIT_MS = 5_000

/**
 * Hears what comes back to senders, woken by NOTIFY and by a poll, and has their hooks answer it, at
 * most eight at once. Start it only where there are hooks. A stop waits up to five seconds for those
 * under way.
 */
export function createNotificationWatcher(parts: WatchParts): Service {
  const { pool, hooks, correctionMs = CORRECTION_MS, logger } = parts
  const taker = randomUUID()
  const wanted = kindsWanted(hooks)
  const underWay = new Set<Promise<void>>()
  let listener: { close(): Promise<void> } | undefined

  const answers = answersOn(parts, taker)

  function answer(notification: SenderNotification): void {
    const answering = answerLogged(parts, answers, notification).finally(() => {
      underWay.delete(answering)
      passes.wake()
    })
    underWay.add(answering)
  }

  /** Takes what there is; goes on at once where as much was there as was asked for. */
  async function pass(): Promise<number> {
    let waitMs = POLL_MS
    for (const { kind, agents } of wanted) {
      const limit = UNDER_WAY_MAX - underWay.size
      if (limit === 0) return POLL_MS
      const request = { kinds: [kind], agents, taker, leaseMs: correctionMs, limit }
      const notifications = await takeNotifications(pool, request)
      for (const notification of notifications) answer(notification)
      if (notifications.length === limit) waitMs = 0
    }
    return waitMs
  }

  const passes = every({
    name: 'notifications',
    everyMs: POLL_MS,
    run: pass,
    failed(error) {
      logger.warn({ event: 'notifications.unread', code: codeOf(error) })
      return FAILED_WAIT_MS
    },
  })
  return {
    name: passes.name,
    async start() {
      listener = listenToSenders({ url: parts.databaseUrl, onWake: passes.wake })
      await passes.start()
    },
    async stop() {
      await passes.stop()
      // A hook that takes longer is not waited for: it is told again elsewhere after its lease.
      await Promise.race([Promise.all(underWay), wait(STOP_WAIT_MS, undefined, { ref: false })])
      await listener?.close()
    },
  }
}

/** What an answer does: it commits here, for the operator or else for the agent itself. */
function answersOn(parts: WatchParts, taker: string): AnswerDeps {
  const { pool, operator, correctionMs = CORRECTION_MS } = parts
  const actorOf = ({ fromAgent }: SenderNotification): string => operator ?? fromAgent
  return {
    correctionMs,
    acknowledge: async ({ noticeId }) =>
      void (await acknowledgeNotifications(pool, [noticeId], taker)),
    revise: (notification, correction) =>
      reviseHandoff(parts, {
        handoffId: notification.handoffId,
        revision: notification.revision + 1,
        actor: actorOf(notification),
        sentBy: operator,
        correct: () => correction,
      }),
    resume: (notification, change) => {
      const { taskId, handoffId } = notification
      const actor = actorOf(notification)
      return resumeTask(parts, { taskId, handoffId, change, actor, sentBy: operator })
    },
  }
}

// The code alone: a hook's message could carry what the handoff said.
async function answerLogged(
  { hooks, logger }: WatchParts,
  deps: AnswerDeps,
  notification: SenderNotification,
): Promise<void> {
  const { kind, handoffId, taskId, attempt } = notification
  try {
    await answerNotification(deps, notification, hooks.get(notification.fromAgent) ?? {})
    logger.debug({ event: 'notification.answered', kind, handoffId, taskId, attempt })
  } catch (error) {
    const code = codeOf(error)
    logger.warn({ event: 'notification.unanswered', code, kind, handoffId, taskId, attempt })
  }
}

function kindsWanted(
  hooks: ReadonlyMap<string, NotificationHooks>,
): readonly { readonly kind: SenderNotification['kind']; readonly agents: readonly string[] }[] {
  const having = (hook: keyof NotificationHooks) =>
    [...hooks].filter(([, own]) => own[hook] !== undefined).map(([agent]) => agent)
  const all = [
    { kind: 'return', agents: having('onReturn') },
    { kind: 'rollback', agents: having('onRollback') },
  ] as const
  return all.filter(({ agents }) => agents.length > 0)
}

export interface AnswerDeps {
  revise(notification: SenderNotification, correction: Correction): Promise<RevisionOutcome>
  resume(notification: SenderNotification, change: ResumeChange): Promise<Sent>
  /** Told and done with; a return that was not corrected is then tried again at once. */
  acknowledge(notification: SenderNotification): Promise<void>
  /** How long a hook may take. */
  readonly correctionMs: number
}

/** Throws what the hook throws, and BATON_HOOK_SLOW; the notification is then told again after its lease. */
export async function answerNotification(
  deps: AnswerDeps,
  notification: SenderNotification,
  hooks: NotificationHooks,
): Promise<void> {
  refuseDamage(notification)
  if (notification.kind === 'return') await answerReturn(deps, notification, hooks)
  else await answerRollback(deps, notification, hooks)
}

async function answerReturn(
  deps: AnswerDeps,
  notification: SenderNotification,
  hooks: NotificationHooks,
): Promise<void> {
  const { revision, retryAt } = notification
  const returned = {
    ...toldOf(notification),
    revision,
    retryAt,
    message: readMessage(notification.body),
  }
  const correcting = hooks.onReturn?.(returned)
  const correction = correcting && (await hookWithin(deps.correctionMs, correcting))
  if (correction === undefined) return deps.acknowledge(notification)
  const outcome = await deps.revise(notification, correction)
  if (outcome.kind === 'budget') throw refusedRevision(notification.handoffId, outcome)
  // Also where it was corrected by somebody else or tried again meanwhile: nothing is left to do for this notification.
  await deps.acknowledge(notification)
}

async function answerRollback(
  deps: AnswerDeps,
  notification: SenderNotification,
  hooks: NotificationHooks,
): Promise<void> {
  const answering = hooks.onRollback?.({
    ...toldOf(notification),
    checkpoint: notification.checkpoint,
    resume: (change = {}) => deps.resume(notification, change),
  })
  if (answering !== undefined) await hookWithin(deps.correctionMs, answering)
  await deps.acknowledge(notification)
}

const toldOf = (notification: SenderNotification) => ({
  handoffId: notification.handoffId,
  taskId: notification.taskId,
  fromAgent: notification.fromAgent,
  toAgent: notification.toAgent,
  attempt: notification.attempt,
  attemptsMax: notification.attemptsMax,
  reason: notification.reason,
  details: notification.details,
  traceparent: notification.traceparent,
  saved: readCheckpoint(notification.checkpoint),
})

// I7: nobody goes on from bytes that are not the ones that were saved.
function refuseDamage({ checkpoint, checkpointSha256, handoffId }: SenderNotification): void {
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

const hookWithin = <Result>(limitMs: number, work: Promise<Result>): Promise<Result> =>
  within(limitMs, work, () =>
    transient('BATON_HOOK_SLOW', `the hook did not answer within ${limitMs} ms`, {
      fix: 'Answer sooner, or raise the correction time.',
    }),
  )
