// Alerts about what Baton runs on: processes, servers, disks, connections, and what expires.
import { DAY, MINUTE } from './alert.ts'
import type { Alert } from './alert.ts'

const MACHINE = { area: 'machine' } as const

/** Of each process: another one's certificate of the same name is another certificate. */
const daysLeft = 'min by (job, instance, kind, name) (baton_expiry_timestamp_seconds - time())'

const ENDS =
  'the {{ $labels.kind }} {{ $labels.name }} of {{ $labels.job }} at {{ $labels.instance }} {{ if lt $value 0.0 }}has ended{{ else }}ends in {{ $value | humanizeDuration }}{{ end }}'

export const MACHINE_ALERTS: readonly Alert[] = [
  {
    ...MACHINE,
    name: 'BatonProcessDown',
    severity: 'page',
    summary: '{{ $labels.job }} at {{ $labels.instance }} does not answer',
    meaning: 'A process that is scraped no longer answers.',
    expression: () => 'up{job=~"baton-.+"} == 0',
    forSeconds: MINUTE,
  },
  {
    ...MACHINE,
    name: 'BatonServerUnsafe',
    severity: 'page',
    summary: '{{ $labels.server }} may lose work that it acknowledged',
    meaning: 'A setting of Postgres or Redis was changed to one that loses acknowledged work.',
    expression: () => 'max by (server) (baton_server_unsafe) > 0',
    forSeconds: MINUTE,
  },
  {
    ...MACHINE,
    name: 'BatonDiskLow',
    severity: 'ticket',
    summary: 'only {{ $value | humanizePercentage }} of the disk of {{ $labels.folder }} is free',
    meaning: 'A disk that Baton writes to will be full.',
    expression: () => 'min by (instance, folder) (baton_disk_free_ratio) < 0.15',
    forSeconds: 5 * MINUTE,
  },
  {
    ...MACHINE,
    name: 'BatonDiskFull',
    severity: 'page',
    summary: 'only {{ $value | humanizePercentage }} of the disk of {{ $labels.folder }} is free',
    meaning: 'A disk that Baton writes to is nearly full: soon nothing can be acknowledged.',
    expression: () => 'min by (instance, folder) (baton_disk_free_ratio) < 0.05',
    forSeconds: MINUTE,
  },
  {
    ...MACHINE,
    name: 'BatonExpiresSoon',
    severity: 'ticket',
    summary: ENDS,
    meaning: 'A key or certificate ends within 14 days.',
    expression: () => `${daysLeft} < ${14 * DAY}`,
  },
  {
    ...MACHINE,
    name: 'BatonExpiresNow',
    severity: 'page',
    summary: ENDS,
    meaning: 'A key or certificate ends within a day, or has ended: whoever uses it is refused.',
    expression: () => `${daysLeft} < ${DAY}`,
  },
  {
    ...MACHINE,
    name: 'BatonConnectionsExhausted',
    severity: 'ticket',
    summary: 'statements of {{ $labels.job }} wait for a connection',
    meaning:
      'A process has too few connections to Postgres for its work, or they are held too long.',
    // Nobody waits longer than 2 s, so that one look sees them and the next does not.
    expression: (span) =>
      `max by (job, instance) (max_over_time(baton_pool_connections{state="waiting"}[${span(5 * MINUTE)}])) > 0`,
    forSeconds: 5 * MINUTE,
  },
  {
    ...MACHINE,
    name: 'BatonEventLoopBlocked',
    severity: 'ticket',
    summary: '{{ $labels.job }} stands still for {{ $value | humanizeDuration }} at a time',
    meaning: 'A process is so busy that it answers late; heartbeats and leases are in danger.',
    expression: () => 'max by (job, instance) (nodejs_eventloop_lag_p99_seconds) > 0.5',
    forSeconds: 5 * MINUTE,
  },
]
