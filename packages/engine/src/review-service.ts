// Review on Postgres: one transaction per decision, and what a dry run and a re-drive need around it.
import { dryRun } from './decide/dry-run.ts'
import type { DryRun } from './decide/dry-run.ts'
import { startRedrive, stopRedrive } from './start-redrive.ts'
import type { RedriveActTables, StartedRedrive } from './start-redrive.ts'
import { advanceRedrive } from './redrive-letters.ts'
import type { RedriveTables } from './redrive-letters.ts'
import { createReviewer } from './review-dead-letter.ts'
import type { Reviewer } from './review-dead-letter.ts'
import type { ReviewTables } from './decide/review-outcome.ts'
import { redactStored } from './redact-stored.ts'
import type { KeyRing } from '@baton/protocol'
import { createScanner } from '@baton/safety'
import {
  addAuditIntents,
  addRedrive,
  addRelease,
  addVote,
  askSender,
  cancelRedrive,
  discardDeadLetter,
  findFirstLetter,
  findStoredMessage,
  holdDeadLetters,
  holdDueRedrive,
  inTransaction,
  listCanary,
  listHostedAgents,
  listQuarantinedMessages,
  listVotes,
  listWaitingLetters,
  markLetters,
  releaseEnd,
  reopenHandoffs,
  replaceMessage,
  setRedrive,
} from '@baton/store'
import type { Database, Pool, QuarantinedMessage } from '@baton/store'
import { createNotifier } from './notifier.ts'

interface ReviewParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
}

export interface ReviewDesk extends Reviewer {
  /** The scanner that would judge now. */
  readonly artefactId: string
  /** What would happen to each letter that still waits, in the order asked; nothing is changed. */
  tryOut(handoffIds: readonly string[]): Promise<readonly TriedLetter[]>
  startRedrive(request: Parameters<typeof startRedrive>[1]): Promise<StartedRedrive>
  /** False where it had ended before. */
  stopRedrive(redriveId: string, actor: string): Promise<boolean>
}

export type TriedLetter = DryRun & Pick<QuarantinedMessage, 'round' | 'sentBy'>

/** What reviewers do, for a gateway. */
export function createReviewDesk({ pool, keyRing }: ReviewParts): ReviewDesk {
  const { scan, artefactId } = createScanner()
  const tryOut = (handoffIds: readonly string[]) =>
    tryOutInChunks(pool, handoffIds, { keyRing, scan })
  const reviewer = createReviewer({
    transact: (work) => inTransaction(pool, (transaction) => work(reviewTables(transaction))),
    wakeRelays: createNotifier(pool),
    keyRing,
    redact: (stored, redactions) => redactStored(stored, redactions, { keyRing, scan }),
  })
  const redrives = {
    tryOut,
    transact: <Result>(work: (tables: RedriveActTables) => Promise<Result>) =>
      inTransaction(pool, (transaction) => work(redriveActTables(transaction))),
  }
  return {
    ...reviewer,
    artefactId,
    tryOut,
    startRedrive: (request) => startRedrive(redrives, request),
    stopRedrive: (redriveId, actor) => stopRedrive(redrives, redriveId, actor),
  }
}

function reviewTables(db: Database): ReviewTables {
  return {
    hold: (handoffIds) => holdDeadLetters(db, handoffIds),
    addVote: (vote) => addVote(db, vote),
    listVotes: (handoffId, round) => listVotes(db, handoffId, round),
    releaseEnd: (hours) => releaseEnd(db, hours),
    addRelease: (release) => addRelease(db, release),
    reopen: (reopenings, resolution) => reopenHandoffs(db, reopenings, resolution),
    discard: (handoffId) => discardDeadLetter(db, handoffId),
    askSender: (handoffId, noticeId) => askSender(db, handoffId, noticeId),
    findMessage: (handoffId) => findStoredMessage(db, handoffId),
    replaceMessage: (handoffId, message) => replaceMessage(db, handoffId, message),
    record: (intents) => addAuditIntents(db, intents),
  }
}

/** Messages of at most 1 MiB each are read at once for so many letters. */
const CHUNK = 16

async function tryOutInChunks(
  pool: Pool,
  handoffIds: readonly string[],
  deps: Parameters<typeof dryRun>[2],
): Promise<readonly TriedLetter[]> {
  const tried = new Map<string, TriedLetter>()
  for (let from = 0; from < handoffIds.length; from += CHUNK) {
    const messages = await listQuarantinedMessages(pool, handoffIds.slice(from, from + CHUNK))
    const types = [...new Set(messages.map(({ toAgent }) => toAgent))]
    const live = messages.length === 0 ? [] : await listHostedAgents(pool, types)
    for (const message of messages) {
      const { handoffId, round, sentBy } = message
      tried.set(handoffId, { ...dryRun(message, live, deps), round, sentBy })
      // Judging is work of the processor: others get their turn between two messages.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return [...new Set(handoffIds)].flatMap((handoffId) => tried.get(handoffId) ?? [])
}

/** Gives every due re-drive its turn, at most ten in a row; answers how many handoffs went back to the queue. */
export async function advanceRedrives(pool: Pool): Promise<number> {
  let driven = 0
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const advanced = await inTransaction(pool, async (transaction) => {
      const redrive = await holdDueRedrive(transaction)
      if (redrive === undefined) return undefined
      return advanceRedrive(redriveTables(transaction), redrive)
    })
    if (advanced === undefined) break
    driven += advanced
  }
  return driven
}

const TURNS_MAX = 10

function redriveActTables(db: Database): RedriveActTables {
  const { hold, record } = reviewTables(db)
  return {
    hold,
    record,
    add: (redrive) => addRedrive(db, redrive),
    cancel: (redriveId, by) => cancelRedrive(db, redriveId, by),
    firstLetter: (redriveId) => findFirstLetter(db, redriveId),
  }
}

function redriveTables(db: Database): RedriveTables {
  const { hold, reopen, record } = reviewTables(db)
  return {
    hold,
    reopen,
    record,
    listCanary: (redriveId) => listCanary(db, redriveId),
    listLetters: (redriveId, which) => listWaitingLetters(db, redriveId, which),
    markLetters: (redriveId, marks) => markLetters(db, redriveId, marks),
    setRedrive: (redriveId, change) => setRedrive(db, redriveId, change),
  }
}
