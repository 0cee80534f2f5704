// Bulk re-drives: the canary first, then the rest at its rate; each turn is one transaction of the sweeper.
import type {
  AuditIntent,
  CanaryState,
  HeldDeadLetter,
  HeldRedrive,
  RedriveState,
  RedriveStop,
  Reopening,
} from '@baton/store'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'

/** The statements of one transaction that has a re-drive locked. */
export interface RedriveTables {
  hold(handoffIds: readonly string[]): Promise<ReadonlyMap<string, HeldDeadLetter>>
  reopen(reopenings: readonly Reopening[], resolution: 'REDRIVEN'): Promise<number>
  record(intents: readonly AuditIntent[]): Promise<void>
  listCanary(redriveId: string): Promise<readonly CanaryState[]>
  listLetters(
    redriveId: string,
    which: { readonly canary: boolean; readonly limit: number },
  ): Promise<readonly { handoffId: string; round: number; actId: string }[]>
  markLetters(
    redriveId: string,
    marks: { readonly driven: readonly string[]; readonly skipped: readonly string[] },
  ): Promise<void>
  setRedrive(
    redriveId: string,
    change: { readonly state: RedriveState; readonly why: RedriveStop | null },
  ): Promise<void>
}

/** How many letters go first. */
export const CANARY_MAX = 5

export interface RedriveStep {
  readonly state: RedriveState
  readonly why: RedriveStop | null
  /** Letters to put back into the queue in this turn. */
  readonly drive: { readonly canary: boolean; readonly limit: number } | null
}

const step = (state: RedriveState, rest: Partial<RedriveStep> = {}): RedriveStep => ({
  state,
  why: null,
  drive: null,
  ...rest,
})

/**
 * What a re-drive does when its turn comes. The canary goes first; only when every one of it has
 * completed the rest follows. A canary that ends otherwise, or takes over an hour, stops it.
 */
export function nextRedriveStep(
  redrive: Pick<HeldRedrive, 'state' | 'ratePerSecond' | 'canaryOverdue'>,
  canary: readonly CanaryState[],
): RedriveStep {
  const rest = { canary: false, limit: redrive.ratePerSecond }
  if (redrive.state === 'RUNNING') return step('RUNNING', { drive: rest })
  if (canary.some(({ letter }) => letter === 'WAITING'))
    return step('CANARY', { drive: { canary: true, limit: CANARY_MAX } })
  const driven = canary.filter(({ letter }) => letter === 'DRIVEN')
  if (driven.length === 0) return step('STOPPED', { why: { code: 'CANARY_GONE' } })
  const failed = driven.find(({ ended, state }) => ended && state !== 'COMPLETED')
  if (failed !== undefined) {
    const { handoffId, state, reason } = failed
    return step('STOPPED', { why: { code: 'CANARY_FAILED', handoffId, state, reason } })
  }
  if (driven.every(({ ended }) => ended)) return step('RUNNING', { drive: rest })
  return redrive.canaryOverdue ? step('STOPPED', { why: { code: 'CANARY_LATE' } }) : step('CANARY')
}

/** Gives a held re-drive its turn; answers how many letters went back to the queue. */
export async function advanceRedrive(tables: RedriveTables, redrive: HeldRedrive): Promise<number> {
  const { state, why, drive } = nextRedriveStep(redrive, await tables.listCanary(redrive.id))
  if (drive === null) {
    await tables.setRedrive(redrive.id, { state, why })
    return 0
  }
  const letters = await tables.listLetters(redrive.id, drive)
  const driven = await driveLetters(tables, redrive, letters)
  const done = state === 'RUNNING' && letters.length === 0
  await tables.setRedrive(redrive.id, { state: done ? 'DONE' : state, why })
  return driven
}

// Decided otherwise meanwhile, expired or canceled: passed over, the others go on.
async function driveLetters(
  tables: RedriveTables,
  { id, createdBy }: HeldRedrive,
  letters: readonly { handoffId: string; round: number; actId: string }[],
): Promise<number> {
  const held = await tables.hold(letters.map(({ handoffId }) => handoffId))
  const due = letters.flatMap(({ handoffId, round, actId }) => {
    const letter = held.get(handoffId)
    return letter !== undefined && isDue(letter, round) ? [{ letter, actId }] : []
  })
  const driven = due.map(({ letter }) => letter.handoffId)
  const skipped = letters.map(({ handoffId }) => handoffId).filter((one) => !driven.includes(one))
  await tables.markLetters(id, { driven, skipped })
  if (due.length === 0) return 0
  await tables.reopen(
    driven.map((handoffId) => ({ handoffId, releaseId: null })),
    'REDRIVEN',
  )
  await tables.record(
    due.map(({ letter, actId }) =>
      toIntent({
        ...lifecycleEntry(letter, 'HANDOFF_RELEASED', letter.reason),
        act: { id: actId, actor: createdBy },
      }),
    ),
  )
  return due.length
}

const isDue = (letter: HeldDeadLetter, round: number): boolean =>
  letter.resolution === null &&
  letter.round === round &&
  letter.taskStatus === 'AWAITING_HUMAN' &&
  !letter.overdue &&
  !letter.canceling
