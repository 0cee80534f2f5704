// Entries of the size that a handoff leaves in the log, without payload text.
import { randomUUID } from 'node:crypto'
import type { AuditEntry } from '@baton/ledger'

export function auditEntry(taskId: string): AuditEntry {
  return {
    event: 'HANDOFF_ACCEPTED',
    taskId,
    handoffId: randomUUID(),
    parentHandoffId: null,
    attempt: 1,
    epoch: 1,
    fromAgent: { agentId: 'intake', agentVersion: '1.0.0', executionId: randomUUID() },
    toAgent: { agentType: 'legal-analysis', agentVersion: '1.0.0' },
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
    verdicts: {
      size: 'passed',
      signature: 'passed',
      schema: 'passed',
      completeness: 'passed',
      budget: 'passed',
      safety: { decision: 'allow', artefactId: 'rules-1', findings: 0 },
    },
    reason: null,
    cost: {
      spentMicroUSD: 80_000,
      remainingMicroUSD: 320_000,
      promptTokens: 10,
      completionTokens: 5,
    },
    segments: [],
  }
}
