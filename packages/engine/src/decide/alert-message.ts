// What a webhook is told of an alert: codes, names of agents, ids, times and counts, and never text of a message.
import type { AlertDelivery, DeliveredAlert } from '@baton/store'

/** The body of the request, in the form that Standard Webhooks asks for. */
export interface AlertMessage {
  readonly type: `alert.${AlertDelivery['change']}`
  /** When it changed. */
  readonly timestamp: string
  readonly data: {
    /** As it stands when this is sent; null in a test. */
    readonly alert: DeliveredAlert | null
    /** Who acknowledged or closed it, or asked for the test; null where nobody did. */
    readonly actor: string | null
    /** Where to read what to do; null in a test. */
    readonly runbook: string | null
  }
}

/** `runbooks` is the address of the folder of runbooks. */
export function alertMessage(delivery: AlertDelivery, runbooks: string): AlertMessage {
  const { change, changedAt, alert, actor } = delivery
  const runbook = alert === null ? null : `${runbooks.replace(/\/+$/, '')}/${runbookOf(alert)}.md`
  return {
    type: `alert.${change}`,
    timestamp: changedAt.toISOString(),
    data: { alert, actor, runbook },
  }
}

const BY_REASON: Readonly<Record<string, string>> = {
  SAFETY_VIOLATION: 'safety-violations',
  BUDGET_EXHAUSTED: 'budgets-exhausted',
}

const BY_KIND: Readonly<Record<string, string>> = {
  'handoff.dead_lettered': 'dead-letters',
  'handoff.rolled_back': 'rollbacks',
  'handoff.rejected': 'dead-letters',
  'handoff.blocked': 'agent-away',
  'handoff.expired': 'agent-away',
  'handoff.branches_failed': 'rollbacks',
  'latency.pair': 'pair-slow',
  'log.receipts_unmatched': 'receipts-unmatched',
}

/** The runbook of the rule that watches the same: what the reason says goes before the kind. */
export function runbookOf({
  kind,
  reason,
  escalations,
}: Pick<DeliveredAlert, 'kind' | 'reason' | 'escalations'>): string {
  const named = BY_REASON[reason] ?? (escalations > 0 ? 'escalations' : BY_KIND[kind])
  return named ?? 'dead-letters'
}
