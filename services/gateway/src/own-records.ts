// What of a trace is a tenant's: under one id records of several can stand, and none is shown, or kept from its own, for another's.
import { DEFAULT_TENANT } from '@baton/ledger'
import type { AuditEvent, TaskCost } from '@baton/ledger'
import type { RecordedTrace } from './task-trace.ts'

/** What the auditor itself records of a task, without saying whose it is. */
const OF_NO_TENANT: ReadonlySet<unknown> = new Set<AuditEvent>([
  'LEGAL_HOLD_SET',
  'LEGAL_HOLD_LIFTED',
  'EVIDENCE_EXPORTED',
  'VERIFY_RUN',
  'PARTITION_DROPPED',
])

interface Reader {
  readonly tenant: string
  /** Whether the task is the reader's, and with it what the auditor did with it. */
  readonly isOwner: boolean
}

/** The same trace where all of it is the reader's; else its own records, and of the others only whether they are as they were recorded. */
export function ownTrace(trace: RecordedTrace, { tenant, isOwner }: Reader): RecordedTrace {
  const isOwn = (record: object): boolean => {
    const { body } = record as Told
    if (body?.tenant === undefined && OF_NO_TENANT.has(body?.event)) return isOwner
    return tenantOf(record) === tenant
  }
  const whole = trace.records.every((record) => isOwn(record) || tenantOf(record) === tenant)
  if (whole) return trace
  const { taskId, verified, unrecorded, expiredHandoffs, alteredStreams, isAbsent } = trace
  const told = { taskId, verified, unrecorded, expiredHandoffs, alteredStreams, isAbsent }
  return { ...told, ...NOT_TOLD, records: trace.records.filter(isOwn) }
}

interface Told {
  readonly body?: { readonly event?: unknown; readonly tenant?: unknown }
}

/** Of the default tenant's, none says whose it is. */
const tenantOf = (record: object): unknown => (record as Told).body?.tenant ?? DEFAULT_TENANT

const NO_COST: TaskCost = {
  hops: [],
  totalSpentMicroUSD: 0,
  finalExecutionsMicroUSD: 0,
  sumOfSnapshotsMicroUSD: 0,
  byAgentMicroUSD: {},
  byPathMicroUSD: {},
  totalTokens: { promptTokens: 0, completionTokens: 0 },
  tokensByAgent: {},
  tokensByPath: {},
}

/** What sums up records of others too. */
const NOT_TOLD = { expired: 0, gaps: [], findings: [], ends: [], seenBy: null, cost: NO_COST }
