// For each alert what makes it fire, and what looks alike and must not: promtool runs both against the written rules.
/** Series in promtool's notation: a value a minute, or every four minutes where an example lasts for hours. */
type Given = Readonly<Record<string, string>>

export interface Example {
  readonly given: Given
  /** Minutes after the first value at which the alert is looked for. */
  readonly atMinutes: number
  /** How many alerts fire then, where that matters: each tells of one thing. */
  readonly alerts?: number
}

export interface AlertExamples {
  readonly fires: Example
  /** Where it fires for another reason too. */
  readonly firesToo?: Example
  readonly quiet: Example
}

/** In minutes, and in steps of four minutes. */
const HOUR = 60
const DAY = 24 * HOUR
const STEPS_A_DAY = 360

/** Stays at `value` for so many minutes. */
const still = (value: number, minutes = 2 * HOUR) => `${value}x${minutes}`
/** Rises by `each` a minute, from 0. */
const rising = (each: number, minutes = 2 * HOUR) => `0+${each}x${minutes}`
/** First one way for some minutes, then another for `then`. */
const turning = (
  before: readonly [each: number, minutes: number],
  then: readonly [number, number],
) => `0+${before[0]}x${before[1]} ${before[0] * before[1]}+${then[0]}x${then[1]}`

const PAIR = 'transport="queue", from_agent="intake", to_agent="risk"'
const LATENCY = 'baton_handoff_latency_seconds'

interface Latencies {
  readonly all: string
  /** Those within half a second, within two, and all. */
  readonly within500Ms: string
  readonly within2S: string
}

function latencies({ all, within500Ms, within2S }: Latencies): Given {
  return {
    [`${LATENCY}_bucket{${PAIR}, le="0.5"}`]: within500Ms,
    [`${LATENCY}_bucket{${PAIR}, le="2"}`]: within2S,
    [`${LATENCY}_count{${PAIR}}`]: all,
  }
}

const at = (atMinutes: number, given: Given): Example => ({ atMinutes, given })
const gauge = (series: string, fires: number, quiet: number): AlertExamples => ({
  fires: at(20, { [series]: still(fires) }),
  quiet: at(20, { [series]: still(quiet) }),
})
/** One that rises steadily, against one that rose once. */
const counter = (series: string, each = 1, once = 1): AlertExamples => ({
  fires: at(20, { [series]: rising(each) }),
  quiet: at(20, { [series]: `0x10 ${once}x60` }),
})

/** The certificates of processes, by the days after which they end: promtool's clock begins at the epoch. */
const ends = (days: Readonly<Record<string, number>>): Given =>
  Object.fromEntries(
    Object.entries(days).map(([process, left]) => [
      `baton_expiry_timestamp_seconds{kind="certificate", name="tls", job="baton-${process}", instance="${process}:9100"}`,
      still(left * 86_400),
    ]),
  )

const CHECKED = 'baton_hop_seconds_count{hop="validate"}'

export const ALERT_EXAMPLES: Readonly<Record<string, AlertExamples>> = {
  // An hour of good, then every handoff takes longer than two seconds: a page within five minutes.
  BatonLatencyBurnFast: {
    fires: at(
      95,
      latencies({
        all: rising(100, 200),
        within500Ms: turning([100, 90], [0, 110]),
        within2S: turning([100, 90], [0, 110]),
      }),
    ),
    // One bad handoff of a quiet pair.
    quiet: at(
      95,
      latencies({
        all: `${rising(0, 90)} 1x110`,
        within500Ms: still(0, 200),
        within2S: still(0, 200),
      }),
    ),
  },
  // Three of a hundred are too slow all day: no page, a ticket.
  BatonLatencyBurnSlow: {
    fires: at(
      DAY + HOUR,
      latencies({
        all: rising(1_000, 2 * STEPS_A_DAY),
        within500Ms: rising(960, 2 * STEPS_A_DAY),
        within2S: rising(1_000, 2 * STEPS_A_DAY),
      }),
    ),
    quiet: at(
      DAY + HOUR,
      latencies({
        all: rising(1_000, 2 * STEPS_A_DAY),
        within500Ms: rising(995, 2 * STEPS_A_DAY),
        within2S: rising(1_000, 2 * STEPS_A_DAY),
      }),
    ),
  },
  BatonPairSlow: {
    fires: at(
      8 * HOUR,
      latencies({
        all: rising(100, STEPS_A_DAY),
        within500Ms: rising(50, STEPS_A_DAY),
        within2S: rising(100, STEPS_A_DAY),
      }),
    ),
    // The same share of a pair with six handoffs an hour.
    quiet: at(
      8 * HOUR,
      latencies({
        all: rising(1, STEPS_A_DAY),
        within500Ms: rising(0.5, STEPS_A_DAY),
        within2S: rising(1, STEPS_A_DAY),
      }),
    ),
  },
  BatonValidationFailures: {
    fires: at(30, {
      [CHECKED]: rising(100),
      'baton_handoff_validation_failures_total{reason="SCHEMA_INVALID"}': rising(3),
    }),
    quiet: at(30, {
      [CHECKED]: rising(100),
      'baton_handoff_validation_failures_total{reason="SCHEMA_INVALID"}': rising(1),
    }),
  },
  BatonSafetyViolations: {
    fires: at(30, {
      'baton_safety_verdicts_total{decision="allow", category=""}': rising(100),
      'baton_safety_verdicts_total{decision="reject", category="injection"}': rising(1),
    }),
    // One violation among few handoffs is a dead letter for a person, not a rate.
    quiet: at(30, {
      'baton_safety_verdicts_total{decision="allow", category=""}': rising(2),
      'baton_safety_verdicts_total{decision="reject", category="injection"}': '0x20 1x60',
    }),
  },
  BatonRollbacks: {
    fires: at(30, { [CHECKED]: rising(100), baton_rollbacks_total: rising(2) }),
    quiet: at(30, { [CHECKED]: rising(1_000), baton_rollbacks_total: rising(5) }),
  },
  BatonCompressionSpike: {
    fires: at(DAY + 3 * HOUR, {
      'baton_handoffs_total{outcome="QUEUED", reason=""}': rising(1_000, 2 * STEPS_A_DAY),
      baton_context_compressions_total: turning([50, STEPS_A_DAY], [400, STEPS_A_DAY]),
    }),
    quiet: at(DAY + 3 * HOUR, {
      'baton_handoffs_total{outcome="QUEUED", reason=""}': rising(1_000, 2 * STEPS_A_DAY),
      baton_context_compressions_total: rising(400, 2 * STEPS_A_DAY),
    }),
  },
  BatonOutboxStale: gauge('baton_outbox_oldest_age_seconds', 31, 29),
  BatonAgentAway: gauge('baton_queue_oldest_age_seconds{agent="risk"}', 61, 59),
  BatonDeadLetters: gauge('baton_dead_letter_depth', 1, 0),
  BatonEscalations: gauge('baton_waiting_for_people{kind="escalation"}', 1, 0),
  BatonLeasesExpire: counter('baton_leases_expired_total'),
  BatonFencedCommits: counter('baton_fenced_commits_total'),
  BatonBreakerOpen: {
    fires: at(20, { 'baton_breaker_open{target="auditor"}': still(1) }),
    // An agent outside that is away is no reason to wake somebody.
    quiet: at(20, { 'baton_breaker_open{target="outside"}': still(1) }),
  },
  BatonScanIncomplete: counter('baton_scan_incomplete_total'),
  BatonScannerFileRefused: gauge('baton_safety_file_refused{file="artefact"}', 1, 0),
  BatonClassifierFails: {
    fires: at(25, {
      'baton_classifier_total{outcome="agreed"}': rising(1),
      'baton_classifier_total{outcome="timeout"}': rising(2),
    }),
    // Of one tenant alone, so that most questions are answered.
    firesToo: at(20, {
      'baton_breaker_open{target="classifier"}': still(1),
      'baton_classifier_total{outcome="agreed"}': rising(100),
    }),
    // Most of what is not asked may not leave its place: nothing is wrong with the classifier.
    quiet: at(25, {
      'baton_classifier_total{outcome="agreed"}': rising(2),
      'baton_classifier_total{outcome="invalid"}': rising(1),
      'baton_classifier_total{outcome="stays_here"}': rising(20),
    }),
  },
  BatonBudgetsExhausted: counter(
    'baton_handoff_validation_failures_total{reason="BUDGET_EXHAUSTED"}',
    1,
    9,
  ),
  BatonOutsideCallsFail: {
    fires: at(25, {
      'baton_outside_calls_total{kind="push", outcome="ok"}': rising(1),
      'baton_outside_calls_total{kind="push", outcome="failed"}': rising(2),
    }),
    // Two of three fail, but there were only three.
    quiet: at(25, {
      'baton_outside_calls_total{kind="push", outcome="ok"}': '0x20 1x60',
      'baton_outside_calls_total{kind="push", outcome="failed"}': '0x20 2x60',
    }),
  },
  BatonAlertsUndelivered: counter('baton_alert_deliveries_total{outcome="failed"}'),
  // One consumer is away for an hour; one was for twenty minutes and has been told since, and what was given up before stays listed.
  BatonEventsUndelivered: {
    fires: at(60, { 'baton_event_deliveries_waiting{state="waiting"}': still(3) }),
    quiet: at(60, {
      'baton_event_deliveries_waiting{state="waiting"}': '0x35 3x20 0x60',
      'baton_event_deliveries_waiting{state="dead"}': still(2),
    }),
  },
  BatonReceiversBusy: {
    fires: at(25, {
      'baton_executions_active{instance="a"}': still(8),
      'baton_executions_limit{instance="a"}': still(8),
      'baton_queue_oldest_age_seconds{agent="risk"}': still(20),
    }),
    // All places are taken, and nothing waits.
    quiet: at(25, {
      'baton_executions_active{instance="a"}': still(8),
      'baton_executions_limit{instance="a"}': still(8),
      'baton_queue_oldest_age_seconds{agent="risk"}': still(0),
    }),
  },
  // An old finding; then the process starts again and counts another before it is read for the first time.
  BatonLogTampered: {
    fires: at(140, {
      'baton_audit_tamper_detected_total{instance="a"}': '0x5 1x125 _x2 1x60',
      'process_start_time_seconds{instance="a"}': `0x131 _x2 ${134 * 60}x60`,
    }),
    // Found three hours ago, and no verification has been clean since.
    firesToo: at(180, {
      'baton_audit_tamper_detected_total{instance="a"}': '0x5 1x200',
      'baton_audit_tampered{instance="a"}': '0x5 1x200',
    }),
    // An old finding, and a hole in the scraping: nothing rose.
    quiet: at(130, {
      'baton_audit_tamper_detected_total{instance="a"}': '1x5 _x15 1x120',
      'process_start_time_seconds{instance="a"}': '0x5 _x15 0x120',
      // What was found then stood until a verification was clean; the hour after that is over too.
      'baton_audit_tampered{instance="a"}': '1x60 0x70',
    }),
  },
  BatonReceiptsUnmatched: {
    fires: at(25, { 'baton_receipts_unmatched_total{state="missing"}': '0x20 2x60' }),
    // The sealer is away: BatonLogUnsealed says so.
    quiet: at(25, { 'baton_receipts_unmatched_total{state="waiting"}': rising(5) }),
  },
  BatonLogSchemaAltered: gauge('baton_audit_definitions_altered', 1, 0),
  BatonLogUnsealed: gauge('baton_audit_unsealed_age_seconds', 31, 2),
  BatonLogUnwitnessed: gauge('baton_audit_unwitnessed_age_seconds', 901, 60),
  BatonAppendSlow: {
    fires: at(25, {
      'baton_audit_append_seconds_bucket{le="0.5"}': rising(90),
      baton_audit_append_seconds_count: rising(100),
    }),
    quiet: at(25, {
      'baton_audit_append_seconds_bucket{le="0.5"}': rising(100),
      baton_audit_append_seconds_count: rising(100),
    }),
  },
  BatonClockStopsWork: gauge('baton_audit_clock_ahead_seconds', 2.1, -5),
  BatonReadsFail: {
    fires: at(20, { 'baton_breaker_open{target="auditor_reads"}': still(1) }),
    quiet: at(20, { 'baton_breaker_open{target="auditor"}': still(1) }),
  },
  BatonClockWrong: gauge('baton_audit_clock_ahead_seconds', -1.5, 0.2),
  BatonScrubStopped: {
    fires: at(8 * HOUR, {
      baton_audit_scrubbed_records_total: still(500, STEPS_A_DAY),
      baton_audit_records_total: rising(10, STEPS_A_DAY),
    }),
    quiet: at(8 * HOUR, {
      baton_audit_scrubbed_records_total: rising(500, STEPS_A_DAY),
      baton_audit_records_total: rising(10, STEPS_A_DAY),
    }),
  },
  BatonDrillOverdue: {
    fires: at(20, {
      'baton_audit_drill_age_seconds{schedule="on"}': still(8 * 86_400 + 1),
      'baton_audit_drill_age_seconds{schedule="off"}': still(60),
    }),
    firesToo: at(20, { 'baton_audit_drill_age_seconds{schedule="off"}': still(80 * 86_400 + 1) }),
    // A week’s schedule is in time, and so are people who drill once a quarter.
    quiet: at(20, {
      'baton_audit_drill_age_seconds{schedule="on"}': still(7 * 86_400 + 3_600),
      'baton_audit_drill_age_seconds{schedule="off"}': still(79 * 86_400),
    }),
  },
  BatonArchiveBehind: {
    fires: at(45, { baton_audit_archive_lag_records: still(20_001) }),
    quiet: at(45, { baton_audit_archive_lag_records: still(800) }),
  },
  BatonColdFaults: gauge('baton_audit_cold_faults', 1, 0),
  BatonErasuresFail: {
    fires: at(25, { 'baton_audit_erasures_total{outcome="failed"}': '0x20 1x60' }),
    quiet: at(25, { 'baton_audit_erasures_total{outcome="completed"}': rising(1) }),
  },
  BatonProcessDown: gauge('up{job="baton-relay", instance="a"}', 0, 1),
  BatonServerUnsafe: gauge('baton_server_unsafe{server="postgres"}', 1, 0),
  BatonDiskLow: gauge('baton_disk_free_ratio{instance="a", folder="cold"}', 0.1, 0.2),
  BatonDiskFull: gauge('baton_disk_free_ratio{instance="a", folder="cold"}', 0.04, 0.1),
  BatonExpiresSoon: {
    fires: { ...at(20, ends({ relay: 13, receiver: 13, auditor: 15 })), alerts: 2 },
    quiet: at(20, ends({ relay: 15 })),
  },
  BatonExpiresNow: {
    fires: { ...at(20, ends({ relay: 0.5, receiver: 0.5, auditor: 13 })), alerts: 2 },
    quiet: at(20, ends({ relay: 13 })),
  },
  BatonConnectionsExhausted: gauge('baton_pool_connections{state="waiting", job="a"}', 3, 0),
  BatonEventLoopBlocked: gauge('nodejs_eventloop_lag_p99_seconds{job="a"}', 0.8, 0.05),
}
