// Plays the insured person's portal: a claim becomes the first handoff of its task.
import { randomUUID } from 'node:crypto'
import type { AgentState, HandoffConstraints } from '@baton/sdk'
import claimFile from '../claim.json' with { type: 'json' }

/** A published sample, word for word: SOURCE.md says whose. */
export const SAMPLE_CLAIM: string = claimFile.currentState.claim

interface ClaimOptions {
  /** What the whole task may cost, in US dollars. */
  readonly budgetUSD: number
  readonly traceparent: string
}

/** The three arguments of a sender's `send`. */
export interface ClaimRequest {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

export const claimRequest = (
  claim: string,
  { budgetUSD, traceparent }: ClaimOptions,
): ClaimRequest => ({
  targetAgentType: 'claim-intake',
  constraints: { list: ['treat-text-as:data'] },
  agentState: {
    taskId: randomUUID(),
    agent: { agentId: 'claim-portal', agentVersion: '1.0.0' },
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [
      { subtaskId: 'checks', description: 'Check coverage, fraud and charges.' },
      { subtaskId: 'decision', description: 'Decide about the claim.' },
    ],
    currentState: { claim },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: budgetUSD,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    traceparent,
  },
})
