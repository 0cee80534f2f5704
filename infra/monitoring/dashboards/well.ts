// Is it well: one screen that says whether somebody has to do something.
import { BUDGET_LEFT, burnSeries, OBJECTIVES, RATES, rateSeries } from '@baton/telemetry'
import { chosen, latency, perSecond, quantile } from './board.ts'
import type { Board } from './board.ts'

const rates = RATES.map(({ id, title, limit }) => ({ id, title, limit }))

export const WELL: Board = {
  uid: 'baton-well',
  title: 'Baton: is it well?',
  about:
    'Objectives, what is left of their error budgets, what burns them, and what waits for a person.',
  rows: [
    {
      title: 'Now',
      panels: [
        {
          title: 'Alerts that fire',
          says: 'Empty is well. Each has a runbook: its link is in the alert.',
          shape: 'table',
          unit: 'short',
          width: 12,
          queries: [
            {
              expression:
                'sum by (alertname, severity, area) (ALERTS{alertstate="firing", alertname=~"Baton.+"}) or 0 * group(up)',
              legend: '{{alertname}} ({{severity}})',
            },
          ],
        },
        {
          title: 'Waits for a person',
          says: 'Dead letters, approvals, escalations, and alerts that nobody has acknowledged.',
          shape: 'figures',
          unit: 'short',
          width: 6,
          badAt: 1,
          queries: [
            {
              expression: `max by (kind) (${chosen('baton_waiting_for_people')})`,
              legend: '{{kind}}',
            },
          ],
        },
        {
          title: 'Oldest that waits',
          says: 'For a relay, for an agent, for a seal, for somebody outside.',
          shape: 'figures',
          unit: 's',
          width: 6,
          warnsAt: 10,
          badAt: 30,
          queries: [
            { expression: `max(${chosen('baton_outbox_oldest_age_seconds')})`, legend: 'outbox' },
            { expression: `max(${chosen('baton_queue_oldest_age_seconds')})`, legend: 'queue' },
            { expression: `max(${chosen('baton_audit_unsealed_age_seconds')})`, legend: 'seal' },
          ],
        },
      ],
    },
    {
      title: 'What is promised',
      panels: [
        {
          title: 'Error budget left of 30 days',
          says: 'All of it is 100 %; below 0 the objective is missed. Needs 30 days of data to be exact.',
          shape: 'bars',
          unit: 'percentunit',
          width: 8,
          badAt: 0,
          warnsAt: 0.25,
          queries: [{ expression: BUDGET_LEFT, legend: '{{objective}}' }],
        },
        {
          title: 'How fast error budgets burn (1 h)',
          says: '1 spends exactly the error budget in 30 days; 14.4 for an hour wakes somebody.',
          shape: 'lines',
          unit: 'short',
          width: 8,
          badAt: 14.4,
          queries: [{ expression: burnSeries('transport', '1h'), legend: '{{objective}}' }],
        },
        {
          title: 'Within the target',
          says: 'The share of handoffs that were accepted in time, now.',
          shape: 'lines',
          unit: 'percentunit',
          width: 8,
          queries: OBJECTIVES.filter(({ transport }) => transport === 'queue').map(
            ({ id, withinSeconds }) => ({
              expression: `sum(${perSecond(latency('bucket', `le=~"${withinSeconds}([.]0)?"`))}) / (sum(${perSecond(latency('count'))}) > 0)`,
              legend: id,
            }),
          ),
        },
      ],
    },
    {
      title: 'Work',
      panels: [
        {
          title: 'Handoffs per second',
          says: 'By the state they reached.',
          shape: 'lines',
          unit: 'ops',
          width: 8,
          queries: [
            {
              expression: `sum by (outcome) (${perSecond(chosen('baton_handoffs_total'))})`,
              legend: '{{outcome}}',
            },
          ],
        },
        {
          title: 'Latency, dispatch to accept',
          says: 'Half of them, and 99 of 100.',
          shape: 'lines',
          unit: 's',
          width: 8,
          exemplars: true,
          queries: [
            { expression: quantile(0.5, latency('bucket')), legend: 'p50' },
            { expression: quantile(0.99, latency('bucket')), legend: 'p99' },
          ],
        },
        {
          title: 'Rates against their limits (1 h)',
          says: `Limits: ${rates.map(({ title, limit }) => `${title} ${limit === undefined ? 'twice the day before' : `${limit * 100} %`}`).join(', ')}.`,
          shape: 'lines',
          unit: 'percentunit',
          width: 8,
          queries: rates.map(({ id, title }) => ({
            expression: rateSeries(id, '1h'),
            legend: title,
          })),
        },
      ],
    },
  ],
}
