// What a receiver holds a claimed handoff against: the checks in the order of I6, and what people decided about it.
import { hash } from 'node:crypto'
import type { People } from '@baton/ledger'
import { judgeHandoff, judgeRaised } from '@baton/protocol'
import type {
  Acceptance,
  AgentRegistration,
  HandoffMessage,
  KeyRing,
  LostFactsPolicy,
  Verdict,
} from '@baton/protocol'
import type { SafetyVerdict, Scanner } from '@baton/safety'
import type { ClaimedHandoff } from '@baton/store'
import { exempting } from './decide/exemptions.ts'
import type { HeldExemption } from './decide/exemptions.ts'
import type { ClassifiedSafety } from './decide/classified.ts'
import { isOverrideSigned, requireApproval } from './decide/signed-decisions.ts'

/** What this process knows from its own settings. */
export interface JudgingBy {
  readonly keyRing: KeyRing
  /** Whose decisions count. */
  readonly people: People
  readonly lostFacts: LostFactsPolicy
  /** What people exempted this handoff from; nothing by default. */
  readonly held?: readonly HeldExemption[] | undefined
}

/** Never throws, whatever the bytes. */
export function judgeClaimed(
  claimed: ClaimedHandoff,
  agent: AgentRegistration,
  { keyRing, people, lostFacts, held = [], scan }: JudgingBy & Pick<Scanner, 'scan'>,
): Verdict<SafetyVerdict> {
  const { body, keyId, signature, budgetMicroUSD } = claimed
  const now = new Date()
  const exemptionOf = exempting(held)
  const verdict = judgeHandoff(
    { bytes: body, keyId, signature },
    {
      agent,
      routed: claimed.routedTo !== null,
      keyRing,
      // An exemption was found by the sender of the row, which nobody signed.
      scan: (message) =>
        scan(message, senderOf(message) === claimed.fromAgent ? exemptionOf : undefined),
      lostFacts,
      task: {
        budgetMicroUSD,
        remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? budgetMicroUSD,
      },
      override: overrideOf(claimed, people, now),
    },
  )
  return requireApproval(verdict, claimed, { people, now, sha256: () => hash('sha256', body) })
}

const senderOf = (message: object): unknown =>
  (message as Partial<Pick<HandoffMessage, 'fromAgent'>>).fromAgent?.agentId

/** What an accepted one comes to with a verdict that is worse than the scanner's alone; a release holds over that too. */
export function judgeWorse(
  claimed: ClaimedHandoff,
  accepted: Acceptance<ClassifiedSafety>,
  { people, scan }: Pick<JudgingBy, 'people'> & { readonly scan: ClassifiedSafety },
): Verdict<ClassifiedSafety> {
  const { body: bytes, keyId, signature } = claimed
  const override = overrideOf(claimed, people, new Date())
  return judgeRaised<ClassifiedSafety>({ bytes, keyId, signature }, accepted, { scan, override })
}

function overrideOf(claimed: ClaimedHandoff, people: People, now: Date) {
  const { handoffId, approvalOverride: offered } = claimed
  if (offered === null) return undefined
  return { offered, handoffId, isSigned: isOverrideSigned(claimed, people, now) }
}
