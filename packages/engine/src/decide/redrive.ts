// What a bulk re-drive of dead letters does when its turn comes: the canary first, then the rest at its rate; pure.
import type {
  CanaryState,
  HeldDeadLetter,
  HeldRedrive,
  RedriveState,
  RedriveStop,
} from '@baton/store'

/** How many dead letters go first. */
export const CANARY_MAX = 5

interface RedriveStep {
  readonly state: RedriveState
  readonly why: RedriveStop | null
  /** Dead letters to put back into the queue in this turn. */
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
  if (canary.some(({ deadLetter }) => deadLetter === 'WAITING'))
    return step('CANARY', { drive: { canary: true, limit: CANARY_MAX } })
  const driven = canary.filter(({ deadLetter }) => deadLetter === 'DRIVEN')
  if (driven.length === 0) return step('STOPPED', { why: { code: 'CANARY_GONE' } })
  const failed = driven.find(({ ended, state }) => ended && state !== 'COMPLETED')
  if (failed !== undefined) {
    const { handoffId, state, reason } = failed
    return step('STOPPED', { why: { code: 'CANARY_FAILED', handoffId, state, reason } })
  }
  if (driven.every(({ ended }) => ended)) return step('RUNNING', { drive: rest })
  return redrive.canaryOverdue ? step('STOPPED', { why: { code: 'CANARY_LATE' } }) : step('CANARY')
}

/** Decided otherwise meanwhile, expired or canceled: passed over, the others go on. */
export const isDue = (deadLetter: HeldDeadLetter, quarantineAttempt: number): boolean =>
  deadLetter.resolution === null &&
  deadLetter.quarantineAttempt === quarantineAttempt &&
  deadLetter.taskStatus === 'AWAITING_HUMAN' &&
  !deadLetter.overdue &&
  !deadLetter.canceling
