// The checks of I6 that look at the content: schema, completeness, budget, safety, in this order.
import { checkBudget } from './checks/budget.ts'
import { checkCompleteness } from './checks/completeness.ts'
import { checkConsistency } from './checks/consistency.ts'
import type { ConsistencyOptions } from './checks/consistency.ts'
import { checkPinnedFacts } from './checks/pinned-facts.ts'
import { checkSafety } from './checks/safety.ts'
import type { Scan, ScanVerdict } from './checks/safety.ts'
import type { Detail } from './detail.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { JsonValue } from './json.ts'
import type { RejectionReason } from './rejection.ts'
import { checkSchema } from './schema-check.ts'
import type { Acceptance, CheckResult, Checks, Rejection, Verdict } from './verdict.ts'

/** What becomes of a message whose conversation lost what its compression had to keep (E23). */
export type LostFactsPolicy = 'return' | 'flag'

export interface ContentOptions<V extends ScanVerdict> extends ConsistencyOptions {
  readonly scan?: Scan<V> | undefined
  /** Asked where the scan rejects: undefined lets the message pass, a detail says why it may not. */
  /** Whether a message that lost pinned facts is incomplete, or passes with warnings; the first by default. */
  readonly lostFacts?: LostFactsPolicy | undefined
  readonly override?: ((scan: ScanVerdict | null) => Detail | undefined) | undefined
}

/**
 * Judges a parsed message; `before` says what the checks before these found. The first failure is
 * the reason. The scan runs when the schema holds and the context is complete, also when the
 * budget fails, so that it is on record.
 */
export function judgeContent<V extends ScanVerdict>(
  value: JsonValue,
  options: ContentOptions<V>,
  before: Checks<V>,
): Verdict<V> {
  const schema = checkSchema(value)
  if (!schema.ok) return reject('SCHEMA_INVALID', schema.details, { ...before, schema: 'failed' })
  const { message, warnings } = schema
  const refuse = (reason: RejectionReason, details: readonly Detail[], checks: Checks<V>) => ({
    ...reject(reason, details, checks),
    message,
  })
  const inconsistent = checkConsistency(message, options)
  if (inconsistent.length > 0)
    return refuse('SCHEMA_INVALID', inconsistent, { ...before, schema: 'failed' })
  const { gaps, flagged } = checkContext(message, options)
  const sound: Checks<V> = { ...before, schema: 'passed', completeness: outcome(gaps) }
  if (gaps.length > 0) return refuse('INCOMPLETE_CONTEXT', gaps, sound)
  const spent = checkBudget(message)
  const safety = options.scan === undefined ? undefined : checkSafety(message, options.scan)
  const checks: Checks<V> = {
    ...sound,
    budget: outcome(spent),
    safety: safety === undefined ? 'skipped' : outcome(safety.details),
    scan: safety?.verdict ?? null,
  }
  if (spent.length > 0) return refuse('BUDGET_EXHAUSTED', spent, checks)
  const sane: Acceptance<V> = { valid: true, message, warnings: [...warnings, ...flagged], checks }
  if (checks.safety !== 'failed') return sane
  return judgeUnsafe(sane, safety?.details ?? [], options.override)
}

/** What a message comes to that fails for its text alone: refused for `details`, where no release lets it pass. */
export function judgeUnsafe<V extends ScanVerdict>(
  { message, warnings, checks }: Acceptance<V>,
  details: readonly Detail[],
  override: ContentOptions<V>['override'],
): Verdict<V> {
  const failed: Checks<V> = { ...checks, safety: 'failed' }
  const refuse = (why: readonly Detail[]): Verdict<V> => ({
    ...reject('SAFETY_VIOLATION', why, failed),
    message,
  })
  if (override === undefined) return refuse(details)
  const refused = override(checks.scan)
  if (refused !== undefined) return refuse([refused, ...details])
  return { valid: true, message, warnings, checks: { ...checks, safety: 'released' } }
}

/** What is missing, and what is only told of. */
function checkContext(
  message: HandoffMessage,
  { agent, lostFacts = 'return' }: Pick<ContentOptions<ScanVerdict>, 'agent' | 'lostFacts'>,
) {
  const gaps = checkCompleteness(message, agent)
  const lost = checkPinnedFacts(message)
  return lostFacts === 'flag' ? { gaps, flagged: lost } : { gaps: [...gaps, ...lost], flagged: [] }
}

/** A rejection; the checks say how far the message came. */
export function reject<V extends ScanVerdict>(
  reason: RejectionReason,
  details: readonly Detail[],
  checks: Checks<V>,
): Rejection<V> {
  return { valid: false, reason, details, checks }
}

function outcome(details: readonly Detail[]): CheckResult {
  return details.length === 0 ? 'passed' : 'failed'
}
