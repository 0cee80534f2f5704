// What becomes of a handoff whose receiver lacks what it requires: rerouted, tried again or brought to a person (S20).
import type { Detail, HandoffMessage } from '@baton/protocol'
import type { AuditIntent, ClaimedHandoff } from '@baton/store'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import { settleRetried, settleStuck } from './decide/outcome.ts'
import type { Settlement, SettlementOptions } from './decide/outcome.ts'
import { storableJson } from './storable-json.ts'

export const BLOCKED_POLICIES = ['reroute', 'retry', 'escalate'] as const
export type BlockedPolicy = (typeof BLOCKED_POLICIES)[number]

/** A handoff and what whoever executes it must have. */
export interface RerouteRequest {
  readonly handoffId: string
  readonly epoch: number
  /** The agent type that could not take it. */
  readonly type: string
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
  readonly stateKeys: readonly string[]
  /** JSON: what was missing. */
  readonly details: string
}

export interface BlockedDeps extends SettlementOptions {
  readonly blockedPolicy: BlockedPolicy
  /**
   * Publishes it for another live agent type that has all it needs, with the event that `eventOf`
   * makes of the type, in one transaction. Answers that event, or undefined where there is none.
   */
  reroute(
    request: RerouteRequest,
    eventOf: (routedTo: string) => AuditIntent,
  ): Promise<AuditIntent | undefined>
}

export interface Blocked {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly unmet: readonly Detail[]
}

/** The event of a reroute that has been committed, or what is still to be committed. */
export type BlockedOutcome =
  | { readonly kind: 'rerouted'; readonly intent: AuditIntent }
  | { readonly kind: 'settle'; readonly settlement: Settlement }

/** Follows the policy. Nobody can take it, or no attempt is left: a person decides. */
export async function settleBlocked(blocked: Blocked, deps: BlockedDeps): Promise<BlockedOutcome> {
  const { claimed, unmet } = blocked
  const why = { reason: 'BLOCKED', details: unmet }
  if (deps.blockedPolicy === 'reroute') {
    const eventOf = (routedTo: string) => reroutedEvent(claimed, routedTo)
    const intent = await deps.reroute(rerouteRequest(blocked), eventOf)
    if (intent !== undefined) return { kind: 'rerouted', intent }
  }
  if (deps.blockedPolicy === 'retry' && claimed.attempt < claimed.attemptsMax) {
    return { kind: 'settle', settlement: settleRetried(claimed, why, deps) }
  }
  return { kind: 'settle', settlement: settleStuck(claimed, why) }
}

function rerouteRequest({ claimed, message, unmet }: Blocked): RerouteRequest {
  return {
    handoffId: claimed.handoffId,
    epoch: claimed.epoch,
    type: claimed.routedTo ?? claimed.toAgent,
    capabilities: message.requirements?.capabilities ?? [],
    mcp: message.requirements?.mcp ?? [],
    stateKeys: Object.keys(message.currentState),
    details: storableJson(unmet),
  }
}

const reroutedEvent = (claimed: ClaimedHandoff, routedTo: string): AuditIntent =>
  toIntent(lifecycleEntry({ ...claimed, routedTo }, 'HANDOFF_REROUTED', 'BLOCKED'))
