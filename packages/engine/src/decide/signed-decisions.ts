// Which decisions take a person's own signature, over what, and whether Postgres holds it; pure. What Postgres says of a
// decision is never believed: its people signed it with keys that this process knows from its own settings.
import { actIdOf, arrivalFault, decisionFault, digestOf, endedFault, recorded } from '@baton/ledger'
import type { AuditEntry, Decision, DecisionFault, DecisionSignature, People } from '@baton/ledger'
import type { Detail, Rejection, Verdict } from '@baton/protocol'
import type { SafetyVerdict } from '@baton/safety'
import type { ClaimedHandoff, HeldDeadLetter, SignedVote } from '@baton/store'
import { hasSent } from './has-sent.ts'
import { proposeOverride, reviewersNeeded } from './review.ts'

/** Nothing was decided: the signature that it takes is missing or does not count. `decision` is what to sign. */
export interface Unsigned {
  readonly why: 'unsigned'
  readonly fault: DecisionFault
  readonly decision: Decision
}

/** As it goes on record, and as Postgres keeps it: with the salt. */
export interface SignedAct {
  readonly act: NonNullable<AuditEntry['act']>
  readonly signed: DecisionSignature
}

/** The act, signed by the person of the decision, which is made now; or why it is none. */
export function readAct(
  decision: Decision,
  signed: DecisionSignature | undefined,
  people: People,
): SignedAct | Unsigned {
  if (signed === undefined) return { why: 'unsigned', fault: 'unsigned', decision }
  const fault = decisionFault(decision, signed, people) ?? arrivalFault(signed, people, new Date())
  if (fault !== undefined) return { why: 'unsigned', fault, decision }
  const act = { id: actIdOf(signed), actor: decision.person, signed: recorded(signed) }
  return { act, signed }
}

type Subject = Pick<Decision, 'taskId' | 'person'> & { readonly handoffId: string }

/** To approve or refuse exactly these bytes, for this reason. */
export const approvalDecision = (
  { taskId, handoffId, person }: Subject,
  decided: {
    readonly decision: 'approve' | 'reject'
    readonly sha256: string
    readonly reasonCode: string | null
  },
): Decision => ({
  event: decided.decision === 'approve' ? 'HANDOFF_APPROVED' : 'APPROVAL_REFUSED',
  taskId,
  handoffId,
  person,
  decided: digestOf(decided.sha256, decided.reasonCode),
})

/** To vote for a proposal, named by its digest. */
export const voteDecision = (
  { taskId, handoffId, person }: Subject,
  proposalSha256: string,
): Decision => ({
  event: 'RELEASE_APPROVED',
  taskId,
  handoffId,
  person,
  decided: proposalSha256,
})

/** To give these bytes up, as they were quarantined. */
export const discardDecision = (
  { taskId, handoffId, person }: Subject,
  { sha256, quarantineAttempt }: Pick<HeldDeadLetter, 'sha256' | 'quarantineAttempt'>,
): Decision => ({
  event: 'DEAD_LETTER_DISCARDED',
  taskId,
  handoffId,
  person,
  decided: digestOf(sha256, quarantineAttempt),
})

const HOUR_MS = 3_600_000

/** An override is good for so many hours from the last signature that it took: RFC 3339 in UTC with milliseconds. */
export function overrideEnd(votes: readonly SignedVote[], validHours: number): string {
  const lastMs = Math.max(...votes.map(({ signed }) => Date.parse(signed.signedAt)))
  return new Date(lastMs + validHours * HOUR_MS).toISOString()
}

/** Why what was signed earlier does not count `now`: Postgres can have been given it at any time. */
const countedFault = (
  decision: Decision,
  signed: DecisionSignature | undefined,
  { people, now }: { readonly people: People; readonly now: Date },
): DecisionFault | undefined =>
  decisionFault(decision, signed, people) ?? (signed && endedFault(signed, people, now.getTime()))

/**
 * Whether so many people as it takes, none of them the sender, signed what an override allows: these bytes, past this
 * scanner, for no longer than that.
 */
export function isOverrideSigned(claimed: ClaimedHandoff, people: People, now: Date): boolean {
  const { approvalOverride, taskId, handoffId } = claimed
  if (approvalOverride === null) return false
  const { sha256, rulesetVersion, reason, expiresAt } = approvalOverride
  const { quarantineAttempt, validHours, votes } = approvalOverride
  if (quarantineAttempt === null || validHours === null || votes === null) return false
  const terms = { handoffId, quarantineAttempt, sha256, rulesetVersion }
  const { sha256: proposal } = proposeOverride(terms, validHours)
  const counted = votes.filter(
    ({ person, signed }) =>
      !hasSent(claimed, person) &&
      countedFault(voteDecision({ taskId, handoffId, person }, proposal), signed, {
        people,
        now,
      }) === undefined,
  )
  if (counted.length === 0 || expiresAt !== overrideEnd(counted, validHours)) return false
  const needed = reviewersNeeded(reason, 'RELEASE')
  return needed !== null && new Set(counted.map(({ person }) => person)).size >= needed
}

/** Refuses what passed every check, asks for an approval, and was approved by nobody who signed these bytes. */
export function requireApproval(
  verdict: Verdict<SafetyVerdict>,
  claimed: ClaimedHandoff,
  { sha256, ...by }: { readonly people: People; readonly now: Date; readonly sha256: () => string },
): Verdict<SafetyVerdict> {
  if (!verdict.valid || verdict.message.requiresApproval !== true) return verdict
  const { approval, taskId, handoffId } = claimed
  const person = approval?.person ?? ''
  const reasonCode = approval?.reasonCode ?? null
  const decision = approvalDecision(
    { taskId, handoffId, person },
    { decision: 'approve', sha256: sha256(), reasonCode },
  )
  const fault = countedFault(decision, approval?.signed ?? undefined, by)
  return fault === undefined && !hasSent(claimed, person) ? verdict : unapproved(verdict.checks)
}

const unapproved = (checks: Rejection<SafetyVerdict>['checks']): Rejection<SafetyVerdict> => ({
  valid: false,
  reason: 'SIGNATURE_INVALID',
  details: [UNAPPROVED],
  checks: { ...checks, signature: 'failed' },
})

const UNAPPROVED: Detail = {
  pointer: '/requiresApproval',
  rule: 'approval.signature',
  message: 'nobody whose decisions count here has signed an approval of these bytes',
  fix: 'Check BATON_PEOPLE of this receiver; have the sender send it again, and a reviewer approve it with their key.',
}
