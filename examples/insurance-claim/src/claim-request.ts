// Plays the policy holder's portal: a claim becomes the first handoff of its task.
import { randomUUID } from 'node:crypto'
import type { AgentState, HandoffConstraints, JsonObject } from '@baton/sdk'
import type { Claim } from './claim.ts'

/** Made up: no such person, policy or accident. */
export const SAMPLE_CLAIM: Claim = {
  policy: {
    number: 'MV-2026-0417',
    from: '2026-01-01',
    until: '2026-12-31',
    covers: ['collision', 'hail', 'theft'],
    deductible: 500,
    limit: 20_000,
  },
  loss: {
    on: '2026-10-03',
    reportedOn: '2026-10-05',
    kind: 'collision',
    account:
      'I stood at the red light on Mill Street when a van rolled back into my car. The police took photos of both and of the mark on the road. Bumper, left headlight and wing are bent, and the paint of the bonnet is scratched down to the metal.',
  },
  items: [
    { part: 'bumper', amount: 870 },
    { part: 'headlight', amount: 640 },
    { part: 'wing', amount: 990 },
    { part: 'paint', amount: 1_150 },
  ],
}

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
  claim: Claim,
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
      { subtaskId: 'checks', description: 'Check coverage, fraud and damage.' },
      { subtaskId: 'decision', description: 'Decide about the claim.' },
    ],
    currentState: { claim: claim as unknown as JsonObject },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: budgetUSD,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    traceparent,
  },
})
