// What the pipeline's own pure functions decide, asked once per case, so that the model cannot drift from them.
import { decideFailed, decideQuarantined, decideRejected } from '@baton/engine'
import type { Outcome } from '@baton/engine'
import { createKeyRing } from '@baton/protocol'
import type { RejectionReason } from '@baton/protocol'
import type { ClaimedHandoff, Ending } from '@baton/store'
import type { Flaw } from './world.ts'

export type Decision = 'retry' | Ending['state']

export interface Decisions {
  rejected(flaw: Flaw, attempt: number): Decision
  failed(retry: boolean, attempt: number): Decision
  quarantined(): Decision
}

const OPTIONS = {
  attemptsMax: 1,
  backoff: { baseMs: 1, capMs: 1 },
  keyRing: createKeyRing({
    active: 'k1',
    keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
  }),
}

const CHECKS = {
  size: 'passed',
  signature: 'passed',
  schema: 'failed',
  completeness: 'skipped',
  budget: 'skipped',
  safety: 'skipped',
  scan: null,
} as const

const ID = '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d'

const claimedAt = (attempt: number, attemptsMax: number): ClaimedHandoff => ({
  kind: 'claimed',
  approval: null,
  handoffId: ID,
  taskId: ID,
  taskSeq: 1,
  fencingToken: attempt,
  leaseExpiries: 0,
  attempt,
  attemptsMax,
  publishAttempt: attempt,
  body: new Uint8Array(),
  keyId: 'k1',
  signature: '',
  fromAgent: 'intake',
  fromVersion: '1.0.0',
  fromExecution: ID,
  toAgent: 'reader',
  toVersion: null,
  parentId: null,
  branchId: null,
  joins: null,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  tracestate: null,
  queueSeconds: 0,
  budgetMicroUSD: 0,
  parentRemainingMicroUSD: null,
  routedTo: null,
  failedHandoffs: 0,
  sentBy: null,
  earlierSenders: [],
  tenant: 'default',
  approvalOverride: null,
  decided: false,
})

function decided(outcome: Outcome): Decision {
  if (outcome.kind === 'complete') throw new Error('nothing here completes')
  return outcome.kind === 'retry' ? 'retry' : outcome.change.state
}

/** Decisions for handoffs that may be tried `attemptsMax` times. */
export function decisionsFor(attemptsMax: number): Decisions {
  const rejected = (flaw: Flaw, attempt: number) =>
    decided(
      decideRejected(
        claimedAt(attempt, attemptsMax),
        { valid: false, reason: flaw as RejectionReason, details: [], checks: CHECKS },
        OPTIONS,
      ),
    )
  const failed = (retry: boolean, attempt: number) =>
    decided(
      decideFailed(claimedAt(attempt, attemptsMax), { code: 'BATON_AGENT_FAILED', retry }, OPTIONS),
    )
  return {
    rejected: remembered(rejected),
    failed: remembered(failed),
    quarantined: remembered(() =>
      decided(decideQuarantined(claimedAt(1, attemptsMax), { reason: 'POISON', details: [] })),
    ),
  }
}

function remembered<Arguments extends readonly unknown[]>(
  decide: (...args: Arguments) => Decision,
): (...args: Arguments) => Decision {
  const known = new Map<string, Decision>()
  return (...args) => {
    const key = args.join(' ')
    const decision = known.get(key) ?? decide(...args)
    known.set(key, decision)
    return decision
  }
}
