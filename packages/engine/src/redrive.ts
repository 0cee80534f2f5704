// Bulk re-drives of dead letters: tried out, begun, stopped, and advanced turn by turn. Nothing is overridden:
// whatever goes back to the queue is judged again in full.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '@baton/ledger'
import type { KeyRing } from '@baton/protocol'
import type { Scanner } from '@baton/safety'
import {
  addOutboxEvents,
  addRedrive,
  cancelRedrive,
  findFirstDeadLetter,
  holdDeadLetters,
  holdDueRedrive,
  inTransaction,
  listCanary,
  listHostedAgents,
  listQuarantinedMessages,
  listWaitingDeadLetters,
  markDeadLetters,
  reopenHandoffs,
  setRedrive,
} from '@baton/store'
import type {
  Database,
  HeldRedrive,
  Pool,
  QuarantinedMessage,
  WaitingDeadLetter,
} from '@baton/store'
import { hasSent } from './decide/has-sent.ts'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { dryRun } from './decide/dry-run.ts'
import type { DryRun } from './decide/dry-run.ts'
import { CANARY_MAX, isDue, nextRedriveStep } from './decide/redrive.ts'

interface RedriveParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly scanner: Scanner
}

export type TriedDeadLetter = DryRun &
  Pick<QuarantinedMessage, 'quarantineAttempt' | 'sentBy' | 'earlierSenders'>

/** Messages of at most 1 MiB each are read at once for so many dead letters. */
const CHUNK = 16

/** What would happen to each dead letter that still waits, in the order asked; nothing is changed. */
export async function tryOut(
  { pool, keyRing, scanner }: RedriveParts,
  handoffIds: readonly string[],
): Promise<readonly TriedDeadLetter[]> {
  const tried = new Map<string, TriedDeadLetter>()
  for (let from = 0; from < handoffIds.length; from += CHUNK) {
    const messages = await listQuarantinedMessages(pool, handoffIds.slice(from, from + CHUNK))
    const types = [...new Set(messages.map(({ toAgent }) => toAgent))]
    const live = messages.length === 0 ? [] : await listHostedAgents(pool, types)
    for (const message of messages) {
      const { handoffId, quarantineAttempt, sentBy, earlierSenders } = message
      const { scan } = scanner
      tried.set(handoffId, {
        ...dryRun(message, live, { keyRing, scan }),
        quarantineAttempt,
        sentBy,
        earlierSenders,
      })
      // Judging is work of the processor: others get their turn between two messages.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return [...new Set(handoffIds)].flatMap((handoffId) => tried.get(handoffId) ?? [])
}

export interface RedriveRequest {
  readonly handoffIds: readonly string[]
  readonly cluster: string | null
  readonly createdBy: string
  readonly ratePerSecond: number
}

/** A dead letter that stays where it is: NOT_WAITING, OWN, IN_ANOTHER_REDRIVE, or why it would not pass. */
export interface LeftOut {
  readonly handoffId: string
  readonly reason: string
}

export interface StartedRedrive {
  /** Undefined where no dead letter could be taken. */
  readonly redriveId: string | undefined
  readonly taken: number
  readonly leftOut: readonly LeftOut[]
}

/** Begins a re-drive of the dead letters that would pass today, never one's own, and records who began it. */
export async function startRedrive(
  parts: RedriveParts,
  { handoffIds, cluster, createdBy, ratePerSecond }: RedriveRequest,
): Promise<StartedRedrive> {
  const tried = await tryOut(parts, handoffIds)
  const found = new Set(tried.map(({ handoffId }) => handoffId))
  const leftOut: LeftOut[] = handoffIds
    .filter((handoffId) => !found.has(handoffId))
    .map((handoffId) => ({ handoffId, reason: 'NOT_WAITING' }))
  const fit = tried.filter((one) => {
    const { handoffId, reason } = one
    const why = hasSent(one, createdBy) ? 'OWN' : reason
    if (why !== null) leftOut.push({ handoffId, reason: why })
    return why === null
  })
  if (fit.length === 0) return { redriveId: undefined, taken: 0, leftOut }
  const id = randomUUID()
  const deadLetters = fit.map(({ handoffId, quarantineAttempt }, index) => ({
    handoffId,
    quarantineAttempt,
    canary: index < CANARY_MAX,
    actId: randomUUID(),
  }))
  const redrive = { id, cluster, createdBy, ratePerSecond, deadLetters }
  const taken = await inTransaction(parts.pool, async (transaction) => {
    const added = await addRedrive(transaction, redrive)
    const act = { id, actor: createdBy }
    if (added.size > 0) await recordAct(transaction, 'REDRIVE_STARTED', act)
    return added
  })
  for (const { handoffId } of deadLetters)
    if (!taken.has(handoffId)) leftOut.push({ handoffId, reason: 'IN_ANOTHER_REDRIVE' })
  return { redriveId: taken.size === 0 ? undefined : id, taken: taken.size, leftOut }
}

/** Ends a re-drive at a person's word; false where it had ended before. What went back stays there. */
export function stopRedrive(pool: Pool, redriveId: string, actor: string): Promise<boolean> {
  return inTransaction(pool, async (transaction) => {
    const stopped = await cancelRedrive(transaction, redriveId, actor)
    if (stopped) await recordAct(transaction, 'REDRIVE_STOPPED', { id: redriveId, actor })
    return stopped
  })
}

// A record belongs to a task: this one to that of the first dead letter, under the id of the re-drive.
async function recordAct(
  transaction: Database,
  event: AuditEvent,
  act: { readonly id: string; readonly actor: string },
): Promise<void> {
  const first = await findFirstDeadLetter(transaction, act.id)
  if (first === undefined) return
  const deadLetter = (await holdDeadLetters(transaction, [first])).get(first)
  if (deadLetter === undefined) return
  await addOutboxEvents(transaction, [toOutboxEvent({ ...lifecycleEntry(deadLetter, event), act })])
}

const TURNS_MAX = 10

/** Gives every due re-drive its turn, at most ten in a row; answers how many handoffs went back to the queue. */
export async function advanceRedrives(pool: Pool): Promise<number> {
  let driven = 0
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    const advanced = await inTransaction(pool, async (transaction) => {
      const redrive = await holdDueRedrive(transaction)
      return redrive === undefined ? undefined : advance(transaction, redrive)
    })
    if (advanced === undefined) break
    driven += advanced
  }
  return driven
}

async function advance(transaction: Database, redrive: HeldRedrive): Promise<number> {
  const { id } = redrive
  const { state, why, drive } = nextRedriveStep(redrive, await listCanary(transaction, id))
  if (drive === null) {
    await setRedrive(transaction, id, { state, why })
    return 0
  }
  const deadLetters = await listWaitingDeadLetters(transaction, id, drive)
  const driven = await driveDeadLetters(transaction, redrive, deadLetters)
  const isDone = state === 'RUNNING' && deadLetters.length === 0
  await setRedrive(transaction, id, { state: isDone ? 'DONE' : state, why })
  return driven
}

async function driveDeadLetters(
  transaction: Database,
  { id, createdBy }: HeldRedrive,
  deadLetters: readonly WaitingDeadLetter[],
): Promise<number> {
  const ids = deadLetters.map(({ handoffId }) => handoffId)
  const held = await holdDeadLetters(transaction, ids)
  const due = deadLetters.flatMap(({ handoffId, quarantineAttempt, actId }) => {
    const deadLetter = held.get(handoffId)
    return deadLetter !== undefined && isDue(deadLetter, quarantineAttempt)
      ? [{ deadLetter, actId }]
      : []
  })
  const driven = due.map(({ deadLetter }) => deadLetter.handoffId)
  const skipped = ids.filter((one) => !driven.includes(one))
  await markDeadLetters(transaction, id, { driven, skipped })
  if (due.length === 0) return 0
  const reopenings = driven.map((handoffId) => ({ handoffId, approvalOverrideId: null }))
  await reopenHandoffs(transaction, reopenings, 'REDRIVEN')
  const events = due.map(({ deadLetter, actId }) =>
    toOutboxEvent({
      ...lifecycleEntry(deadLetter, 'HANDOFF_RELEASED', deadLetter.reason),
      act: { id: actId, actor: createdBy },
    }),
  )
  await addOutboxEvents(transaction, events)
  return due.length
}
