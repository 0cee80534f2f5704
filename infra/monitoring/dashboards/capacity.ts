// Capacity: how load maps to processors, memory, connections and disk, and what runs out first.
import { chosen, perSecond } from './board.ts'
import type { Board, Panel } from './board.ts'

const line = (panel: Pick<Panel, 'title' | 'says' | 'queries'> & Partial<Panel>): Panel => ({
  shape: 'lines',
  unit: 'short',
  width: 8,
  ...panel,
})

const BY = 'sum by (job, instance)'
const LEGEND = '{{job}} {{instance}}'
const CPU = perSecond(chosen('process_cpu_seconds_total', 'job=~"baton-.+"'))

export const CAPACITY: Board = {
  uid: 'baton-capacity',
  title: 'Baton: capacity',
  about: 'Processors, memory, connections, places, disk.',
  rows: [
    {
      title: 'Processors',
      panels: [
        line({
          title: 'Cores in use',
          says: 'One Node process uses a little more than one core at most.',
          shape: 'areas',
          queries: [{ expression: `${BY} (${CPU})`, legend: LEGEND }],
        }),
        line({
          title: 'Processor time for each accepted handoff',
          says: 'Of Baton’s processes together, without Postgres and Redis. Rises where batches are small.',
          unit: 's',
          queries: [
            {
              expression: `sum(${CPU}) / (sum(${perSecond(chosen('baton_handoffs_total', 'outcome="ACCEPTED"'))}) > 0)`,
              legend: 'per handoff',
            },
          ],
        }),
        line({
          title: 'Event loop, p99 lag',
          says: 'How long a process stands still. Above half a second heartbeats are in danger.',
          unit: 's',
          warnsAt: 0.2,
          badAt: 0.5,
          queries: [
            {
              expression: `max by (job, instance) (${chosen('nodejs_eventloop_lag_p99_seconds')})`,
              legend: LEGEND,
            },
          ],
        }),
      ],
    },
    {
      title: 'Memory and connections',
      panels: [
        line({
          title: 'Resident memory',
          says: 'Without an end upwards is a leak.',
          unit: 'bytes',
          queries: [
            {
              expression: `${BY} (${chosen('process_resident_memory_bytes', 'job=~"baton-.+"')})`,
              legend: LEGEND,
            },
          ],
        }),
        line({
          title: 'Postgres connections',
          says: 'busy and idle together count against max_connections.',
          queries: [
            {
              expression: `sum by (job, state) (${chosen('baton_pool_connections')})`,
              legend: '{{job}} {{state}}',
            },
          ],
        }),
        line({
          title: 'Places of receivers',
          says: 'In use, and how many there are.',
          queries: [
            { expression: `sum(${chosen('baton_executions_active')})`, legend: 'in use' },
            { expression: `sum(${chosen('baton_executions_limit')})`, legend: 'there are' },
          ],
        }),
      ],
    },
    {
      title: 'Disk and bytes',
      panels: [
        line({
          title: 'Log lines that OpenTelemetry did not get',
          says: 'Its collector is away or too slow. stderr has every line.',
          unit: 'ops',
          queries: [
            {
              expression: `sum(${perSecond(chosen('baton_log_records_dropped_total'))})`,
              legend: 'dropped',
            },
          ],
        }),
        {
          title: 'What runs',
          says: 'Processes by version: more than one version of a service is an upgrade under way.',
          shape: 'table',
          unit: 'short',
          width: 16,
          queries: [
            {
              expression: `count by (service, version) (${chosen('baton_build_info')})`,
              legend: '{{service}} {{version}}',
            },
          ],
        },
        line({
          title: 'Databases',
          says: 'Their size on disk.',
          unit: 'bytes',
          queries: [
            {
              expression: `max by (database) (${chosen('baton_database_bytes')})`,
              legend: '{{database}}',
            },
          ],
        }),
        line({
          title: 'Disk that is free',
          says: 'Where Baton’s own processes write. Watch the disks of Postgres and Redis where those run.',
          unit: 'percentunit',
          queries: [
            {
              expression: `min by (job, folder) (${chosen('baton_disk_free_ratio')})`,
              legend: '{{job}} {{folder}}',
            },
          ],
        }),
        line({
          title: 'Ends of keys and certificates',
          says: 'Time left. What has no end is not shown.',
          unit: 's',
          queries: [
            {
              expression: `min by (job, instance, kind, name) (${chosen('baton_expiry_timestamp_seconds')} - time()) or 0 * group(up)`,
              legend: '{{job}} {{instance}} {{kind}} {{name}}',
            },
          ],
        }),
        line({
          title: 'Certificates replaced under running processes',
          says: 'refused: a file cannot be used, and the process goes on with the one it read before.',
          unit: 'short',
          queries: [
            {
              expression: `sum by (outcome) (increase(${chosen('baton_tls_reloads_total')}[$__rate_interval])) or 0 * group(up)`,
              legend: '{{outcome}}',
            },
          ],
        }),
      ],
    },
  ],
}
