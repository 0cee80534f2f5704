// A person approves or refuses a handoff that waits for it (R13, R15). Safe to repeat; the first decision stands.
import { randomUUID } from 'node:crypto'
import { crashPoint } from '@baton/runtime'
import { addOutboxEvents, decideApproval, findApproval, inTransaction } from '@baton/store'
import type { ApprovalDecision, Database, DecidedApproval, Pool } from '@baton/store'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { wakeRelays } from './wake.ts'

export interface ApprovalRequest {
  readonly handoffId: string
  readonly decision: ApprovalDecision
  readonly reasonCode: string | null
  /** The operator of the API key that was used. */
  readonly actor: string
  /** The name that was given beside it, which is shown and proves nothing. */
  readonly decidedAs?: string | null
}

export type Decided =
  | { readonly kind: 'decided'; readonly repeated: boolean; readonly approval: DecidedApproval }
  /** Decided otherwise before, expired or canceled; `approval` says which. */
  | { readonly kind: 'closed'; readonly approval: DecidedApproval }
  | { readonly kind: 'unknown' }

/** Commits the decision with the event that names who made it, and wakes relays. */
export async function answerApproval(pool: Pool, request: ApprovalRequest): Promise<Decided> {
  const { handoffId, decision } = request
  const changed = await inTransaction(pool, (transaction) => decide(transaction, request))
  if (changed) {
    crashPoint('approval.after_commit')
    wakeRelays(pool)
  }
  const approval = await findApproval(pool, handoffId)
  if (approval === undefined) return { kind: 'unknown' }
  const agreed = changed || approval.decision === decision
  return agreed ? { kind: 'decided', repeated: !changed, approval } : { kind: 'closed', approval }
}

async function decide(transaction: Database, request: ApprovalRequest): Promise<boolean> {
  const { handoffId, decision, actor, reasonCode, decidedAs = null } = request
  const act = { handoffId, decision, decidedBy: actor, reasonCode, decidedAs }
  const known = await decideApproval(transaction, act)
  if (known === undefined) return false
  const event = decision === 'approve' ? 'HANDOFF_APPROVED' : 'APPROVAL_REFUSED'
  const entry = lifecycleEntry(known, event, reasonCode)
  await addOutboxEvents(transaction, [
    toOutboxEvent({ ...entry, act: { id: randomUUID(), actor } }),
  ])
  crashPoint('approval.before_commit')
  return true
}
