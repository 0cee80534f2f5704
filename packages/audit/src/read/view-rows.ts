// What the views of the log must show of proven records, and how rows that somebody was shown differ from that.
import { isDeepStrictEqual } from 'node:util'
import { EVENT_NUMBERS, parseInstant } from '@baton/ledger'
import type { AuditEvent, RecordBody } from '@baton/ledger'
import type { TaskTrace, TraceRecord } from './read-trace.ts'

export type ViewName = 'handoff_audit' | 'handoff_events'

/** One row by name of its column: texts out of CSV, values out of JSON; null and an empty text are the same. */
export type ShownRow = Readonly<Record<string, unknown>>

type Cell = (shown: unknown) => unknown
/** How a column's value is read, whoever wrote it: equal values read the same. */
const text: Cell = (shown) =>
  shown === null || shown === '' ? null : typeof shown === 'string' ? shown : JSON.stringify(shown)
const number: Cell = (shown) => (shown === null || shown === '' ? null : Number(shown))
/** An amount in USD as whole micro-dollars. */
const money: Cell = (shown) =>
  shown === null || shown === '' ? null : Math.round(Number(shown) * 1_000_000)
const instant: Cell = (shown) => (typeof shown === 'string' ? microsOf(shown) : shown)
const json: Cell = (shown) =>
  typeof shown === 'string' ? parsed(shown) : shown === null ? null : parsed(JSON.stringify(shown))
/** A set of names, as an array of Postgres or of JSON. */
const names: Cell = (shown) =>
  (typeof shown === 'string' ? namesOf(shown) : (shown as string[] | null))?.toSorted() ?? null

const INSTANT = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?(Z|[+-]\d\d(?::?\d\d)?)$/

/** Microseconds since 1970 of an instant as Postgres or JSON writes it; undefined for anything else. */
function microsOf(shown: string): number | null | undefined {
  if (shown === '') return null
  const [, day, time, fraction = '', zone = ''] = INSTANT.exec(shown) ?? []
  if (day === undefined) return undefined
  const offset = zone.length === 3 ? `${zone}:00` : zone.replace(/^(.\d\d)(\d\d)$/, '$1:$2')
  return Date.parse(`${day}T${time}${offset}`) * 1_000 + Number(fraction.padEnd(6, '0'))
}

function parsed(shown: string): unknown {
  if (shown === '') return null
  try {
    return JSON.parse(shown)
  } catch {
    return undefined
  }
}

/** `{counsel,"second person"}`; undefined for what is no such list. */
function namesOf(shown: string): string[] | undefined {
  if (shown === '') return undefined
  if (!/^\{.*\}$/s.test(shown)) return [shown]
  const items = shown.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)
  return [...items].map(([, quoted, plain]) => quoted?.replaceAll(/\\(.)/gs, '$1') ?? plain ?? '')
}

interface Column<Of> {
  readonly read: Cell
  readonly of: (of: Of) => unknown
}
type Columns<Of> = Readonly<Record<string, Column<Of>>>

const column = <Of>(read: Cell, of: (of: Of) => unknown): Column<Of> => ({ read, of })

/** What both views show of one record. */
const OF_RECORD: Columns<TraceRecord> = {
  handoffid: column(text, ({ body }) => body.handoffId),
  taskid: column(text, ({ body }) => body.taskId),
  parenthandoffid: column(text, ({ body }) => body.parentHandoffId),
  fromagent: column(text, ({ body }) => body.fromAgent.agentId),
  toagent: column(text, ({ body }) => body.toAgent.agentType),
  reason: column(text, ({ body }) => body.reason),
  attempt: column(number, ({ body }) => body.attempt),
  verdicts: column(json, ({ body }) => body.verdicts),
  costs: column(json, ({ body }) => body.cost),
  costathandoff: column(money, ({ body }) => usdOf(body)),
  timestamp: column(instant, ({ body }) => body.recordedAt),
  traceparent: column(text, ({ body }) => body.traceparent),
  chain: column(text, ({ body }) => body.origin),
  seq: column(number, ({ body }) => body.seq),
  recordhash: column(text, ({ recordHash }) => recordHash),
  previousrecordhash: column(text, ({ body }) => body.previousRecordHash),
  releaseid: column(text, ({ body }) => body.release ?? null),
}

const usdOf = ({ cost }: RecordBody): number | null =>
  cost === null ? null : cost.spentMicroUSD / 1_000_000

const OF_EVENT: Columns<TraceRecord> = {
  ...OF_RECORD,
  event: column(text, ({ body }) => body.event),
  fromagentversion: column(text, ({ body }) => body.fromAgent.agentVersion),
  executionid: column(text, ({ body }) => body.fromAgent.executionId),
  epoch: column(number, ({ body }) => body.epoch),
  taskseq: column(number, ({ body }) => body.taskSeq),
  recordid: column(text, ({ body }) => body.recordId),
  toagentversion: column(text, ({ body }) => body.toAgent.agentVersion),
  actor: column(text, ({ body }) => body.act?.actor ?? null),
  actid: column(text, ({ body }) => body.act?.id ?? null),
}

/** A handoff's newest decision, and all records that say something about the handoff, oldest first. */
interface Decided {
  readonly decision: TraceRecord
  readonly about: readonly RecordBody[]
}

const STATUSES: Readonly<Partial<Record<AuditEvent, string>>> = {
  HANDOFF_ACCEPTED: 'ACCEPTED',
  HANDOFF_BLOCKED: 'BLOCKED',
}

const OF_DECISION: Columns<Decided> = {
  ...Object.fromEntries(
    Object.entries(OF_RECORD).map(([name, { read, of }]) => [
      name,
      column<Decided>(read, ({ decision }) => of(decision)),
    ]),
  ),
  status: column(text, ({ decision }) => STATUSES[decision.body.event] ?? 'REJECTED'),
  overriddenreason: column(text, (of) => overridden(of)?.reason ?? null),
  overriddenverdicts: column(json, (of) => overridden(of)?.verdicts ?? null),
  decidedby: column(names, ({ about }) => actorsOf(about)),
  decisions: column(json, ({ about }) => decisionsOf(about)),
  executedversion: column(text, ({ about }) => executedVersion(about)),
}

const COLUMNS = { handoff_audit: OF_DECISION, handoff_events: OF_EVENT } as const

/** The newest rejection, where the decision rests on a release. */
const overridden = ({ decision, about }: Decided): RecordBody | undefined =>
  decision.body.release === undefined
    ? undefined
    : about.findLast(({ event }) => event === 'HANDOFF_REJECTED')

function actorsOf(about: readonly RecordBody[]): readonly string[] | null {
  const actors = new Set(about.flatMap(({ act }) => (act === undefined ? [] : [act.actor])))
  return actors.size === 0 ? null : [...actors]
}

const EXECUTIONS: readonly AuditEvent[] = ['EXECUTION_COMPLETED', 'EXECUTION_FAILED', 'ROLLED_BACK']

const decisionsOf = (about: readonly RecordBody[]): readonly object[] =>
  about
    .filter(({ event }) => !EXECUTIONS.includes(event))
    .map(({ event, act, reason, release, recordedAt, seq }) => ({
      event,
      ...(act === undefined ? {} : { by: act.actor }),
      ...(reason === null ? {} : { reason }),
      ...(release === undefined ? {} : { release }),
      at: recordedAt,
      seq,
    }))

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

function executedVersion(about: readonly RecordBody[]): string | null {
  const ended = about.findLast(
    ({ event, reason }) =>
      EXECUTIONS.includes(event) &&
      (event !== 'ROLLED_BACK' || reason?.startsWith('BATON_') === true),
  )
  return VERSION.exec(ended?.toAgent.agentVersion ?? '')?.[0] ?? null
}

/** Decisions, ends of executions, and what people do about a handoff: as `handoff_audit` counts them. */
const ABOUT_HANDOFFS: ReadonlySet<number> = new Set([
  1, 2, 4, 5, 6, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 25, 26, 28, 29, 38,
])

/** What a view must show of a task, each row as it is read; days that left the database are in none. */
function rowsOf(view: ViewName, { records }: Pick<TaskTrace, 'records'>): readonly ExpectedRow[] {
  const hot = records.filter(({ tier }) => tier === 'hot').toSorted(byTime)
  if (view === 'handoff_events') return hot.map((record) => expected(OF_EVENT, record, record))
  const handoffs = Map.groupBy(hot, ({ body }) => body.handoffId)
  const decided = [...handoffs.values()].flatMap((of) => {
    const decision =
      of.findLast(({ body }) => DECISIONS.includes(body.event)) ??
      of.findLast(({ body }) => body.event === 'SEND_REFUSED')
    const about = of
      .map(({ body }) => body)
      .filter(({ event }) => ABOUT_HANDOFFS.has(EVENT_NUMBERS[event]))
    return decision === undefined ? [] : [expected(OF_DECISION, { decision, about }, decision)]
  })
  return [...archivedRow(records.filter(({ tier }) => tier === 'cold')), ...decided]
}

const DECISIONS: readonly AuditEvent[] = ['HANDOFF_ACCEPTED', 'HANDOFF_REJECTED', 'HANDOFF_BLOCKED']

/** What `handoff_audit` says of records that left the database: how many, until when, and how to read them (E19). */
function archivedRow(cold: readonly TraceRecord[]): readonly ExpectedRow[] {
  const record = cold.toSorted((one, other) => one.body.seq - other.body.seq).at(-1)
  if (record === undefined) return []
  const { taskId } = record.body
  const reason = `in the cold store: ${cold.length} of its records; read all with baton trace ${taskId}, or GET /v2/tasks/${taskId}/trace`
  const said = { status: 'ARCHIVED', reason }
  const kept = ['taskid', 'timestamp', 'chain', 'seq', 'recordhash']
  const values = Object.entries(OF_DECISION).map(([name, { read }]): [string, unknown] => {
    if (name in said) return [name, said[name as keyof typeof said]]
    return [name, kept.includes(name) ? read(OF_RECORD[name]?.of(record)) : null]
  })
  return [{ record, values: new Map(values) }]
}

const timeOf = ({ body }: TraceRecord): number => parseInstant(body.recordedAt) ?? 0
const byTime = (one: TraceRecord, other: TraceRecord): number =>
  timeOf(one) - timeOf(other) || one.body.seq - other.body.seq

interface ExpectedRow {
  readonly record: TraceRecord
  readonly values: ReadonlyMap<string, unknown>
}

function expected<Of>(columns: Columns<Of>, of: Of, record: TraceRecord): ExpectedRow {
  const values = Object.entries(columns).map(
    ([name, { read, of: value }]) => [name, read(value(of))] as const,
  )
  return { record, values: new Map(values) }
}

/** The view that has these columns; undefined where they are of none, or of no whole row. */
export function viewOf(columns: readonly string[]): ViewName | undefined {
  if (!['taskid', 'recordhash', 'handoffid'].every((name) => columns.includes(name)))
    return undefined
  if (columns.includes('status')) return 'handoff_audit'
  return columns.includes('event') ? 'handoff_events' : undefined
}

/** The columns that this version cannot hold against a record. */
export const unknownColumns = (view: ViewName, columns: readonly string[]): readonly string[] =>
  columns.filter((name) => !(name in COLUMNS[view]))

export interface RowFinding {
  /** From 1, in the order in which they were shown; null for a row that was not shown. */
  readonly row: number | null
  readonly handoffId: string
  /** One sentence. */
  readonly message: string
}

export interface CheckedRows {
  /** The records behind the rows that say what they say. */
  readonly records: readonly TraceRecord[]
  readonly findings: readonly RowFinding[]
}

/** Holds the rows of one task against its proven records; `rows` have their number. */
export function checkRows(
  view: ViewName,
  rows: readonly (readonly [number, ShownRow])[],
  trace: Pick<TaskTrace, 'records'>,
): CheckedRows {
  const open = new Set(rowsOf(view, trace))
  const records: TraceRecord[] = []
  const findings: RowFinding[] = []
  for (const [row, shown] of rows) {
    const match = matchOf(view, shown, open)
    const differing = match === undefined ? [] : differencesOf(view, shown, match)
    if (match !== undefined) open.delete(match)
    const handoffId = String(shown['handoffid'])
    if (match === undefined)
      findings.push({ row, handoffId, message: 'no record of the log is behind this row' })
    else if (differing.length === 0) records.push(match.record)
    for (const message of differing) findings.push({ row, handoffId, message })
  }
  for (const { record } of open) {
    const { handoffId, seq, event } = record.body
    findings.push({
      row: null,
      handoffId,
      message: `the row of record ${seq} (${event}) is missing`,
    })
  }
  return { records, findings }
}

/** The record that a row tells of: the one it names by its hash, else by its place, else by its handoff. */
function matchOf(
  view: ViewName,
  shown: ShownRow,
  open: ReadonlySet<ExpectedRow>,
): ExpectedRow | undefined {
  const keys = [
    ['recordhash'],
    ['chain', 'seq'],
    view === 'handoff_audit' ? ['handoffid'] : ['recordid'],
  ]
  for (const key of keys)
    for (const row of open)
      if (key.every((name) => name in shown && isSame(view, name, shown, row))) return row
  return undefined
}

const isSame = (view: ViewName, name: string, shown: ShownRow, { values }: ExpectedRow): boolean =>
  isDeepStrictEqual(COLUMNS[view][name]?.read(shown[name]), values.get(name))

function differencesOf(view: ViewName, shown: ShownRow, row: ExpectedRow): readonly string[] {
  const known = Object.keys(shown).filter((name) => name in COLUMNS[view])
  return known
    .filter((name) => !isSame(view, name, shown, row))
    .map((name) => {
      const was = JSON.stringify(row.values.get(name))
      const is = JSON.stringify(COLUMNS[view][name]?.read(shown[name]))
      return `${name} says ${is ?? 'nothing that can be read'}, record ${row.record.body.seq} says ${was}`
    })
}
