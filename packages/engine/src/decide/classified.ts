// What a classifier outside may change of the scanner's verdict: it raises it, and never lowers it; and what the record says of it. Pure.
import { hash } from 'node:crypto'
import type { EntryClassifier } from '@baton/ledger'
import type { SafetyVerdict } from '@baton/safety'
import type { Opinion } from '../classifier.ts'

/** The verdict of the scanner and, where one was asked, of the classifier. */
export interface ClassifiedSafety extends SafetyVerdict {
  readonly classifier?: EntryClassifier
  /** The policy that made it worse than both said; only where one did. */
  readonly policy?: string
}

export interface Classified extends ClassifiedSafety {
  readonly classifier: EntryClassifier & { readonly failure: ClassifierFailure | null }
}

/** Why no answer counts: it is the scanner's verdict that stands then. */
export type ClassifierFailure =
  | 'TIMEOUT'
  | 'UNAVAILABLE'
  /** A breaker keeps calls away from it for a while. */
  | 'PAUSED'
  /** What it answered is no answer. */
  | 'INVALID'
  /** There is more text than one is asked about. */
  | 'TOO_LARGE'
  /** The text may not leave its place, or is confidential. */
  | 'STAYS_HERE'

/** What a finding of the classifier is called, as its rule and as its category. */
const CLASSIFIER_RULE = 'classifier'

const SEVERITY = { allow: 0, flag: 1, reject: 2 } as const

/** Alone it says as much as what it asks for takes. */
const WEIGHT = { flag: 0.5, reject: 1 } as const

interface Asked {
  readonly name: string
  readonly answer: Opinion | ClassifierFailure
}

/** The worse verdict of the two, and beside it who said what. The scanner's own must not be `reject`, which nothing raises. */
export function withOpinion(
  scan: SafetyVerdict & { readonly decision: 'allow' | 'flag' },
  { name, answer }: Asked,
): Classified {
  const scanner = scan.decision
  const none = { name, version: null, decision: null, scanner }
  if (typeof answer === 'string') return { ...scan, classifier: { ...none, failure: answer } }
  const { version, decision } = answer
  const classifier = { name, version, decision, scanner, failure: null }
  if (decision === 'allow' || SEVERITY[decision] <= SEVERITY[scanner])
    return { ...scan, classifier }
  // Its finding comes first, so that no number of others pushes it off a list.
  return {
    ...scan,
    decision,
    findings: [findingOf(decision, answer), ...scan.findings],
    classifier,
  }
}

/** The whole field where it names one, else the whole message. */
const findingOf = (
  decision: 'flag' | 'reject',
  { at }: Opinion,
): SafetyVerdict['findings'][number] => ({
  ruleId: CLASSIFIER_RULE,
  category: CLASSIFIER_RULE,
  jsonPointer: at?.pointer ?? '',
  view: 'raw',
  span: [0, at?.text.length ?? 0],
  weight: WEIGHT[decision],
  hash: hash('sha256', at?.text ?? ''),
  trust: at?.trust ?? 'data',
})

/** What was answered, or why nothing was, as metrics count it. */
export function outcomeOf({ decision, classifier }: Classified) {
  const { failure, scanner } = classifier
  if (failure !== null) return failure.toLowerCase() as Lowercase<ClassifierFailure>
  return decision === 'allow' || decision === scanner ? 'agreed' : (`raised_${decision}` as const)
}
