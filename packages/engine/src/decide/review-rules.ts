// What people may decide about a dead letter, and how many of them it takes: one table, by reason.
import type { VotedAction } from '@baton/store'

export interface ReviewRule {
  /** Different people it takes to let it go on as it is; none can. */
  readonly release: number | null
  /** Different people it takes to let it go on with parts taken out; none can. */
  readonly redact: number | null
  /** The safety check is overridden by a signed release; otherwise everything is judged again. */
  readonly overrides: boolean
}

/** Two people: one alone, also with a stolen key, lets nothing unsafe through. */
const UNSAFE: ReviewRule = { release: 2, redact: 2, overrides: true }
/** Nothing is overridden, so one person is enough. */
const INTERRUPTED: ReviewRule = { release: 1, redact: 1, overrides: false }
/** Bytes that nobody vouches for are never passed on; the sender can send them again. */
const UNTRUSTED: ReviewRule = { release: null, redact: null, overrides: false }

const RULES: ReadonlyMap<string, ReviewRule> = new Map([
  ['SAFETY_VIOLATION', UNSAFE],
  ['SIGNATURE_INVALID', UNTRUSTED],
  ['POISON', INTERRUPTED],
  ['UNRECORDABLE', INTERRUPTED],
])

/** A reason that is not in the table takes two people and overrides nothing. */
export const reviewRuleOf = (reason: string): ReviewRule =>
  RULES.get(reason) ?? { ...UNSAFE, overrides: false }

/** How many different people it takes; null where it cannot be done. */
export const reviewersNeeded = (reason: string, action: VotedAction): number | null =>
  reviewRuleOf(reason)[action === 'RELEASE' ? 'release' : 'redact']
