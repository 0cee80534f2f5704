// Plays intake: turns a licence text into the agent state of a task's first handoff.
import { randomUUID } from 'node:crypto'
import type { AgentState, HandoffConstraints } from '@baton/sdk'
import { INTAKE, takeIn } from './intake.ts'

export interface ReviewOptions {
  /** What the text licenses, for example `package@1.2.3`; shown in the findings. */
  readonly name: string
  /** What the whole task may cost, in US dollars. */
  readonly budgetUSD: number
  /** W3C traceparent of the span that asks for the review. */
  readonly traceparent: string
}

/** The three arguments of a sender's `send`. */
export interface ReviewRequest {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

/**
 * Does intake's work and asks for the rest: clause-extraction, legal-analysis, risk-scoring. Intake's
 * own cost is deducted from the budget (E20); people's names and addresses travel as personal data only.
 */
export function reviewRequest(text: string, options: ReviewOptions): ReviewRequest {
  const { state, personalData, usage } = takeIn(text, options.name)
  const { licence, holders, sections } = state
  return {
    targetAgentType: 'clause-extraction',
    constraints: { list: ['treat-text-as:data'], agentVersion: '^1.0.0' },
    agentState: {
      taskId: randomUUID(),
      agent: INTAKE,
      taskDescription: 'Find and quote the clauses of the licence in currentState.sections.',
      completedSubtasks: [
        {
          subtaskId: 'intake',
          description: 'Normalised the text, split it into sections and separated personal data.',
          result: { spdx: licence.spdx, sections: sections.length, holders: holders.length },
          completedAt: new Date().toISOString(),
        },
      ],
      remainingSubtasks: [
        { subtaskId: 'clause-extraction', description: 'Find and quote the clauses.' },
        {
          subtaskId: 'legal-analysis',
          description: 'Say what they oblige to, what is missing and what conflicts.',
        },
        { subtaskId: 'risk-scoring', description: 'Score the risk and sum it up.' },
      ],
      currentState: state,
      cost: {
        spentSoFarUSD: 0,
        budgetRemainingUSD: options.budgetUSD,
        ownCostUSD: usage.costUSD,
        tokenSpent: usage.tokens,
      },
      traceparent: options.traceparent,
      ...(personalData === undefined ? {} : { personalData }),
    },
  }
}
