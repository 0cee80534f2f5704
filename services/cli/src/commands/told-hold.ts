// A legal hold as the auditor tells it out of its records.
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
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

/** How far the log was read for them. */
export interface HoldsLooked {
  readonly proven: boolean
  readonly why: string | null
  readonly unread: number
  readonly findings: readonly { readonly rule: string; readonly message: string }[]
}

/** What to say where others may be held; nothing where that is proven not to be. */
export const unprovenLines = ({ proven, why, findings }: HoldsLooked): readonly string[] => {
  if (proven) return []
  const last = `Incomplete: it is not proven that no other task is held: ${why ?? ''}.`
  return [...findings.map(({ rule, message }) => `✗ ${message} (${rule})`), last]
}

/** 3 where the log is not what was sealed, 4 where that could not be said. */
export const exitOfLooked = ({ proven, findings }: HoldsLooked): ExitCode =>
  findings.length > 0 ? EXIT.verificationFailed : proven ? EXIT.fine : EXIT.incomplete

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
