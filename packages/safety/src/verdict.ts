// The words in which the scanner answers: what was decided, what was found, where, and by which ruleset.
import type { RuleEffect } from './rules/rule.ts'

/** How far the text of a field may steer the receiving agent: orders it, talks to it, or is only material for it. */
export type TrustClass = 'instruction' | 'dialogue' | 'data'

/** `allow` and `flag` let the handoff pass (a flag is recorded and the text fenced); `reject` is SAFETY_VIOLATION (E07). */
export type SafetyDecision = 'allow' | 'flag' | 'reject'

/** One reason for the decision. It holds a span and a hash, never the text, so that the audit store keeps no payload. */
export interface Finding {
  readonly ruleId: string
  readonly category: string
  /** RFC 6901 pointer of the field in the message. */
  readonly jsonPointer: string
  /** The form in which the text was read: `raw`, `joined`, or the decodings applied, outermost first (`base64>hex`). */
  readonly view: string
  /** UTF-16 offsets [start, end) in the original string of the field. */
  readonly span: readonly [start: number, end: number]
  /** 0 to 1: how much the finding alone speaks for an attack. */
  readonly weight: number
  /** SHA-256 (hex) of the original text under the span. */
  readonly hash: string
  readonly trust: TrustClass
  /**
   * For an opinion of the model: where the n-grams of most weight stand, heaviest first; UTF-16 offsets in the field. Those that
   * stand in another field are left out.
   */
  readonly reasons?: readonly (readonly [start: number, end: number])[]
  /** The exemption that takes it out of the decision; only where one does. */
  readonly exemption?: string
}

/** Names the exemption that takes a finding out of the decision; undefined where none does. */
export type ExemptionOf = (
  found: Pick<Finding, 'ruleId' | 'jsonPointer'> & { readonly effect: RuleEffect },
) => string | undefined

/** The outcome of one scan (E07). Identical text and ruleset give an identical verdict, apart from `elapsedUs`. */
export interface SafetyVerdict {
  readonly decision: SafetyDecision
  /** 0 to 1: the weight of the strongest group of findings that stand close together. */
  readonly score: number
  readonly findings: readonly Finding[]
  /** The exemptions that took findings out of the decision, each once; only where some did. */
  readonly exempted?: readonly string[]
  readonly rulesetVersion: string
  /** More was hidden in the message than is read of one: the finding SCAN_INCOMPLETE, which rejects. */
  readonly incomplete: boolean
  /** Texts examined: the message itself plus each decoded or joined form. */
  readonly views: number
  /** UTF-16 code units examined over all views. */
  readonly bytes: number
  /** What the scan cost, counted (`work.ts`): the same for the same message on every machine. */
  readonly work: number
  readonly elapsedUs: number
}

/** A scanner bound to one ruleset. */
export interface Scanner {
  /** SHA-256 (hex) over code, rules, model, normaliser version and Unicode version: equal ids decide equally. */
  readonly rulesetVersion: string
  /**
   * Judges every text field of a message; never throws, never changes the message. An exemption is asked for about each finding of a
   * rule that stands wholly in one field: never about what was not read, nor about the model, which names one window of a message
   * and so says nothing of the others.
   */
  scan(message: object, exemptionOf?: ExemptionOf): SafetyVerdict
  /** The same, or undefined where it takes longer than some milliseconds: then it says nothing of the message. */
  scanWithin(msMax: number, message: object, exemptionOf?: ExemptionOf): SafetyVerdict | undefined
}
