// What a receiver holds a claimed handoff against: the checks in the order of I6, and what people decided about it.
import { hash } from 'node:crypto'
import type { People } from '@baton/ledger'
import { judgeHandoff } from '@baton/protocol'
import type { AgentRegistration, KeyRing, LostFactsPolicy, Verdict } from '@baton/protocol'
import type { SafetyVerdict, Scanner } from '@baton/safety'
import type { ClaimedHandoff } from '@baton/store'
import { isOverrideSigned, requireApproval } from './decide/signed-decisions.ts'

/** What this process knows from its own settings. */
export interface JudgingBy {
  readonly keyRing: KeyRing
  /** Whose decisions count. */
  readonly people: People
  readonly lostFacts: LostFactsPolicy
}

/** Never throws, whatever the bytes. */
export function judgeClaimed(
  claimed: ClaimedHandoff,
  agent: AgentRegistration,
  { keyRing, people, lostFacts, scan }: JudgingBy & Pick<Scanner, 'scan'>,
): Verdict<SafetyVerdict> {
  const { handoffId, body, keyId, signature, approvalOverride, budgetMicroUSD } = claimed
  const now = new Date()
  const verdict = judgeHandoff(
    { bytes: body, keyId, signature },
    {
      agent,
      routed: claimed.routedTo !== null,
      keyRing,
      scan,
      lostFacts,
      task: {
        budgetMicroUSD,
        remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? budgetMicroUSD,
      },
      override:
        approvalOverride === null
          ? undefined
          : {
              offered: approvalOverride,
              handoffId,
              isSigned: isOverrideSigned(claimed, people, now),
            },
    },
  )
  return requireApproval(verdict, claimed, { people, now, sha256: () => hash('sha256', body) })
}
