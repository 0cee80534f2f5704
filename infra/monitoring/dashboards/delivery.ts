// Delivery: what waits, what is tried again, what was stopped, and what outside does not answer.
import { chosen, perSecond } from './board.ts'
import type { Board, Panel } from './board.ts'

const rises = (metric: string, by: string) => `sum by (${by}) (${perSecond(chosen(metric))})`

const line = (panel: Pick<Panel, 'title' | 'says' | 'queries'> & Partial<Panel>): Panel => ({
  shape: 'lines',
  unit: 'ops',
  width: 8,
  ...panel,
})

export const DELIVERY: Board = {
  uid: 'baton-delivery',
  title: 'Baton: delivery',
  about: 'Outbox, queue, leases, retries and dead letters.',
  rows: [
    {
      title: 'What waits',
      panels: [
        line({
          title: 'Oldest, in the outbox and by agent',
          says: 'Seconds. The outbox above 30 s: no relay or no queue. An agent above 60 s: nobody takes its work.',
          unit: 's',
          badAt: 60,
          warnsAt: 30,
          queries: [
            { expression: `max(${chosen('baton_outbox_oldest_age_seconds')})`, legend: 'outbox' },
            {
              expression: `max by (agent) (${chosen('baton_queue_oldest_age_seconds')})`,
              legend: '{{agent}}',
            },
          ],
        }),
        line({
          title: 'How many, in the outbox and by agent',
          says: 'Committed and not published; published and not taken.',
          unit: 'short',
          queries: [
            { expression: `max(${chosen('baton_outbox_depth')})`, legend: 'outbox' },
            { expression: `max by (agent) (${chosen('baton_queue_depth')})`, legend: '{{agent}}' },
          ],
        }),
        line({
          title: 'Places taken',
          says: 'What receivers work on, of what they take at once.',
          unit: 'percentunit',
          queries: [
            {
              expression: `sum by (job, instance) (${chosen('baton_executions_active')}) / (sum by (job, instance) (${chosen('baton_executions_limit')}) > 0)`,
              legend: '{{job}} {{instance}}',
            },
          ],
        }),
      ],
    },
    {
      title: 'What happened',
      panels: [
        line({
          title: 'By outcome',
          says: 'Handoffs per second by the state they reached.',
          queries: [
            { expression: rises('baton_handoffs_total', 'outcome'), legend: '{{outcome}}' },
          ],
        }),
        line({
          title: 'Tried again, by reason',
          says: 'QUEUED with a reason is another attempt.',
          queries: [
            {
              expression: `sum by (reason) (${perSecond(chosen('baton_handoffs_total', 'outcome="QUEUED"', 'reason!=""'))}) or 0 * sum(${perSecond(chosen('baton_handoffs_total'))})`,
              legend: '{{reason}}',
            },
          ],
        }),
        line({
          title: 'Refused by a check, by reason',
          says: 'SCHEMA_INVALID in crowds is a sender of another version; SAFETY_VIOLATION in crowds is an attack or a rule that is too strict.',
          queries: [
            {
              expression: `${rises('baton_handoff_validation_failures_total', 'reason')} or 0 * sum(${perSecond(chosen('baton_handoffs_total'))})`,
              legend: '{{reason}}',
            },
          ],
        }),
        line({
          title: 'Safety scan',
          says: 'What the scanner decided; scans it could not finish are stopped.',
          queries: [
            {
              expression: rises('baton_safety_verdicts_total', 'decision'),
              legend: '{{decision}}',
            },
            {
              expression: `sum(${perSecond(chosen('baton_scan_incomplete_total'))})`,
              legend: 'incomplete',
            },
          ],
        }),
        line({
          title: 'Classifier beside the scanner',
          says: 'Where one is set: what it said, and why an answer did not count. The scanner decides alone then.',
          queries: [
            {
              expression: rises('baton_classifier_total', 'outcome'),
              legend: '{{outcome}}',
            },
          ],
        }),
        line({
          title: 'Artefacts of the scanner',
          says: 'Versions that processes judge by: two at once are a process that did not follow. What was refused changed nothing, and its log says why.',
          queries: [
            {
              expression: `max by (job) (${chosen('baton_safety_artefact_version')})`,
              legend: 'version, {{job}}',
            },
            {
              expression: rises('baton_safety_artefacts_total', 'outcome'),
              legend: '{{outcome}}',
            },
            {
              expression: `max by (file) (${chosen('baton_safety_file_refused')})`,
              legend: 'refused now, {{file}}',
            },
          ],
        }),
        line({
          title: 'Exemptions from rules of the scanner',
          says: 'How many the set holds by which processes judge. A file that was refused changed nothing, and its log says why.',
          queries: [
            { expression: `max by (job) (${chosen('baton_exemptions')})`, legend: 'set, {{job}}' },
            {
              expression: rises('baton_exemption_files_total', 'outcome'),
              legend: '{{outcome}}',
            },
          ],
        }),
        line({
          title: 'Candidate of the scanner, in its shadow',
          says: 'What the scanner decided, and what the candidate would have; none is what it had no room or time for.',
          queries: [
            {
              expression: rises('baton_safety_shadow_total', 'active, candidate'),
              legend: '{{active}}, candidate {{candidate}}',
            },
          ],
        }),
        line({
          title: 'Large messages, in threads',
          says: 'What was ended took too much; what was refused found too many waiting.',
          queries: [
            {
              expression: rises('baton_large_work_total', 'outcome'),
              legend: '{{outcome}}',
            },
          ],
        }),
        line({
          title: 'Rolled back, escalated, corrected, resumed',
          says: 'The way back to a sender, and the way on.',
          queries: ['rollbacks', 'escalations', 'revisions', 'resumes'].map((name) => ({
            expression: `sum(${perSecond(chosen(`baton_${name}_total`))})`,
            legend: name,
          })),
        }),
        line({
          title: 'Leases',
          says: 'Expired ones: receivers die or stall. Late results: they went on working after their lease.',
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_leases_expired_total'))})`,
              legend: 'expired',
            },
            {
              expression: `sum(${perSecond(chosen('baton_fenced_commits_total'))})`,
              legend: 'late results',
            },
          ],
        }),
      ],
    },
    {
      title: 'Stopped, and outside',
      panels: [
        line({
          title: 'Dead letters',
          says: 'How many wait for a person.',
          unit: 'short',
          badAt: 1,
          queries: [{ expression: `max(${chosen('baton_dead_letter_depth')})`, legend: 'wait' }],
        }),
        line({
          title: 'Oldest dead letter',
          says: 'How long somebody has waited for a decision.',
          unit: 's',
          queries: [
            {
              expression: `max(${chosen('baton_dead_letter_oldest_age_seconds')})`,
              legend: 'oldest',
            },
          ],
        }),
        line({
          title: 'Circuit breakers',
          says: '1 is open: that process is not asked any more.',
          unit: 'short',
          badAt: 1,
          queries: [
            {
              expression: `max by (job, target) (${chosen('baton_breaker_open')})`,
              legend: '{{job}} → {{target}}',
            },
          ],
        }),
        line({
          title: 'Calls to outside',
          says: 'Agents outside, by what became of the call.',
          queries: [
            {
              expression: `${rises('baton_outside_calls_total', 'kind, outcome')} or 0 * group(up)`,
              legend: '{{kind}} {{outcome}}',
            },
          ],
        }),
        line({
          title: 'Chunks of streams',
          says: 'What executions emit while they run, by what became of it.',
          queries: [
            {
              expression: `${rises('baton_chunks_total', 'outcome')} or 0 * group(up)`,
              legend: '{{outcome}}',
            },
          ],
        }),
        line({
          title: 'Requests that the gateway refused, by code',
          says: 'They became no handoff, and are in no rate of handoffs.',
          queries: [
            {
              expression: `${rises('baton_requests_refused_total', 'code')} or 0 * group(up)`,
              legend: '{{code}}',
            },
          ],
        }),
        line({
          title: 'Alerts told to webhooks',
          says: 'What Baton itself tells somebody, and whether it arrives.',
          queries: [
            {
              expression: `${rises('baton_alert_deliveries_total', 'outcome')} or 0 * group(up)`,
              legend: '{{outcome}}',
            },
          ],
        }),
        line({
          title: 'Events told to webhooks',
          says: 'Tries to tell subscriptions of events, and what they did not take.',
          queries: [
            {
              expression: `${rises('baton_event_deliveries_total', 'outcome')} or 0 * group(up)`,
              legend: '{{outcome}}',
            },
            { expression: 'max by (state) (baton_event_deliveries_waiting)', legend: '{{state}}' },
          ],
        }),
        line({
          title: 'Events made',
          says: 'Of records of the log, for tenants that ask for them, and how far behind the log that is.',
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_events_total'))}) or 0 * group(up)`,
              legend: 'made',
            },
            { expression: 'max(baton_events_behind_seconds)', legend: 'seconds behind' },
          ],
        }),
      ],
    },
  ],
}
