// The receiving agents of the contract review, ready for a worker.
import type { Agent } from '@baton/sdk'
import { clauseExtraction } from './clause-extraction.ts'
import { createLegalAnalysis } from './legal-analysis.ts'
import type { ModelOptions } from './model-opinion.ts'
import { riskScoring } from './risk-scoring.ts'
import { unreliableReview } from './unreliable-review.ts'

/**
 * The agents that receive: clause-extraction, legal-analysis, risk-scoring, and the one that always
 * fails. Intake, the fourth of the review, is the sender: see reviewRequest(). With a model,
 * legal-analysis asks that as well; without, all of them are deterministic.
 */
export function createAgents(options: { readonly model?: ModelOptions } = {}): readonly Agent[] {
  return [clauseExtraction, createLegalAnalysis(options.model), riskScoring, unreliableReview]
}

/** The deterministic agents. */
export const agents: readonly Agent[] = createAgents()
