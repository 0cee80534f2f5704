// Returns, corrections and resumption on Postgres, for the hooks of a sender and for the gateway alike.
import type { Correction } from './prepare-revision.ts'
import { resumeTask } from './resume-task.ts'
import type { ResumeDeps, ResumeRequest } from './resume-task.ts'
import { reviseHandoff } from './revise-handoff.ts'
import type { ReviseDeps } from './revise-handoff.ts'
import { refusedSend } from './send-handoff.ts'
import type { Sent } from './send-handoff.ts'
import type { KeyRing } from '@baton/protocol'
import type { Logger } from '@baton/runtime'
import {
  acknowledgeNotices,
  addAuditIntents,
  applyRevisions,
  findRevisionBase,
  inTransaction,
  linkResumed,
  lockResumable,
  lockRevisable,
  sendHandoffs,
  takeNotices,
} from '@baton/store'
import type { Pool, RevisionBase, RevisionOutcome, SenderNotice, TakeRequest } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { createNotifier } from './notifier.ts'

interface ReturnParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface ReviseCall {
  readonly handoffId: string
  /** The revision that the correction wants to be. */
  readonly revision: number
  /** Who answers for it. */
  readonly actor: string
  /** The operator whose message it is from now on; nobody leaves it as it was. */
  readonly sentBy?: string | null
  /** Makes the correction of the message that stands. */
  correct(base: RevisionBase): Correction
}

export interface Returns {
  /** Takes what senders must be told; see takeNotices of the store. */
  take(request: TakeRequest): Promise<readonly SenderNotice[]>
  /** Whether the taker had it; a return that was not corrected is tried again at once. */
  acknowledge(noticeId: string, taker: string): Promise<boolean>
  /** Commits a correction as the next revision of its handoff. */
  revise(call: ReviseCall): Promise<RevisionOutcome>
  /** Takes a rolled-back task up again; `sentBy` is the operator for whom, where it is changed. */
  resume(request: ResumeRequest, sentBy?: string | null): Promise<Sent>
}

export function createReturns(parts: ReturnParts): Returns {
  const { pool } = parts
  const deps = {
    ...parts,
    commitRevision: commitRevisionOn(pool),
    commitResumption: commitResumptionOn(pool),
    wakeRelays: createNotifier(pool),
    onCompressed: () => parts.metrics.contextCompressionsTotal.inc(),
  }
  return {
    take: (request) => takeNotices(pool, request),
    acknowledge: async (noticeId, taker) =>
      (await acknowledgeNotices(pool, [noticeId], taker)).has(noticeId),
    async revise({ handoffId, revision, actor, sentBy = null, correct }) {
      const base = await findRevisionBase(pool, handoffId)
      if (base === undefined) return { kind: 'unknown' }
      const correction = correct(base)
      return reviseHandoff({ ...deps, sentBy }, { base, correction, revision, actor })
    },
    resume: (request, sentBy = null) => resumeTask({ ...deps, sentBy }, request),
  }
}

const commitRevisionOn =
  (pool: Pool): ReviseDeps['commitRevision'] =>
  (revision, decide) =>
    inTransaction(pool, async (transaction) => {
      const { handoffId } = revision.message
      const wanted = [{ handoffId, revision: revision.revision }]
      const [standing] = await lockRevisable(transaction, wanted)
      const { outcome, intents } = decide(standing)
      if (outcome.kind !== 'revised') return outcome
      await applyRevisions(transaction, [revision])
      await addAuditIntents(transaction, intents)
      return outcome
    })

const commitResumptionOn =
  (pool: Pool): ResumeDeps['commitResumption'] =>
  (request, prepare) =>
    inTransaction(pool, async (transaction) => {
      const standing = await lockResumable(transaction, request)
      if (standing.kind !== 'resumable') return standing
      const { handoff, resumesId, intents } = prepare(standing.handoff)
      const [outcome = { kind: 'conflict' }] = await sendHandoffs(transaction, [handoff])
      if (outcome.kind !== 'sent') throw refusedSend(handoff, outcome)
      await linkResumed(transaction, { handoffId: handoff.handoffId, resumesId })
      await addAuditIntents(transaction, intents)
      const { taskSeq, state } = outcome
      return { kind: 'sent', handoff, taskSeq, state }
    })
