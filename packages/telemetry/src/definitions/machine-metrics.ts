// The metrics of what Baton runs on: processes, servers, disks, connections, and what comes to an end.
import type { MetricDefinition } from '../metric-definition.ts'

export const MACHINE_METRICS = {
  buildInfo: {
    name: 'baton_build_info',
    kind: 'gauge',
    help: 'Always 1: which process of which version this is.',
    labels: ['version', 'service'],
    filledBy: 'every process',
  },
  executionsActive: {
    name: 'baton_executions_active',
    kind: 'gauge',
    help: 'Handoffs that this process has in hand, by agent type.',
    labels: ['agent'],
    filledBy: 'receiver',
  },
  executionsLimit: {
    name: 'baton_executions_limit',
    kind: 'gauge',
    help: 'How many handoffs of an agent type this process takes in hand at once.',
    labels: ['agent'],
    filledBy: 'receiver',
  },
  poolConnections: {
    name: 'baton_pool_connections',
    kind: 'gauge',
    help: 'Connections of this process to Postgres, and how many statements wait for one.',
    labels: ['state'],
    values: ['busy', 'idle', 'waiting'],
    filledBy: 'every process with connections to Postgres',
  },
  breakerOpen: {
    name: 'baton_breaker_open',
    kind: 'gauge',
    help: '1 while a circuit breaker is open: this process does not ask that target.',
    labels: ['target'],
    filledBy:
      'receiver, relay, gateway: `auditor`; receiver: `outside`, the agents that are called; receiver, gateway: `classifier`, of one tenant or of all; gateway: `auditor_reads`, `receiver`, which is called for `mode=sync`',
  },
  serverUnsafe: {
    name: 'baton_server_unsafe',
    kind: 'gauge',
    help: 'Settings of a server that would lose acknowledged work.',
    labels: ['server'],
    filledBy: 'relay, receiver, gateway, auditor',
  },
  diskFreeRatio: {
    name: 'baton_disk_free_ratio',
    kind: 'gauge',
    help: 'Free share of the disk of a folder that this process writes to.',
    labels: ['folder'],
    filledBy: 'archiver: `cold`; sealer: `state`, `anchor`',
  },
  databaseBytes: {
    name: 'baton_database_bytes',
    kind: 'gauge',
    help: 'Size of a database.',
    labels: ['database'],
    filledBy: 'relay (receiver without Redis): `baton`; auditor: `baton_audit`',
  },
  logRecordsDroppedTotal: {
    name: 'baton_log_records_dropped_total',
    kind: 'counter',
    help: 'Log lines that OpenTelemetry did not get, because its collector was away or too slow.',
    labels: [],
    filledBy: 'every process that sends its log by OTLP',
  },
  expiryTimestampSeconds: {
    name: 'baton_expiry_timestamp_seconds',
    kind: 'gauge',
    help: 'Unix time at which something stops being accepted.',
    labels: ['kind', 'name'],
    filledBy:
      'gateway: `api_key`; every process with certificates: `certificate`, `authority`; only what has an end',
  },
  tlsReloadsTotal: {
    name: 'baton_tls_reloads_total',
    kind: 'counter',
    help: 'Files of certificates, keys and authorities that changed under a running process: taken, or refused because they cannot be used.',
    labels: ['outcome'],
    values: ['taken', 'refused'],
    filledBy: 'every process with such files',
  },
} as const satisfies Record<string, MetricDefinition>
