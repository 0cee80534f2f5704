// A person approves or refuses a handoff that waits for it (R13, R15). Safe to repeat; the first decision stands.
import type { DecisionSignature, People } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import { addOutboxEvents, decideApproval, findApproval, inTransaction } from '@baton/store'
import type { ApprovalDecision, Database, DecidedApproval, Pool } from '@baton/store'
import { hasSent } from './decide/has-sent.ts'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { approvalDecision, readAct } from './decide/signed-decisions.ts'
import type { SignedAct, Unsigned } from './decide/signed-decisions.ts'
import { wakeRelays } from './wake.ts'

export interface ApprovalRequest {
  readonly handoffId: string
  readonly decision: ApprovalDecision
  readonly reasonCode: string | null
  /** The operator of the API key that was used. */
  readonly actor: string
  /** The name that was given beside it, which is shown and proves nothing. */
  readonly decidedAs?: string | null
  /** What the operator signed. */
  readonly signed: DecisionSignature | undefined
}

export type Decided =
  | { readonly kind: 'decided'; readonly repeated: boolean; readonly approval: DecidedApproval }
  /** Decided otherwise before, expired or canceled, or its bytes have changed; `approval` says which. */
  | { readonly kind: 'closed'; readonly approval: DecidedApproval }
  | { readonly kind: 'unknown' }
  /** Who sent it does not decide about it. */
  | { readonly kind: 'own' }
  | ({ readonly kind: 'unsigned' } & Unsigned)

interface ApprovalParts {
  readonly pool: Pool
  /** Whose signatures count. */
  readonly people: People
}

/** Commits the decision with the event that names who made it, and wakes relays. */
export async function answerApproval(
  { pool, people }: ApprovalParts,
  request: ApprovalRequest,
): Promise<Decided> {
  const { handoffId, decision, actor: person } = request
  const standing = await findApproval(pool, handoffId)
  if (standing === undefined) return { kind: 'unknown' }
  if (!standing.waits) return answered(standing, request, false)
  if (hasSent(standing, person)) return { kind: 'own' }
  const { sha256, taskId } = standing
  const asked = { decision, sha256, reasonCode: request.reasonCode }
  const read = readAct(
    approvalDecision({ taskId, handoffId, person }, asked),
    request.signed,
    people,
  )
  if ('why' in read) return { kind: 'unsigned', ...read }
  const changed = await inTransaction(pool, (transaction) =>
    decide(transaction, { ...request, ...read, sha256 }),
  )
  if (changed) {
    crashPoint('approval.after_commit')
    wakeRelays(pool)
  }
  const approval = await findApproval(pool, handoffId)
  return approval === undefined ? { kind: 'unknown' } : answered(approval, request, changed)
}

function answered(
  approval: DecidedApproval,
  { decision }: ApprovalRequest,
  changed: boolean,
): Decided {
  const agreed = changed || approval.decision === decision
  return agreed ? { kind: 'decided', repeated: !changed, approval } : { kind: 'closed', approval }
}

type SignedApproval = ApprovalRequest & SignedAct & { readonly sha256: string }

async function decide(transaction: Database, request: SignedApproval): Promise<boolean> {
  const { handoffId, decision, reasonCode, decidedAs = null, sha256, act, signed } = request
  const decided = {
    handoffId,
    decision,
    decidedBy: act.actor,
    reasonCode,
    decidedAs,
    sha256,
    signed,
  }
  const known = await decideApproval(transaction, decided)
  if (known === undefined) return false
  const event = decision === 'approve' ? 'HANDOFF_APPROVED' : 'APPROVAL_REFUSED'
  const entry = lifecycleEntry(known, event, reasonCode)
  await addOutboxEvents(transaction, [toOutboxEvent({ ...entry, act })])
  crashPoint('approval.before_commit')
  return true
}
