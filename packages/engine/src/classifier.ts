// The contract of a classifier: somebody outside who judges the texts of a message beside the scanner.
import type { SafetyVerdict, ShownText } from '@baton/safety'

/** What a classifier is asked: the texts that the receiving agent may read, and what the scanner said of the message. */
export interface Question {
  readonly texts: readonly ShownText[]
  readonly verdict: Pick<SafetyVerdict, 'decision' | 'score' | 'findings' | 'rulesetVersion'>
}

export interface Opinion {
  /** As the classifier calls itself; it stands in the record of the decision. */
  readonly version: string
  readonly decision: 'allow' | 'flag' | 'reject'
  /** The one of the texts that it speaks of; undefined where it speaks of all. */
  readonly at?: ShownText | undefined
}

export interface Classifier {
  /** As records call it: at most 256 printable ASCII characters without spaces. */
  readonly name: string
  /** Also asked about what may not leave its place, or is confidential. */
  readonly seesAll: boolean
  /**
   * What it says, within a stated time. Of the tenant whose question it is it is told nothing; what one tenant's questions do to it keeps
   * away nobody else's. Throws the transient BATON_TIMEOUT, BATON_BREAKER_OPEN, BATON_CLASSIFIER_INVALID or
   * BATON_CLASSIFIER_UNAVAILABLE, which is permanent where it refused this question alone.
   */
  classify(question: Question, tenant: string): Promise<Opinion>
  /** Tells from now on whether calls are kept away from it: those of a tenant, or where it names none, everybody's. */
  onPaused(listener: (paused: boolean, tenant: string | undefined) => void): void
  close(): void
}
