// The fourth agent: one figure, one level and one paragraph per licence.
import { defineAgent } from '@baton/sdk'
import type { AgentContext, AgentResult } from '@baton/sdk'
import { readObject, readObjects } from './review-state.ts'
import type {
  Clause,
  Issue,
  LicenceCard,
  Obligation,
  ReviewFindings,
  RiskLevel,
} from './review-state.ts'
import { estimateUsage } from './usage.ts'

const CELL_MAX = 25
const CERTAINTY_MAX = 0.85

/**
 * 0 to 100. Each issue weighs by its cell in the consequence and likelihood matrix (ISO 31010);
 * issues add up like independent chances, so many small ones never outweigh a grave one by number.
 */
export function scoreIssues(issues: readonly Issue[]): number {
  const untroubled = issues.reduce(
    (chance, { likelihood, consequence }) =>
      chance * (1 - (CERTAINTY_MAX * likelihood * consequence) / CELL_MAX),
    1,
  )
  return Math.round(100 * (1 - untroubled))
}

/** Low below 35, moderate below 60, high below 80, else extreme. */
export function levelOf(score: number): RiskLevel {
  if (score < 35) return 'low'
  if (score < 60) return 'moderate'
  return score < 80 ? 'high' : 'extreme'
}

export interface Review {
  readonly licence: LicenceCard
  readonly clauses: readonly Clause[]
  readonly obligations: readonly Obligation[]
  readonly issues: readonly Issue[]
}

/** The findings of a review; names nobody. */
export function findingsOf({ licence, clauses, obligations, issues }: Review): ReviewFindings {
  const riskScore = scoreIssues(issues)
  const level = levelOf(riskScore)
  const gravest = issues.toSorted((a, b) => cellOf(b) - cellOf(a))
  const summary = [
    `${licence.name} is licensed under ${licence.spdx === 'NOASSERTION' ? 'a text of its own' : licence.spdx}: ${level} risk, ${riskScore} of 100.`,
    `${clauses.length} clauses of ${obligations.length} kinds were found.`,
    ...gravest.slice(0, 3).map(({ why }) => why),
    adviceFor(level),
  ].join(' ')
  const flags = gravest.map(({ flag }) => flag)
  return {
    licence: licence.name,
    spdx: licence.spdx,
    riskScore,
    level,
    clauses: clauses.length,
    flags,
    summary,
  }
}

const cellOf = ({ likelihood, consequence }: Issue): number => likelihood * consequence

const ADVICE: Readonly<Record<RiskLevel, string>> = {
  low: 'Use it and keep the notices.',
  moderate: 'Use it after reading the points above.',
  high: 'Ask a lawyer before distributing it.',
  extreme: 'Do not use it without an agreement with the licensor.',
}

const adviceFor = (level: RiskLevel): string => ADVICE[level]

export const riskScoring = defineAgent({
  type: 'risk-scoring',
  version: '1.0.0',
  requires: ['licence', 'clauses', 'obligations', 'issues'],
  execute: (context) => Promise.resolve(score(context)),
})

function score({ state }: AgentContext): AgentResult {
  const review: Review = {
    licence: readObject(state, 'licence'),
    clauses: readObjects(state, 'clauses'),
    obligations: readObjects(state, 'obligations'),
    issues: readObjects(state, 'issues'),
  }
  const findings = findingsOf(review)
  return {
    subtask: {
      subtaskId: 'risk-scoring',
      description: 'Scored the risk and summed it up.',
      result: { riskScore: findings.riskScore, level: findings.level },
    },
    state: { ...state, findings },
    ...estimateUsage({ obligations: review.obligations, issues: review.issues }, findings),
    next: [],
    result: findings,
  }
}
