// Alerts about the way of a handoff: outbox, queue, leases, people who are waited for, agents outside.
import { EVENTS_MIN } from '../objectives.ts'
import { HOUR, MINUTE } from './alert.ts'
import type { Alert } from './alert.ts'

const DELIVERY = { area: 'delivery' } as const

export const DELIVERY_ALERTS: readonly Alert[] = [
  {
    ...DELIVERY,
    name: 'BatonOutboxStale',
    severity: 'page',
    summary: 'the oldest handoff has waited {{ $value | humanizeDuration }} for a relay',
    meaning: 'Handoffs are committed, and nobody publishes them: no relay, or no queue.',
    expression: () => 'max(baton_outbox_oldest_age_seconds) > 30',
    forSeconds: MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonAgentAway',
    severity: 'page',
    summary: 'work for {{ $labels.agent }} has waited {{ $value | humanizeDuration }}',
    meaning: 'Handoffs are published, and nobody of that agent type takes them, or far too few do.',
    expression: () => 'max by (agent) (baton_queue_oldest_age_seconds) > 60',
    forSeconds: 2 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonDeadLetters',
    severity: 'ticket',
    summary: '{{ $value }} dead letters wait for a person',
    meaning: 'Handoffs were stopped for good, and a person must decide what becomes of them.',
    expression: () => 'max(baton_dead_letter_depth) > 0',
    forSeconds: MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonEscalations',
    severity: 'ticket',
    summary: '{{ $value }} tasks failed three times and wait for a person',
    meaning: 'Tasks have failed so often that they were handed to a person.',
    expression: () => 'max(baton_waiting_for_people{kind="escalation"}) > 0',
    forSeconds: MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonLeasesExpire',
    severity: 'ticket',
    summary: '{{ $value | humanize }} leases ran out within 15 minutes',
    meaning: 'Receivers die or stall while they work: their work is given to others.',
    expression: (span) =>
      `sum(increase(baton_leases_expired_total[${span(15 * MINUTE)}])) > ${EVENTS_MIN + 0.5}`,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonFencedCommits',
    severity: 'ticket',
    summary: '{{ $value | humanize }} results came too late within 15 minutes',
    meaning:
      'Executions end after their lease: their results are refused, and the work was done twice.',
    expression: (span) =>
      `sum(increase(baton_fenced_commits_total[${span(15 * MINUTE)}])) > ${EVENTS_MIN + 0.5}`,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonBreakerOpen',
    severity: 'page',
    summary: 'a circuit breaker to {{ $labels.target }} is open',
    meaning:
      'Receivers gave up asking the auditor: no execution begins without its record, so nothing executes.',
    expression: () => 'max by (target) (baton_breaker_open{target="auditor"}) > 0',
    forSeconds: MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonScanIncomplete',
    severity: 'ticket',
    summary: 'the scanner could not read {{ $value | humanize }} messages whole within an hour',
    meaning:
      'Messages hide more texts inside others than the scanner reads, so they are rejected and wait for a person.',
    expression: (span) =>
      `sum(increase(baton_scan_incomplete_total[${span(HOUR)}])) > ${EVENTS_MIN + 0.5}`,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonScannerFileRefused',
    severity: 'ticket',
    summary: 'what stands in the file of the scanner’s {{ $labels.file }} is refused',
    meaning:
      'A new artefact or set of exemptions cannot be taken: the scanner judges by what it took before.',
    expression: () => 'max by (file) (baton_safety_file_refused) > 0',
    forSeconds: MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonClassifierFails',
    severity: 'ticket',
    summary: 'the classifier beside the scanner fails',
    meaning:
      'A classifier of yours does not answer, or is not asked: the scanner decides alone meanwhile.',
    expression: (span) => {
      const risen = (matchers: string) =>
        `sum(increase(baton_classifier_total{${matchers}}[${span(15 * MINUTE)}]))`
      const asked = risen('outcome!~"stays_here|too_large"')
      // One tenant's breaker may be open while the questions of all others are answered.
      return `(
  ${risen('outcome=~"timeout|unavailable|paused|invalid"')} / ${asked} > 0.5
  and ${asked} >= 10
)
or max(baton_breaker_open{target="classifier"}) > 0`
    },
    forSeconds: MINUTE,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonBudgetsExhausted',
    severity: 'ticket',
    summary: '{{ $value | humanize }} tasks ran out of budget within an hour',
    meaning: 'Tasks stop because their money is gone: prices rose, or an agent deducts wrongly.',
    expression: (span) =>
      `sum(increase(baton_handoff_validation_failures_total{reason="BUDGET_EXHAUSTED"}[${span(HOUR)}])) > 10`,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonOutsideCallsFail',
    severity: 'ticket',
    summary: 'calls to outside fail{{ with $labels.kind }}: {{ . }}{{ end }}',
    meaning: 'An agent outside does not answer, or refuses what Baton sends.',
    expression: (span) => {
      const risen = (matchers: string) =>
        `sum by (kind) (increase(baton_outside_calls_total${matchers}[${span(15 * MINUTE)}]))`
      // An open breaker keeps further calls from being made, and so from being counted.
      return `(
  ${risen('{outcome!="ok"}')} / ${risen('')} > 0.5
  and ${risen('')} >= 10
)
or max(baton_breaker_open{target="outside"}) > 0`
    },
    forSeconds: MINUTE,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonAlertsUndelivered',
    severity: 'ticket',
    summary: 'webhooks of alerts fail',
    meaning: 'What Baton itself wants to tell somebody does not arrive.',
    expression: (span) =>
      `sum(increase(baton_alert_deliveries_total{outcome="failed"}[${span(15 * MINUTE)}])) > ${EVENTS_MIN + 0.5}`,
    keepFiringSeconds: 5 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonEventsUndelivered',
    severity: 'ticket',
    summary: '{{ $value }} events wait for a consumer that does not take them',
    meaning:
      'The webhook of a subscription to events has failed for half an hour; after days its events are given up.',
    expression: () => 'max(baton_event_deliveries_waiting{state="waiting"}) > 0',
    forSeconds: 30 * MINUTE,
  },
  {
    ...DELIVERY,
    name: 'BatonReceiversBusy',
    severity: 'ticket',
    summary:
      'all places for {{ $labels.agent }} at {{ $labels.instance }} are taken, and work waits',
    meaning: 'Receivers work at their limit: more of them, or more places, would be faster.',
    expression: () => `baton_executions_active / baton_executions_limit >= 0.95
and on () (max(baton_queue_oldest_age_seconds) > 5 or max(baton_outbox_oldest_age_seconds) > 5)`,
    forSeconds: 15 * MINUTE,
  },
]
