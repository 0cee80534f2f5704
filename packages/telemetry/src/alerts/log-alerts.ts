// Alerts about the audit log: what tampers with it, what stops it, what falls behind.
import { TRAFFIC_MIN } from '../objectives.ts'
import { DAY, HOUR, inSeconds, MINUTE } from './alert.ts'
import type { Alert, SpanWriter } from './alert.ts'

const LOG = { area: 'audit log' } as const

/**
 * What was counted before a process was read for the first time is no increase to Prometheus, so a counter above 0
 * soon after its process started has risen too. A series that only comes back after a hole in the scraping has not.
 */
function hasRisen(metric: string, span: SpanWriter): string {
  const justStarted = `time() - process_start_time_seconds < ${inSeconds(span(10 * MINUTE))}`
  return `sum(increase(${metric}[${span(HOUR)}])) > 0
or sum(${metric} > 0 and on (job, instance) ${justStarted}) > 0`
}

const APPEND = 'baton_audit_append_seconds'

/** The share of appends that took longer than half a second, over 15 minutes. */
function slowAppends(span: SpanWriter): string {
  const window = span(15 * MINUTE)
  const of = (series: string) => `sum(increase(${series}[${window}]))`
  return `1 - ${of(`${APPEND}_bucket{le="0.5"}`)} / ${of(`${APPEND}_count`)} > 0.01
and ${of(`${APPEND}_count`)} >= ${TRAFFIC_MIN}`
}

export const LOG_ALERTS: readonly Alert[] = [
  {
    ...LOG,
    name: 'BatonLogTampered',
    severity: 'page',
    summary: 'a verification found that the audit log is not what was recorded',
    meaning:
      'Records, seals or bundles were altered or removed, and no verification has been clean since. This alert is never silenced by another.',
    // A finding that stands goes on firing; one that nothing keeps, as of a process that was started again, for an hour.
    expression: (span) => `${hasRisen('baton_audit_tamper_detected_total', span)}
or max(baton_audit_tampered) > 0`,
    keepFiringSeconds: HOUR,
  },
  {
    ...LOG,
    name: 'BatonReceiptsUnmatched',
    severity: 'page',
    summary: 'executions hold receipts that the audit log does not know',
    meaning:
      'The two databases contradict each other: records are missing, or are not the ones that were promised.',
    expression: (span) => hasRisen('baton_receipts_unmatched_total{state!="waiting"}', span),
    keepFiringSeconds: HOUR,
  },
  {
    ...LOG,
    name: 'BatonLogSchemaAltered',
    severity: 'page',
    summary: '{{ $value }} definitions of the audit database are not as the migrations made them',
    meaning: 'A function, trigger, right or table of the log was changed by hand.',
    expression: () => 'max(baton_audit_definitions_altered) > 0',
  },
  {
    ...LOG,
    name: 'BatonLogUnsealed',
    severity: 'page',
    summary: 'the oldest record has waited {{ $value | humanizeDuration }} for its seal',
    meaning:
      'The sealer is away or halts. After a minute appends are refused, and nothing executes.',
    expression: () => 'max(baton_audit_unsealed_age_seconds) > 30',
  },
  {
    ...LOG,
    name: 'BatonLogUnwitnessed',
    severity: 'ticket',
    summary: 'the oldest seal has waited {{ $value | humanizeDuration }} for somebody outside',
    meaning: 'Nobody outside has kept the newest seals: until then an operator could replace them.',
    expression: () => 'max(baton_audit_unwitnessed_age_seconds) > 900',
    forSeconds: 5 * MINUTE,
  },
  {
    ...LOG,
    name: 'BatonAppendSlow',
    severity: 'ticket',
    summary:
      '{{ $value | humanizePercentage }} of appends to the audit log take longer than 500 ms',
    meaning: 'The audit log holds every handoff up: nothing executes before its record is durable.',
    expression: slowAppends,
    forSeconds: 5 * MINUTE,
  },
  {
    ...LOG,
    name: 'BatonReadsFail',
    severity: 'ticket',
    summary: 'the auditor does not answer what is asked about the log',
    meaning: 'Traces, verifications and evidence are answered with 503; work goes on.',
    expression: () => 'max(baton_breaker_open{target="auditor_reads"}) > 0',
    forSeconds: 5 * MINUTE,
  },
  {
    ...LOG,
    name: 'BatonClockStopsWork',
    severity: 'page',
    summary: 'the auditor’s clock is {{ $value | humanizeDuration }} ahead: nothing executes',
    meaning: 'The auditor is so far ahead of its database that it refuses every append.',
    expression: () => 'max(baton_audit_clock_ahead_seconds) > 2',
  },
  {
    ...LOG,
    name: 'BatonClockWrong',
    severity: 'ticket',
    summary: 'the auditor’s clock and its database’s differ by {{ $value | humanizeDuration }}',
    meaning: 'Records get times that are wrong; two seconds ahead, nothing executes any more.',
    expression: () => 'max(abs(baton_audit_clock_ahead_seconds)) > 1',
    forSeconds: MINUTE,
  },
  {
    ...LOG,
    name: 'BatonScrubStopped',
    severity: 'ticket',
    summary: 'no record has been read again for six hours',
    meaning: 'The scrubber does not run: what was altered would be found late.',
    expression: (span) => `sum(increase(baton_audit_scrubbed_records_total[${span(6 * HOUR)}])) == 0
and sum(increase(baton_audit_records_total[${span(6 * HOUR)}])) > 0`,
    forSeconds: 30 * MINUTE,
  },
  {
    ...LOG,
    name: 'BatonDrillOverdue',
    severity: 'ticket',
    summary: 'no drill has passed for {{ $value | humanizeDuration }}',
    meaning:
      'Nobody has shown lately that a past task can be rebuilt and verified within 10 s: for eight days where the auditor drills by itself, for 80 where people do, once a quarter.',
    expression: (span) =>
      `max(baton_audit_drill_age_seconds{schedule="on"}) > ${inSeconds(span(8 * DAY))}
or max(baton_audit_drill_age_seconds{schedule="off"}) > ${inSeconds(span(80 * DAY))}`,
  },
  {
    ...LOG,
    name: 'BatonArchiveBehind',
    severity: 'ticket',
    summary: '{{ $value | humanize }} records wait for the cold store',
    meaning: 'The archiver does not keep up or cannot write: days cannot be dropped from Postgres.',
    expression: () => 'max(baton_audit_archive_lag_records) > 20000',
    forSeconds: 30 * MINUTE,
  },
  {
    ...LOG,
    name: 'BatonColdFaults',
    severity: 'page',
    summary: '{{ $value }} bundles of the cold store are missing or changed',
    meaning: 'What was archived is not there as it was written.',
    expression: () => 'max(baton_audit_cold_faults) > 0',
  },
  {
    ...LOG,
    name: 'BatonErasuresFail',
    severity: 'ticket',
    summary: 'an erasure of a person failed',
    meaning: 'A person’s right to erasure is not met yet; the erasure must be run again.',
    expression: (span) => hasRisen('baton_audit_erasures_total{outcome="failed"}', span),
    keepFiringSeconds: HOUR,
  },
]
