// What must hold of decisions: recorded before the effect, in a log without gaps, each for its own reason, in one trace.
import { OPERATION_EVENTS } from '@baton/ledger'
import { groupBy, hasEffect, traceIdOf } from './evidence.ts'
import type { CampaignInvariant, Evidence, HandoffRow } from './evidence.ts'
import type { Operation } from './history.ts'

/** Two clocks of one machine: a process's own and Postgres'. */
const CLOCKS_APART_MS = 5

function unaudited(evidence: Evidence): readonly string[] {
  const accepted = groupBy(
    evidence.records.filter((record) => record.event === 'HANDOFF_ACCEPTED'),
    (record) => `${record.handoffId} ${record.epoch}`,
  )
  const executed = evidence.ledger
    .filter((line) => line.what === 'start')
    .flatMap((line) => {
      const [decision, ...others] = accepted.get(`${line.handoffId} ${line.fencingToken}`) ?? []
      const which = `${line.handoffId} fencing token ${line.fencingToken}`
      if (decision === undefined) return [`executed without a decision record: ${which}`]
      if (others.length > 0) return [`two decision records: ${which}`]
      const earlyMs = Math.round(decision.at - line.at)
      return earlyMs <= CLOCKS_APART_MS
        ? []
        : [`executed ${earlyMs} ms before its decision record: ${which}`]
    })
  const receipts = evidence.handoffs
    .filter(hasEffect)
    .filter((row) => accepted.get(`${row.id} ${row.fencingToken}`)?.[0]?.hash !== row.auditHash)
    .map((row) => `committed under a receipt that the log does not have: ${row.id}`)
  return [...executed, ...receipts]
}

/** Which event tells of each end. */
const EVENT_OF_STATE: Readonly<Record<string, string>> = {
  COMPLETED: 'EXECUTION_COMPLETED',
  PARTIAL: 'EXECUTION_COMPLETED',
  ROLLED_BACK: 'ROLLED_BACK',
  DEAD_LETTERED: 'DEAD_LETTERED',
  REJECTED: 'HANDOFF_REJECTED',
  EXPIRED: 'HANDOFF_EXPIRED',
  CANCELED: 'HANDOFF_CANCELED',
}

const eventOf = ({ state, reason }: HandoffRow): string | undefined =>
  reason === 'APPROVAL_REFUSED' ? reason : EVENT_OF_STATE[state]

/** What people may make of a handoff, and the record that has to say so. */
const BY_PEOPLE: readonly { readonly state: string; readonly event: string }[] = [
  { state: 'CANCELED', event: 'CANCEL_REQUESTED' },
  { state: 'COMPLETED', event: 'HANDOFF_RELEASED' },
  { state: 'COMPLETED', event: 'HANDOFF_REVISED' },
]

/** They stand under ids of their own, or with the task whose text was read. */
const OF_OPERATORS: ReadonlySet<string> = new Set(OPERATION_EVENTS)

function chainBroken({ chain, records, handoffs, stuck }: Evidence): readonly string[] {
  const waiting = new Set(stuck)
  const known = new Set(handoffs.map((row) => row.id))
  const told = new Set(records.map((record) => `${record.handoffId} ${record.event}`))
  return [
    ...(chain.ok ? [] : [`does not verify: ${JSON.stringify(chain.findings.slice(0, 3))}`]),
    ...records
      .filter(({ event, handoffId }) => !known.has(handoffId) && !OF_OPERATORS.has(event))
      .map((record) => `${record.event} of a handoff that is not stored: ${record.handoffId}`),
    ...handoffs
      .filter((row) => eventOf(row) !== undefined && !told.has(`${row.id} ${eventOf(row)}`))
      .filter(({ id }) => !waiting.has(`event not shipped: ${id}`))
      .map(({ id, state }) => `${state} without its record: ${id}`),
  ]
}

function endedOtherwise({ operations, handoffs, records }: Evidence): readonly string[] {
  const told = new Set(records.map((record) => `${record.handoffId} ${record.event}`))
  const rows = new Map(handoffs.map((row) => [row.id, row]))
  return operations.flatMap(({ handoffId, kind, expect }) => {
    const row = rows.get(handoffId)
    if (row === undefined || row.endedAt === null || row.reason === 'POISON') return []
    const asExpected =
      (expect.states.length === 0 || expect.states.includes(row.state)) &&
      (expect.reason === undefined || row.reason === expect.reason)
    const decided = BY_PEOPLE.some(
      ({ state, event }) => state === row.state && told.has(`${row.id} ${event}`),
    )
    if (asExpected || decided) return []
    const wanted = `${expect.states.join(' or ')} ${expect.reason ?? ''}`.trim()
    return [`${kind} ended ${row.state} ${row.reason ?? ''}, not ${wanted}: ${handoffId}`]
  })
}

const NEVER_EXECUTED: ReadonlySet<string> = new Set([
  'SAFETY_VIOLATION',
  'SIGNATURE_INVALID',
  'BUDGET_EXHAUSTED',
  'SCHEMA_INVALID',
  'INCOMPLETE_CONTEXT',
])
/** A process may be stopped between its receipt and its agent; it is then late, and commits nothing. */
const STOPPED_MAX_LEASES = 5

function executedAllTheSame({ handoffs, ledger, limits }: Evidence): readonly string[] {
  const lines = groupBy(ledger, (line) => line.handoffId)
  return handoffs.flatMap((row) => {
    const own = lines.get(row.id) ?? []
    if (NEVER_EXECUTED.has(row.reason ?? '') && own.length > 0) {
      return [`executed in spite of ${row.reason}: ${row.id}`]
    }
    const over = row.state === 'EXPIRED' || row.state === 'CANCELED'
    const latest = (row.endedAt ?? Infinity) + STOPPED_MAX_LEASES * limits.leaseMs
    return over && own.some((line) => line.at > latest)
      ? [`executed after it was ${row.state}: ${row.id}`]
      : []
  })
}

function splitTraces({ operations, handoffs, records, ledger }: Evidence): readonly string[] {
  const traces = new Map<string, Set<string>>()
  const seen = (taskId: string, traceId: string) => {
    if (traceId !== '') traces.set(taskId, (traces.get(taskId) ?? new Set()).add(traceId))
  }
  for (const operation of stored(operations, handoffs)) seen(operation.taskId, operation.traceId)
  for (const row of handoffs) seen(row.taskId, traceIdOf(row.traceparent))
  for (const record of records) seen(record.taskId, record.traceId)
  for (const line of ledger) seen(line.taskId, traceIdOf(line.traceparent))
  return [...traces]
    .filter(([, ids]) => ids.size > 1)
    .map(([taskId, ids]) => `${ids.size} trace ids: task ${taskId}`)
}

function stored(operations: readonly Operation[], handoffs: Evidence['handoffs']) {
  const known = new Set(handoffs.map((row) => row.id))
  return operations.filter(({ handoffId }) => known.has(handoffId))
}

export const DECISION_INVARIANTS: readonly CampaignInvariant[] = [
  {
    id: 'I4',
    promise: 'I3',
    rule: 'every execution has one decision record of its fencing token, and it is earlier',
    check: unaudited,
  },
  {
    id: 'I5',
    promise: 'I10',
    rule: 'the audit chains verify, without a gap and without a stranger',
    check: chainBroken,
  },
  {
    id: 'I10',
    promise: 'I6',
    rule: 'every handoff ends as its kind must, and nothing refused executes',
    check: (evidence) => [...endedOtherwise(evidence), ...executedAllTheSame(evidence)],
  },
  {
    id: 'I15',
    promise: 'I9',
    rule: 'one trace id on every hop, execution and record of a task',
    check: splitTraces,
  },
]
