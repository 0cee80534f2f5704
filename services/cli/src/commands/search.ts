// `audit search`: what the log says of an agent, a person, a reason, a time; each record with how well it is proven.
import type { Assurance } from '@baton/audit'
import type { EntryOperation, Finding } from '@baton/ledger'
import { withAuditor } from '../auditor-client.ts'
import type { AuditorClient } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted, dollars, instant, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { formatOfFile, writeTable } from '../tables/write-table.ts'
import type { Table } from '../tables/write-table.ts'
import { keptLegend } from './describe-kept.ts'
import { nameTask } from './find-task.ts'

/** As /v1/search takes them. */
export interface SearchCriteria {
  readonly taskId?: string
  readonly subject?: string
  readonly agent?: string
  readonly fromAgent?: string
  readonly toAgent?: string
  readonly decidedBy?: string
  readonly events?: readonly string[]
  readonly reason?: string
  readonly since?: string
  readonly until?: string
  readonly minCostUSD?: number
  readonly maxCostUSD?: number
}

export interface SearchOptions {
  readonly criteria: SearchCriteria
  readonly limit: number | undefined
  readonly cursor: string | undefined
  /** A file for all of it. */
  readonly out: string | undefined
}

export interface Hit {
  readonly recordedAt: string
  readonly event: string
  readonly taskId: string
  readonly handoffId: string
  readonly attempt: number
  readonly fromAgent: string
  readonly fromVersion: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly reason: string | null
  readonly decidedBy: string | null
  readonly byPerson: boolean
  readonly releaseId: string | null
  readonly tenant: string
  /** Where it is of what operators did. */
  readonly operation: EntryOperation | null
  readonly cost: {
    readonly spentMicroUSD: number
    readonly promptTokens: number
    readonly completionTokens: number
  } | null
  readonly origin: string
  readonly seq: number
  readonly recordHash: string
  readonly assurance: Assurance
  readonly tier: 'hot' | 'cold'
  readonly findings: readonly Finding[]
}

export interface Looked {
  readonly records: number
  /** So many of them are all that were recorded there: none missing, none altered. */
  readonly proven: number
  /** Null where all of the log was looked at. */
  readonly since: string | null
  readonly findings: readonly Finding[]
}

interface Answer {
  readonly hits: readonly Hit[]
  readonly looked: Looked
  readonly cursor: string | null
}

const PAGE_MAX = 500
const SHOWN = 50
/** Rows of a file, at most: what is more is asked for by time. */
const FILE_ROWS_MAX = 100_000

/** Exit code 3 where something that was looked at was altered or is gone. `show` draws what is found. */
export async function search(
  context: Context,
  options: SearchOptions,
  show: (hits: readonly Hit[]) => string = showHits,
): Promise<ExitCode> {
  const { output } = context
  const { out, cursor } = options
  const limit = options.limit ?? (out === undefined ? SHOWN : FILE_ROWS_MAX)
  const taskId = options.criteria.taskId && (await nameTask(context, options.criteria.taskId))
  const criteria = { ...options.criteria, ...(taskId === undefined ? {} : { taskId }) }
  const needsEvidence = criteria.subject !== undefined || out !== undefined
  const exported = out === undefined ? {} : { export: formatOfFile(out) }
  const found = await withAuditor(context, needsEvidence ? 'evidence' : 'read', (auditor) =>
    readHits(auditor, { criteria, cursor, limit, exported }, (text) => output.progress(text)),
  )
  output.endProgress()
  if (out !== undefined) await writeTable(out, tableOf(found.hits))
  if (output.json)
    output.data(JSON.stringify({ ...found, ...(out === undefined ? {} : { file: out }) }))
  else if (out === undefined && found.hits.length > 0) output.data(show(found.hits))
  return report(context, found, out)
}

interface Asking extends Pick<SearchOptions, 'criteria' | 'cursor'> {
  readonly limit: number
  /** The file that it is for, if any. */
  readonly exported: object
}

/** Goes on until there are as many as wanted, or everything was looked at. */
export async function readHits(
  auditor: AuditorClient,
  { criteria, limit: wanted, cursor: start, exported }: Asking,
  progress: (text: string) => void,
): Promise<Answer> {
  const hits: Hit[] = []
  const findings: Finding[] = []
  let [records, proven] = [0, 0]
  let cursor: string | null = start ?? null
  for (;;) {
    const left = Math.min(PAGE_MAX, wanted - hits.length)
    const body = { ...criteria, ...exported, limit: left, ...(cursor === null ? {} : { cursor }) }
    const page: Answer = await auditor.json<Answer>('/v1/search', { body })
    hits.push(...page.hits)
    findings.push(...page.looked.findings)
    records += page.looked.records
    proven += page.looked.proven
    cursor = page.cursor
    if (cursor === null || hits.length >= wanted) {
      return { hits, looked: { records, proven, since: page.looked.since, findings }, cursor }
    }
    progress(`${counted(records, 'record')} looked at, back to ${instant(page.looked.since ?? '')}`)
  }
}

const showHits = (hits: readonly Hit[]): string =>
  renderTable(
    [
      { title: 'TIME (UTC)' },
      { title: 'TASK' },
      { title: 'HANDOFF', widthMax: 44 },
      { title: 'EVENT' },
      { title: 'REASON', widthMax: 28 },
      { title: 'DECIDED BY', widthMax: 28 },
      { title: 'SPENT', align: 'right' },
      { title: 'KEPT' },
      { title: 'RECORD' },
    ],
    hits.map((hit) => [
      instant(hit.recordedAt),
      short(hit.taskId),
      `${hit.fromAgent} → ${hit.toAgent}`,
      hit.event,
      hit.reason ?? '',
      decider(hit),
      hit.cost === null ? '' : dollars(hit.cost.spentMicroUSD),
      hit.findings.length > 0 ? 'NOT PROVEN' : hit.assurance,
      short(hit.recordHash),
    ]),
  )

const decider = ({ decidedBy, byPerson }: Hit): string =>
  decidedBy === null ? '' : byPerson ? decidedBy : `checks of ${decidedBy}`

function report({ output }: Context, { hits, looked, cursor }: Answer, out?: string): ExitCode {
  const file = out === undefined ? '' : ` in ${out}; that is recorded in the log`
  output.words(`\n${counted(hits.length, 'record')}${file}.`)
  const back = looked.since === null ? 'all there are' : `back to ${instant(looked.since)}`
  output.words(`Looked at ${counted(looked.records, 'record')} in both tiers, ${back}.`)
  for (const line of keptLegend(hits)) output.words(line)
  const broken = [...looked.findings, ...hits.flatMap(({ findings }) => findings)]
  for (const { origin, seq, message } of broken.slice(0, FINDINGS_SHOWN)) {
    output.words(`✗ ${origin} ${seq ?? ''}: ${message}`)
  }
  if (broken.length > 0) {
    output.next(nextStep('verify'))
    return EXIT.verificationFailed
  }
  output.words(describeProven(looked))
  if (cursor !== null) output.words(`There is more: give --cursor ${cursor}, or narrow the time.`)
  const [first] = hits
  output.next(nextStep(first === undefined ? 'verify' : `trace ${short(first.taskId)}`))
  return EXIT.fine
}

const FINDINGS_SHOWN = 10

/** What is shown is proven hit by hit; that nothing is missing among them is another question. */
export function describeProven({ records, proven }: Looked): string {
  if (records === 0) return 'No record was looked at, so nothing is proven.'
  if (proven === records)
    return 'Proven: these are all the records that were made there; none is missing, none was altered.'
  const rest = `that none is missing among ${proven === 0 ? 'them' : `the other ${count(records - proven)}`} is not proven: no seal covers them yet, or none is known.`
  return proven === 0
    ? `Each record shown is proven as it says; ${rest}`
    : `Proven: of ${count(proven)} none is missing, none was altered; ${rest}`
}

const tableOf = (hits: readonly Hit[]): Table => ({
  columns: [
    { name: 'recorded_at', type: 'text' },
    { name: 'event', type: 'text' },
    { name: 'task_id', type: 'text' },
    { name: 'handoff_id', type: 'text' },
    { name: 'attempt', type: 'number' },
    { name: 'from_agent', type: 'text' },
    { name: 'from_version', type: 'text' },
    { name: 'to_agent', type: 'text' },
    { name: 'to_version', type: 'text' },
    { name: 'reason', type: 'text' },
    { name: 'decided_by', type: 'text' },
    { name: 'by_person', type: 'flag' },
    { name: 'release_id', type: 'text' },
    { name: 'spent_micro_usd', type: 'number' },
    { name: 'prompt_tokens', type: 'number' },
    { name: 'completion_tokens', type: 'number' },
    { name: 'chain', type: 'text' },
    { name: 'seq', type: 'number' },
    { name: 'record_hash', type: 'text' },
    { name: 'kept', type: 'text' },
    { name: 'proven', type: 'flag' },
  ],
  rows: hits.map((hit) => [
    hit.recordedAt,
    hit.event,
    hit.taskId,
    hit.handoffId,
    hit.attempt,
    hit.fromAgent,
    hit.fromVersion,
    hit.toAgent,
    hit.toVersion,
    hit.reason,
    hit.decidedBy,
    hit.byPerson,
    hit.releaseId,
    hit.cost?.spentMicroUSD ?? null,
    hit.cost?.promptTokens ?? null,
    hit.cost?.completionTokens ?? null,
    hit.origin,
    hit.seq,
    hit.recordHash,
    hit.assurance,
    hit.findings.length === 0 && hit.assurance !== 'committed',
  ]),
})
