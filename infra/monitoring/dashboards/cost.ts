// Cost and tokens: what agents said they spent, and where contexts grow.
import { rateSeries } from '@baton/telemetry'
import { chosen, perSecond } from './board.ts'
import type { Board } from './board.ts'

const usd = (series: string) => `sum by (agent) (${series}) / 1e6`
const ACCEPTED = chosen('baton_handoffs_total', 'outcome="ACCEPTED"')

export const COST: Board = {
  uid: 'baton-cost',
  title: 'Baton: cost and tokens',
  about: 'Money and tokens by agent, budgets that ran out, compression.',
  rows: [
    {
      title: 'Money',
      panels: [
        {
          title: 'US dollars an hour, by agent',
          says: 'What executions reported when they committed.',
          shape: 'areas',
          unit: 'currencyUSD',
          width: 12,
          queries: [
            {
              expression: `3600 * ${usd(perSecond(chosen('baton_cost_micro_usd_total')))}`,
              legend: '{{agent}}',
            },
          ],
        },
        {
          title: 'US dollars for each accepted handoff',
          says: 'A step upwards is a dearer model, a longer context, or an agent that tries more often.',
          shape: 'lines',
          unit: 'currencyUSD',
          width: 6,
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_cost_micro_usd_total'))}) / 1e6 / (sum(${perSecond(ACCEPTED)}) > 0)`,
              legend: 'per handoff',
            },
          ],
        },
        {
          title: 'Budgets that ran out',
          says: 'Handoffs refused with BUDGET_EXHAUSTED, per second.',
          shape: 'lines',
          unit: 'ops',
          width: 6,
          badAt: 1,
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_handoff_validation_failures_total', 'reason="BUDGET_EXHAUSTED"'))}) or 0 * group(up)`,
              legend: 'refused',
            },
          ],
        },
      ],
    },
    {
      title: 'Tokens and contexts',
      panels: [
        {
          title: 'Tokens per second, by agent',
          says: 'Input and output as agents reported them.',
          shape: 'lines',
          unit: 'short',
          width: 12,
          queries: [
            {
              expression: `sum by (agent, direction) (${perSecond(chosen('baton_tokens_total'))})`,
              legend: '{{agent}} {{direction}}',
            },
          ],
        },
        {
          title: 'Compressed before sending (1 h)',
          says: 'A rise is a context that grows; compression costs a model call.',
          shape: 'lines',
          unit: 'percentunit',
          width: 6,
          queries: [{ expression: rateSeries('compressions', '1h'), legend: 'compressed' }],
        },
        {
          title: 'Summaries, by who wrote them and why',
          says: 'Where a summariser is set: by the model, or by extract because the model was too dear, slow, away or wrong.',
          shape: 'lines',
          unit: 'ops',
          width: 6,
          queries: [
            {
              expression: `sum by (summariser, reason) (${perSecond(chosen('baton_context_summaries_total'))})`,
              legend: '{{summariser}} {{reason}}',
            },
          ],
        },
        {
          title: 'Cost of summaries, part of all cost',
          says: 'At most 5 % of each upstream call; counted into its task.',
          shape: 'lines',
          unit: 'percentunit',
          width: 6,
          badAt: 0.05,
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_summariser_cost_micro_usd_total'))}) / (sum(${perSecond(chosen('baton_cost_micro_usd_total'))}) > 0)`,
              legend: 'summaries',
            },
          ],
        },
        {
          title: 'Bytes of a message',
          says: 'On average, of those that were accepted.',
          shape: 'lines',
          unit: 'bytes',
          width: 6,
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_message_bytes_total'))}) / (sum(${perSecond(ACCEPTED)}) > 0)`,
              legend: 'per handoff',
            },
          ],
        },
      ],
    },
  ],
}
