// The metrics of a handoff's way: sent, published, claimed, checked, executed, settled.
import type { MetricDefinition } from '../metric-definition.ts'

/** The legs of one handoff, in order; `hop_seconds` splits its time by them. */
export const HOPS = ['build', 'outbox', 'queue', 'validate', 'audit', 'execute', 'settle'] as const

const SWEEPER = 'relay (receiver without Redis)'

export const HANDOFF_METRICS = {
  handoffLatencySeconds: {
    name: 'baton_handoff_latency_seconds',
    kind: 'histogram',
    help: 'Time from dispatch to accept of a handoff. Every handoff of this version travels by the queue.',
    labels: ['transport', 'from_agent', 'to_agent'],
    openLabels: ['from_agent', 'to_agent'],
    filledBy: 'receiver',
  },
  handoffsTotal: {
    name: 'baton_handoffs_total',
    kind: 'counter',
    help: 'Handoffs by the lifecycle state they reached, and ACCEPTED when their execution begins; `reason` is empty unless something was in the way, and QUEUED with a reason is another attempt.',
    labels: ['outcome', 'reason'],
    openLabels: ['reason'],
    filledBy:
      'gateway, sender: `QUEUED`; relay: `EXPIRED`, `CANCELED`; receiver: the rest, and `QUEUED` of what agents hand on',
  },
  handoffValidationFailuresTotal: {
    name: 'baton_handoff_validation_failures_total',
    kind: 'counter',
    help: 'Handoffs that a receiver’s checks refused, by reason. What a gateway refuses never was a handoff: baton_requests_refused_total.',
    labels: ['reason'],
    filledBy: 'receiver',
  },
  safetyVerdictsTotal: {
    name: 'baton_safety_verdicts_total',
    kind: 'counter',
    help: 'Verdicts of the safety scanner, by decision and the category of the first finding.',
    labels: ['decision', 'category'],
    openLabels: ['category'],
    filledBy: 'receiver',
  },
  scanIncompleteTotal: {
    name: 'baton_scan_incomplete_total',
    kind: 'counter',
    help: 'Messages with so many texts hidden inside others that the scanner read only the first 16.',
    labels: [],
    filledBy: 'receiver',
  },
  contextCompressionsTotal: {
    name: 'baton_context_compressions_total',
    kind: 'counter',
    help: 'Handoffs whose context was compressed before sending.',
    labels: [],
    filledBy: 'gateway, sender, receiver',
  },
  contextSummariesTotal: {
    name: 'baton_context_summaries_total',
    kind: 'counter',
    help: 'Summaries of older turns where a summariser is set: by a model or by extract, and why.',
    labels: ['summariser', 'reason'],
    filledBy: 'gateway, sender, receiver',
  },
  summariserCostMicroUsdTotal: {
    name: 'baton_summariser_cost_micro_usd_total',
    kind: 'counter',
    help: 'What the summariser cost, in micro-USD, counted into its tasks.',
    labels: [],
    filledBy: 'gateway, sender, receiver',
  },
  messageBytesTotal: {
    name: 'baton_message_bytes_total',
    kind: 'counter',
    help: 'Bytes of the signed messages that were accepted.',
    labels: [],
    filledBy: 'receiver',
  },
  rollbacksTotal: {
    name: 'baton_rollbacks_total',
    kind: 'counter',
    help: 'Tasks rolled back to their sender’s checkpoint.',
    labels: [],
    filledBy: 'receiver',
  },
  escalationsTotal: {
    name: 'baton_escalations_total',
    kind: 'counter',
    help: 'Tasks handed to a person after the third failure.',
    labels: [],
    filledBy: 'receiver',
  },
  revisionsTotal: {
    name: 'baton_revisions_total',
    kind: 'counter',
    help: 'Returned handoffs that their senders corrected.',
    labels: [],
    filledBy: 'gateway, receiver, sender',
  },
  resumesTotal: {
    name: 'baton_resumes_total',
    kind: 'counter',
    help: 'Tasks taken up again after a rollback or an expiry.',
    labels: [],
    filledBy: 'gateway, receiver, sender',
  },
  fencedCommitsTotal: {
    name: 'baton_fenced_commits_total',
    kind: 'counter',
    help: 'Results refused because a newer fencing token held the handoff.',
    labels: [],
    filledBy: 'receiver',
  },
  leasesExpiredTotal: {
    name: 'baton_leases_expired_total',
    kind: 'counter',
    help: 'Leases that ran out without an answer.',
    labels: [],
    filledBy: SWEEPER,
  },
  hopSeconds: {
    name: 'baton_hop_seconds',
    kind: 'histogram',
    help: 'Time one handoff spent in each leg of its way.',
    labels: ['hop'],
    values: HOPS,
    filledBy: 'gateway, sender: `build`; relay: `outbox`; receiver: the rest',
  },
  tokensTotal: {
    name: 'baton_tokens_total',
    kind: 'counter',
    help: 'Tokens that agents said their executions used.',
    labels: ['agent', 'direction'],
    openLabels: ['agent'],
    filledBy: 'receiver',
  },
  costMicroUsdTotal: {
    name: 'baton_cost_micro_usd_total',
    kind: 'counter',
    help: 'What executions cost, in millionths of a US dollar.',
    labels: ['agent'],
    filledBy: 'receiver',
  },
  chunksTotal: {
    name: 'baton_chunks_total',
    kind: 'counter',
    help: 'Chunks of streams that executions emitted: committed, recognised as committed before, or refused, all that were given together.',
    labels: ['outcome'],
    values: ['committed', 'repeated', 'refused'],
    filledBy: 'receiver, gateway',
  },
  outsideCallsTotal: {
    name: 'baton_outside_calls_total',
    kind: 'counter',
    help: 'Calls to agents outside, by how they ended.',
    labels: ['kind', 'outcome'],
    filledBy: 'receiver: `push`; gateway: `session`',
  },
  requestsRefusedTotal: {
    name: 'baton_requests_refused_total',
    kind: 'counter',
    help: 'Requests that a gateway answered with a problem, by its code.',
    labels: ['code'],
    filledBy: 'gateway',
  },
} as const satisfies Record<string, MetricDefinition>
