// Beginning and stopping a bulk re-drive: only letters that would pass today go in, never one's own, and both are recorded.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '@baton/ledger'
import type { AuditIntent, HeldDeadLetter, NewRedrive, QuarantinedMessage } from '@baton/store'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import type { DryRun } from './decide/dry-run.ts'
import { CANARY_MAX } from './redrive-letters.ts'

export interface RedriveRequest {
  readonly handoffIds: readonly string[]
  readonly cluster: string | null
  readonly createdBy: string
  readonly ratePerSecond: number
}

/** The statements of one transaction that begins or stops a re-drive. */
export interface RedriveActTables {
  /** Answers which letters it took. */
  add(redrive: NewRedrive): Promise<ReadonlySet<string>>
  /** False where it had ended before. */
  cancel(redriveId: string, by: string): Promise<boolean>
  firstLetter(redriveId: string): Promise<string | undefined>
  hold(handoffIds: readonly string[]): Promise<ReadonlyMap<string, HeldDeadLetter>>
  record(intents: readonly AuditIntent[]): Promise<void>
}

export interface RedriveDeps {
  /** Judges letters as they would be judged now; answers those that still wait. */
  tryOut(
    handoffIds: readonly string[],
  ): Promise<readonly (DryRun & Pick<QuarantinedMessage, 'round' | 'sentBy'>)[]>
  transact<Result>(work: (tables: RedriveActTables) => Promise<Result>): Promise<Result>
}

/** A letter that stays where it is: NOT_WAITING, OWN, IN_ANOTHER_REDRIVE, or why it would not pass. */
export interface LeftOut {
  readonly handoffId: string
  readonly reason: string
}

export interface StartedRedrive {
  /** Undefined where no letter could be taken. */
  readonly redriveId: string | undefined
  readonly taken: number
  readonly leftOut: readonly LeftOut[]
}

/** Nothing is overridden: whatever goes back is judged again in full. */
export async function startRedrive(
  deps: RedriveDeps,
  { handoffIds, cluster, createdBy, ratePerSecond }: RedriveRequest,
): Promise<StartedRedrive> {
  const tried = await deps.tryOut(handoffIds)
  const found = new Set(tried.map(({ handoffId }) => handoffId))
  const leftOut: LeftOut[] = handoffIds
    .filter((handoffId) => !found.has(handoffId))
    .map((handoffId) => ({ handoffId, reason: 'NOT_WAITING' }))
  const fit = tried.filter(({ handoffId, sentBy, reason }) => {
    const why = sentBy === createdBy ? 'OWN' : reason
    if (why !== null) leftOut.push({ handoffId, reason: why })
    return why === null
  })
  if (fit.length === 0) return { redriveId: undefined, taken: 0, leftOut }
  const id = randomUUID()
  const letters = fit.map(({ handoffId, round }, index) => ({
    handoffId,
    round,
    canary: index < CANARY_MAX,
    actId: randomUUID(),
  }))
  const redrive = { id, cluster, createdBy, ratePerSecond, letters }
  const taken = await deps.transact((tables) => addRecorded(tables, redrive))
  for (const { handoffId } of letters)
    if (!taken.has(handoffId)) leftOut.push({ handoffId, reason: 'IN_ANOTHER_REDRIVE' })
  return { redriveId: taken.size === 0 ? undefined : id, taken: taken.size, leftOut }
}

/** Ends a re-drive at a person's word; false where it had ended before. What went back stays there. */
export function stopRedrive(
  { transact }: Pick<RedriveDeps, 'transact'>,
  redriveId: string,
  actor: string,
): Promise<boolean> {
  return transact(async (tables) => {
    const stopped = await tables.cancel(redriveId, actor)
    if (stopped) await recordAct(tables, 'REDRIVE_STOPPED', { id: redriveId, actor })
    return stopped
  })
}

async function addRecorded(
  tables: RedriveActTables,
  redrive: NewRedrive,
): Promise<ReadonlySet<string>> {
  const taken = await tables.add(redrive)
  const act = { id: redrive.id, actor: redrive.createdBy }
  if (taken.size > 0) await recordAct(tables, 'REDRIVE_STARTED', act)
  return taken
}

// A record belongs to a task: this one to that of the first letter, under the id of the re-drive.
async function recordAct(
  tables: RedriveActTables,
  event: AuditEvent,
  act: { readonly id: string; readonly actor: string },
): Promise<void> {
  const first = await tables.firstLetter(act.id)
  const letter = first === undefined ? undefined : (await tables.hold([first])).get(first)
  if (letter === undefined) return
  await tables.record([toIntent({ ...lifecycleEntry(letter, event), act })])
}
