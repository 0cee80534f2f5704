// Decisions as their people sign them, for tests that decide past the gateway.
import { hash } from 'node:crypto'
import { answerApproval, approvalDecision } from '@baton/engine'
import type { ApprovalRequest, Decided } from '@baton/engine'
import type { DecisionSignature } from '@baton/ledger'
import { decideApproval, findApproval } from '@baton/store'
import type { ApprovalDecision, Database, ExpiredHandoff, Pool } from '@baton/store'
import { PEOPLE } from '@baton/testkit'

/** Of nobody: for tests of what Postgres stores, which checks no signature. */
export const SIGNED: DecisionSignature = {
  keyId: '0123456789abcdef',
  signedAt: '2026-01-02T03:04:05.678Z',
  salt: '4d'.repeat(16),
  content: '5e'.repeat(32),
  signature: `${'A'.repeat(86)}==`,
}

/** Of some handoff that is not there. */
export const SIGNED_BYTES = { signed: SIGNED, sha256: hash('sha256', 'these bytes') }

interface Approval {
  readonly handoffId: string
  readonly decision: ApprovalDecision
  readonly decidedBy: string
  readonly reasonCode: string | null
  readonly decidedAs?: string
}

/** Decides about the bytes that wait now. */
export async function decideAs(db: Database, act: Approval): Promise<ExpiredHandoff | undefined> {
  const sha256 = (await findApproval(db, act.handoffId))?.sha256 ?? ''
  return decideApproval(db, { ...act, signed: SIGNED, sha256 })
}

/** Decides about the bytes that wait now, as one of the test's people who signs it. */
export async function answerSigned(
  pool: Pool,
  request: Omit<ApprovalRequest, 'signed'>,
): Promise<Decided> {
  const { handoffId, actor: person } = request
  const standing = await findApproval(pool, handoffId)
  const subject = { taskId: standing?.taskId ?? '', handoffId, person }
  const { sha256 = '' } = standing ?? {}
  const signed = PEOPLE.sign(approvalDecision(subject, { ...request, sha256 }))
  return answerApproval({ pool, people: PEOPLE.people }, { ...request, signed })
}
