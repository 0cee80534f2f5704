// What a direct call says and is answered: a queue message brought over HTTP by somebody who waits for the outcome.
import type { Pointer } from './transport.ts'

/** The part of a queue message that a claim needs. */
export type DirectClaim = Pick<Pointer, 'handoffId' | 'publishAttempt'>

export interface DirectCall extends DirectClaim {
  readonly agentType: string
  /** How long the caller waits for the end of what this receiver begins. */
  readonly waitMs: number
}

export interface DirectAnswer {
  /** Whether this call has claimed it; otherwise somebody else has it, or it is not its turn. */
  readonly taken: boolean
  /** Whether nothing of it is under way there any more. */
  readonly ended: boolean
}

export const DIRECT_PATH = '/v1/calls'
/** The longest that a caller may wait. */
export const WAIT_MAX_MS = 600_000
