// Turns findings into a decision: what may reject, what only flags, and how much evidence each kind of field asks for.
import type { RuleEffect } from './rules/rule.ts'
import type { SafetyDecision, TrustClass } from './verdict.ts'

/** What the decision needs to know of a finding; a model's finding is one more of these, with rule id `model`. */
export interface Evidence {
  readonly ruleId: string
  readonly effect: RuleEffect
  readonly weight: number
  readonly trust: TrustClass
  /** Offset in the whole text of the message. */
  readonly at: number
  /** The text around it quotes or reports the wording; lowers `suspect`, never `reject`. */
  readonly quoted: boolean
}

/** Data is held to the strictest measure; orders are normal in instruction fields, which need three rules or class R. */
export const THRESHOLDS = {
  flag: 0.45,
  reject: { data: 0.7, dialogue: 0.72, instruction: 0.86 },
} as const

/** Findings further apart than this do not add up. */
export const NEARBY = 800

/** How much of its weight a quoted finding keeps. */
export const QUOTED_SHARE = 0.4

/** The decision and the score of the strongest place; the order of the evidence does not matter. */
export function decide(evidence: readonly Evidence[]): { decision: SafetyDecision; score: number } {
  const ordered = evidence.toSorted((left, right) => left.at - right.at)
  let score = 0
  let rejects = false
  for (const [index, first] of ordered.entries()) {
    const place = within(ordered, index, first.at + NEARBY)
    score = Math.max(score, scoreOf(place))
    rejects ||= rejectsAlone(first) || rejectsTogether(place)
  }
  return { decision: rejects ? 'reject' : score >= THRESHOLDS.flag ? 'flag' : 'allow', score }
}

function within(ordered: readonly Evidence[], from: number, until: number): Evidence[] {
  const place: Evidence[] = []
  for (let index = from; index < ordered.length; index++) {
    const next = ordered[index]
    if (next === undefined || next.at > until) break
    place.push(next)
  }
  return place
}

function rejectsAlone(evidence: Evidence): boolean {
  return evidence.effect === 'reject' && evidence.weight >= THRESHOLDS.reject[evidence.trust]
}

/** At least two different rules that may count, and together enough weight for the strictest field they stand in. */
function rejectsTogether(place: readonly Evidence[]): boolean {
  const counting = place.filter((evidence) => evidence.effect !== 'note' && !evidence.quoted)
  if (new Set(counting.map((evidence) => evidence.ruleId)).size < 2) return false
  const threshold = Math.min(...counting.map((evidence) => THRESHOLDS.reject[evidence.trust]))
  return scoreOf(counting) >= threshold
}

/** Each rule counts once, with its strongest finding; independent rules add up as 1 - Π(1 - weight). */
function scoreOf(place: readonly Evidence[]): number {
  const weights = new Map<string, number>()
  for (const { ruleId, weight, quoted, effect } of place) {
    const counted = quoted && effect !== 'reject' ? weight * QUOTED_SHARE : weight
    weights.set(ruleId, Math.max(weights.get(ruleId) ?? 0, counted))
  }
  let doubt = 1
  for (const weight of weights.values()) doubt *= 1 - weight
  return Math.round((1 - doubt) * 1e6) / 1e6
}
