// Where is the time: which leg of the way and which pair of agents make a handoff slow, with the traces behind it.
import { chosen, latency, perSecond, quantile } from './board.ts'
import type { Board } from './board.ts'

const HOPS = 'baton_hop_seconds'

export const TIME: Board = {
  uid: 'baton-time',
  title: 'Baton: where is the time?',
  about: 'Latency as a whole, by leg and by pair of agents.',
  rows: [
    {
      title: 'The whole way',
      panels: [
        {
          title: 'Latency, dispatch to accept',
          says: 'Targets are 0.2, 0.5 and 1 s by transport.',
          shape: 'lines',
          unit: 's',
          width: 12,
          warnsAt: 0.5,
          badAt: 2,
          exemplars: true,
          queries: [0.5, 0.9, 0.99].map((share) => ({
            expression: quantile(share, latency('bucket')),
            legend: `p${share * 100}`,
          })),
        },
        {
          title: 'How many took how long',
          says: 'Each row is a bucket of the histogram; its edges are the targets.',
          shape: 'heat',
          unit: 's',
          width: 12,
          queries: [
            {
              expression: `sum by (le) (increase(${latency('bucket')}[$__rate_interval]))`,
              legend: '{{le}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Legs of the way',
      panels: [
        {
          title: 'Slow ones, by leg (p99)',
          says: 'queue: no free receiver. audit: the log is slow. execute: the agent itself, not part of latency.',
          shape: 'lines',
          unit: 's',
          width: 12,
          exemplars: true,
          queries: [
            { expression: quantile(0.99, chosen(`${HOPS}_bucket`), 'hop'), legend: '{{hop}}' },
          ],
        },
        {
          title: 'On average, by leg',
          says: 'What a usual handoff spends its time on.',
          shape: 'areas',
          unit: 's',
          width: 12,
          queries: [
            {
              expression: `sum by (hop) (${perSecond(chosen(`${HOPS}_sum`, 'hop!="execute"'))}) / (sum by (hop) (${perSecond(chosen(`${HOPS}_count`, 'hop!="execute"'))}) > 0)`,
              legend: '{{hop}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Pairs of agents',
      panels: [
        {
          title: 'Slowest pairs (p99)',
          says: 'A pair that is slow alone is a receiver with too few places, or an agent that is slow to take work.',
          shape: 'table',
          unit: 's',
          width: 8,
          queries: [
            {
              expression: `topk(20, ${quantile(0.99, latency('bucket'), 'from_agent', 'to_agent')})`,
              legend: '{{from_agent}} → {{to_agent}}',
            },
          ],
        },
        {
          title: 'Over the target, by pair',
          says: 'The share that took longer than 500 ms.',
          shape: 'lines',
          unit: 'percentunit',
          width: 8,
          queries: [
            {
              expression: `1 - sum by (from_agent, to_agent) (${perSecond(latency('bucket', 'le="0.5"'))}) / (sum by (from_agent, to_agent) (${perSecond(latency('count'))}) > 0)`,
              legend: '{{from_agent}} → {{to_agent}}',
            },
          ],
        },
        {
          title: 'Handoffs per second, by pair',
          says: 'What each pair carries.',
          shape: 'lines',
          unit: 'ops',
          width: 8,
          queries: [
            {
              expression: `sum by (from_agent, to_agent) (${perSecond(latency('count'))})`,
              legend: '{{from_agent}} → {{to_agent}}',
            },
          ],
        },
      ],
    },
  ],
}
