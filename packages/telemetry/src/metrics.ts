// Every metric Baton exposes, by its contractual name. Adding one means adding it here.
import { Registry } from 'prom-client'
import { expose } from './exposition.ts'
import type { Exposition } from './exposition.ts'
import { labelledCounter, labelledHistogram, plainCounter, plainGauge } from './instrument.ts'
import type { Counter, Gauge, Histogram, Labelled } from './instrument.ts'
import { LATENCY_EDGES_SECONDS } from './slo.ts'

/** The legs of one handoff, in order; `hop_seconds` splits its time by them. */
export const HOPS = ['build', 'outbox', 'queue', 'validate', 'audit', 'execute', 'settle'] as const
export type Hop = (typeof HOPS)[number]

/** One process's instruments. Each field is the metric `baton_<field in snake case>` (E18). */
export interface Metrics {
  /** Dispatch to accept (E17). `transport` is queue; http and temporal are names kept for other ways to travel. */
  readonly handoffLatencySeconds: Labelled<'transport' | 'from_agent' | 'to_agent', Histogram>
  /** `outcome` is the lifecycle state reached; `reason` is empty unless it was rejected. */
  readonly handoffsTotal: Labelled<'outcome' | 'reason', Counter>
  readonly handoffValidationFailuresTotal: Labelled<'reason', Counter>
  readonly safetyVerdictsTotal: Labelled<'decision' | 'category', Counter>
  readonly contextCompressionsTotal: Counter
  readonly deadLetterDepth: Gauge
  readonly rollbacksTotal: Counter
  readonly escalationsTotal: Counter
  readonly revisionsTotal: Counter
  readonly resumesTotal: Counter
  readonly outboxDepth: Gauge
  readonly outboxOldestAgeSeconds: Gauge
  readonly auditAppendSeconds: Histogram
  readonly auditTamperDetectedTotal: Counter
  readonly auditDefinitionsAltered: Gauge
  readonly auditUnsealedAgeSeconds: Gauge
  readonly auditUnwitnessedAgeSeconds: Gauge
  readonly auditClockAheadSeconds: Gauge
  readonly auditScrubbedRecordsTotal: Counter
  readonly auditArchivedRecordsTotal: Counter
  readonly auditArchiveLagRecords: Gauge
  readonly auditColdBundlesReadTotal: Counter
  readonly auditColdFaults: Gauge
  readonly sealsTotal: Counter
  readonly fencedCommitsTotal: Counter
  readonly hopSeconds: Readonly<Record<Hop, Histogram>>
  /** What is exported other than by `expose`. */
  readonly registry: Registry
  /** The text for `GET /metrics`, in the format the client's Accept header asks for. */
  expose(accept?: string): Promise<Exposition>
}

/** Creates all instruments on a registry of their own: nothing is global, tests do not meet. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  return {
    ...handoffInstruments(registry),
    ...recoveryInstruments(registry),
    ...auditInstruments(registry),
    hopSeconds: hopInstruments(registry),
    registry,
    expose: (accept) => expose(registry, accept),
  }
}

function handoffInstruments(registry: Registry) {
  return {
    handoffLatencySeconds: labelledHistogram(registry, {
      name: 'baton_handoff_latency_seconds',
      help: 'Time from dispatch to accept of a handoff.',
      labels: ['transport', 'from_agent', 'to_agent'],
      edges: LATENCY_EDGES_SECONDS,
    }),
    handoffsTotal: labelledCounter(registry, {
      name: 'baton_handoffs_total',
      help: 'Handoffs by the state they reached and the reason of a rejection.',
      labels: ['outcome', 'reason'],
    }),
    handoffValidationFailuresTotal: labelledCounter(registry, {
      name: 'baton_handoff_validation_failures_total',
      help: 'Handoffs that failed validation, by reason.',
      labels: ['reason'],
    }),
    safetyVerdictsTotal: labelledCounter(registry, {
      name: 'baton_safety_verdicts_total',
      help: 'Verdicts of the safety scanner, by decision and finding category.',
      labels: ['decision', 'category'],
    }),
    contextCompressionsTotal: plainCounter(
      registry,
      'baton_context_compressions_total',
      'Handoffs whose context was compressed before sending.',
    ),
  }
}

function recoveryInstruments(registry: Registry) {
  const counter = (name: string, help: string): Counter => plainCounter(registry, name, help)
  const gauge = (name: string, help: string): Gauge => plainGauge(registry, name, help)
  return {
    deadLetterDepth: gauge('baton_dead_letter_depth', 'Dead letters that wait for a person.'),
    rollbacksTotal: counter('baton_rollbacks_total', 'Tasks rolled back to the sender checkpoint.'),
    escalationsTotal: counter('baton_escalations_total', 'Tasks handed to a person.'),
    revisionsTotal: counter('baton_revisions_total', 'Returned handoffs their senders corrected.'),
    resumesTotal: counter('baton_resumes_total', 'Tasks taken up again after a rollback.'),
    outboxDepth: gauge('baton_outbox_depth', 'Handoffs committed and not yet published.'),
    outboxOldestAgeSeconds: gauge(
      'baton_outbox_oldest_age_seconds',
      'Age of the oldest handoff not yet published.',
    ),
    fencedCommitsTotal: counter(
      'baton_fenced_commits_total',
      'Results refused because a newer fencing token held the handoff.',
    ),
  }
}

function auditInstruments(registry: Registry) {
  return {
    auditAppendSeconds: labelledHistogram(registry, {
      name: 'baton_audit_append_seconds',
      help: 'Time from asking for an audit append to holding its receipt.',
      labels: [],
      edges: LATENCY_EDGES_SECONDS,
    }).with({}),
    auditTamperDetectedTotal: plainCounter(
      registry,
      'baton_audit_tamper_detected_total',
      'Verifications that found the audit log tampered with.',
    ),
    auditDefinitionsAltered: plainGauge(
      registry,
      'baton_audit_definitions_altered',
      'Things of the schema of the audit databases that are not as the migrations made them.',
    ),
    auditUnsealedAgeSeconds: plainGauge(
      registry,
      'baton_audit_unsealed_age_seconds',
      'Age of the oldest audit record that no seal covers.',
    ),
    auditClockAheadSeconds: plainGauge(
      registry,
      'baton_audit_clock_ahead_seconds',
      'How far the auditor’s clock is ahead of the audit database’s; negative when behind.',
    ),
    auditUnwitnessedAgeSeconds: plainGauge(
      registry,
      'baton_audit_unwitnessed_age_seconds',
      'Age of the oldest seal that no anchor outside has kept.',
    ),
    auditArchivedRecordsTotal: plainCounter(
      registry,
      'baton_audit_archived_records_total',
      'Records and seals written to the cold store in full bundles.',
    ),
    auditArchiveLagRecords: plainGauge(
      registry,
      'baton_audit_archive_lag_records',
      'Sealed records and seals that stand in no full bundle of the cold store yet.',
    ),
    auditColdBundlesReadTotal: plainCounter(
      registry,
      'baton_audit_cold_bundles_read_total',
      'Bundles of the cold store that were read and hashed again.',
    ),
    auditColdFaults: plainGauge(
      registry,
      'baton_audit_cold_faults',
      'Bundles of the cold store of which an object is missing or changed.',
    ),
    auditScrubbedRecordsTotal: plainCounter(
      registry,
      'baton_audit_scrubbed_records_total',
      'Records that the scrubber has read again.',
    ),
    sealsTotal: plainCounter(registry, 'baton_seals_total', 'Seals signed.'),
  }
}

function hopInstruments(registry: Registry): Record<Hop, Histogram> {
  const hops = labelledHistogram(registry, {
    name: 'baton_hop_seconds',
    help: 'Time one handoff spent in each leg of its way.',
    labels: ['hop'],
    edges: LATENCY_EDGES_SECONDS,
  })
  const bind = HOPS.map((hop) => [hop, hops.with({ hop })] as const)
  return Object.fromEntries(bind) as Record<Hop, Histogram>
}
