// The receiving agents of the contract review, ready for a worker.
import type { Agent } from '@baton/sdk'
import { clauseExtraction } from './clause-extraction.ts'
import { createLegalAnalysis } from './legal-analysis.ts'
import type { ModelOptions } from './model-opinion.ts'
import { riskScoring } from './risk-scoring.ts'
import { modelFrom } from './model-settings.ts'
import type { Environment } from './model-settings.ts'
import { unreliableReview } from './unreliable-review.ts'

/**
 * The agents that receive: clause-extraction, legal-analysis, risk-scoring, and the one that always
 * fails. Intake, the fourth of the review, is the sender: see reviewRequest(). With a model,
 * legal-analysis asks that as well; without, all of them are deterministic.
 */
export const reviewAgents = (model?: ModelOptions): readonly Agent[] => [
  clauseExtraction,
  createLegalAnalysis(model),
  riskScoring,
  unreliableReview,
]

/** The deterministic agents. */
export const agents = reviewAgents()

/**
 * The agents as CONTRACT_REVIEW_SETTINGS in `environment` want them: deterministic ones unless a
 * language model is given. Throws BATON_SETTINGS_INVALID.
 */
export const createAgents = (environment: Environment): readonly Agent[] =>
  reviewAgents(modelFrom(environment))
