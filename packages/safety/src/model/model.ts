// The second opinion: a linear model over n-grams, which says how much a text reads like the attacks it has learned from.
import { FLAG_AT, REJECT_AT, WEIGHTS } from '../generated/model.ts'
import type { Rule } from '../rules/rule.ts'
import { explainWindow, weighText } from './windows.ts'
import type { Reason } from './windows.ts'

/** Weights and the scores from which on they count; made by `train-model.ts`. */
export interface Model {
  readonly weights: Int8Array
  /** It speaks as one more rule that flags alone, and rejects beside another. */
  readonly flagAt: number
  /** It is enough by itself, except where orders are normal. */
  readonly rejectAt: number
}

/** What the model says of a text that it speaks about at all. */
export interface Opinion {
  readonly rule: Rule
  readonly start: number
  readonly end: number
  /** The n-grams of most weight in it. */
  readonly reasons: readonly Reason[]
}

const OPINION = { id: 'model', category: 'injection', pattern: '' } as const
export const MODEL_FLAGS: Rule = { ...OPINION, effect: 'suspect', weight: 0.6 }
/** Where orders are normal, so are texts that read like those who give them. */
export const MODEL_NOTES: Rule = { ...OPINION, effect: 'note', weight: 0.6 }
export const MODEL_REJECTS: Rule = { ...OPINION, effect: 'reject', weight: 0.75 }

export const EMBEDDED_MODEL: Model = {
  weights: new Int8Array(Buffer.from(WEIGHTS, 'base64')),
  flagAt: FLAG_AT,
  rejectAt: REJECT_AT,
}

/** The opinion on a normalised text; undefined where it reads like ordinary ones. */
export function opinionOn(text: string, model: Model): Opinion | undefined {
  const window = weighText(text, model.weights)
  if (window === undefined || window.score < model.flagAt) return undefined
  const rule = window.score >= model.rejectAt ? MODEL_REJECTS : MODEL_FLAGS
  return { rule, ...explainWindow(text, model.weights, window) }
}
