// The message, receiver, keys and scanner that the tests of this package share.
import complete from '@baton/schemas/fixtures/handoff/valid/2.0--complete.json' with { type: 'json' }
import type { AgentRegistration } from './agent-registration.ts'
import type { AgentState } from './agent-state.ts'
import type { ScanVerdict } from './checks/safety.ts'
import type { HandoffMessage } from './handoff-message.ts'
import { createKeyRing } from './key-ring.ts'

/** The receiver for which schemas/README.md gives the verdicts of the fixtures. */
export const sampleAgent: AgentRegistration = {
  type: 'risk-scoring-agent',
  version: '1.6.0',
  requires: ['extractedClauses', 'riskFlags'],
}

/** The key with which the signed fixtures were made. */
export const sampleKeyRing = createKeyRing({
  active: 'fixture-key',
  keys: [
    {
      id: 'fixture-key',
      secret: Uint8Array.from({ length: 32 }, (_, index) => index),
      status: 'active',
    },
  ],
})

/** A valid message, with some fields replaced. */
export function sampleMessage(changes: Partial<HandoffMessage> = {}): HandoffMessage {
  return { ...structuredClone(complete), ...changes }
}

/** Stands in for the scanner, which is another package: rejects the one sentence of the fixtures. */
export function sampleScan(message: HandoffMessage): ScanVerdict {
  const found = JSON.stringify(message).includes('Ignore all previous instructions')
  return found
    ? { decision: 'reject', findings: [{ category: 'override', jsonPointer: '/currentState' }] }
    : { decision: 'allow', findings: [] }
}

/** A sender that spent 0.03 of 0.35 US dollars. */
export function sampleState(changes: Partial<AgentState> = {}): AgentState {
  const message = sampleMessage()
  return {
    taskId: message.taskId,
    handoffId: message.handoffId,
    parentHandoffId: message.parentHandoffId,
    timestamp: message.timestamp,
    agent: message.fromAgent,
    taskDescription: message.taskDescription,
    completedSubtasks: message.completedSubtasks,
    remainingSubtasks: message.remainingSubtasks,
    currentState: message.currentState,
    cost: {
      spentSoFarUSD: 0.05,
      budgetRemainingUSD: 0.35,
      ownCostUSD: 0.03,
      tokenSpent: { prompt: 4200, completion: 1800 },
    },
    traceparent: message.traceparent,
    ...changes,
  }
}
