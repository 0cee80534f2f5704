// The agent state, delivery, keys and quiet log that the tests of this package share.
import { createKeyRing, judgeHandoff } from '@baton/protocol'
import type { AgentState, HandoffMessage } from '@baton/protocol'
import type { ClaimedHandoff, NewHandoff } from '@baton/store'
import { createLogger } from '@baton/runtime'
import { createScanner } from '@baton/safety'
import type { Agent } from './agent.ts'
import { prepareHandoff } from './prepare-handoff.ts'

export const sampleOptions = {
  keyRing: createKeyRing({
    active: 'k1',
    keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
  }),
  attemptsMax: 3,
}

export const quietLogger = createLogger({ service: 'test', level: 'silent' })

/** A sender that spent 0.05 of a budget of 1 US dollar. */
export function sampleState(changes: Partial<AgentState> = {}): AgentState {
  return {
    taskId: '7f3c2a9e-0b1d-4c5e-8f60-123456789abc',
    handoffId: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
    timestamp: '2026-01-02T03:04:05Z',
    agent: {
      agentId: 'intake',
      agentVersion: '1.0.0',
      executionId: '9e8d7c6b-5a4f-4e3d-9c2b-1a0f9e8d7c6b',
    },
    taskDescription: 'Read the contract',
    completedSubtasks: [
      { subtaskId: 'start', description: 'started', completedAt: '2026-01-02T03:04:00Z' },
    ],
    remainingSubtasks: [{ subtaskId: 'read', description: 'read it' }],
    currentState: { text: 'the contract' },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0.05,
      tokenSpent: { prompt: 10, completion: 5 },
    },
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    ...changes,
  }
}

export const sampleHandoff = (changes: Partial<AgentState> = {}): NewHandoff =>
  prepareHandoff(
    { agentState: sampleState(changes), targetAgentType: 'reader', constraints: {} },
    sampleOptions,
  )

/** What a receiver claims once `handoff` was sent. */
export function claimedFrom(
  handoff: NewHandoff,
  changes: Partial<ClaimedHandoff> = {},
): ClaimedHandoff {
  return {
    ...handoff,
    kind: 'claimed',
    taskSeq: 1,
    epoch: 1,
    lapses: 0,
    attempt: 1,
    generation: 1,
    queueSeconds: 0.01,
    budgetMicroUSD: handoff.spentMicroUSD + handoff.remainingMicroUSD,
    failedHandoffs: 0,
    parentRemainingMicroUSD: null,
    release: null,
    decided: false,
    routedTo: null,
    ...changes,
  }
}

export const sampleAgent: Agent = {
  type: 'reader',
  version: '1.2.3',
  requires: ['text'],
  execute: async (context) => ({
    subtask: { subtaskId: 'read', description: 'read it', result: 'fine' },
    state: { ...context.state, read: true },
    costUSD: 0.01,
    tokens: { prompt: 1, completion: 1 },
    next: [],
  }),
}

/** Judges as a worker does. */
export const judgeSample = (claimed: ClaimedHandoff) =>
  judgeHandoff(
    { bytes: claimed.body, keyId: claimed.keyId, signature: claimed.signature },
    {
      agent: sampleAgent,
      keyRing: sampleOptions.keyRing,
      scan: createScanner().scan,
      task: {
        budgetMicroUSD: claimed.budgetMicroUSD,
        remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? claimed.budgetMicroUSD,
      },
    },
  )

export const messageOf = (handoff: Pick<NewHandoff, 'body'>): HandoffMessage =>
  JSON.parse(Buffer.from(handoff.body).toString('utf8')) as HandoffMessage
