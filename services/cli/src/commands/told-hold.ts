// A legal hold as the auditor tells it out of its records.
import { nextStep } from '../terminal/next-steps.ts'

export interface ToldHold {
  readonly taskId: string
  readonly state: 'held' | 'lift_unproven' | 'unverified' | 'unrecorded'
  readonly isListed: boolean
  readonly record: {
    readonly recordedAt: string
    readonly reason: string | null
    readonly actor: string | null
    readonly recordHash: string
    readonly assurance: string
  } | null
}

/** A hold that stands in the table alone or is missing there, or that nobody can be believed about. */
export const isAltered = ({ state, isListed }: ToldHold): boolean =>
  state === 'unverified' || state === 'unrecorded' || (state === 'held' && !isListed)

export const HOLD_STATES: Readonly<Record<ToldHold['state'], string>> = {
  held: 'held',
  lift_unproven: 'lifted, not proven yet',
  unverified: 'NOT verified',
  unrecorded: 'in the table alone',
}

/** What an answer with the first holds says where there are others. */
export const MORE_HOLDS = `More tasks are held or not proven free than are shown here; \`${nextStep('audit holds')}\` tells all of them.`
