// `audit cost`: what was spent, by agent, by way and by day; running totals are never added up.
import { withAuditor } from '../auditor-client.ts'
import type { AuditorClient } from '../auditor-client.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { count, counted, dollars, short } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'
import { formatOfFile, writeTable } from '../tables/write-table.ts'
import type { Table } from '../tables/write-table.ts'
import { describeProven } from './search.ts'
import type { Looked } from './search.ts'

export type CostKey = 'agent' | 'to' | 'day'

export interface CostOptions {
  readonly by: readonly CostKey[]
  readonly since: string | undefined
  readonly until: string | undefined
  /** A file for all of it. */
  readonly out: string | undefined
}

interface Row {
  readonly agent: string | null
  readonly to: string | null
  readonly day: string | null
  readonly spentMicroUSD: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly charges: number
}

interface Costs {
  readonly rows: readonly Row[]
  readonly records: { readonly proven: number; readonly unproven: number }
  readonly doubtful: readonly string[]
  readonly expired: readonly string[]
  readonly looked: Looked
}

type Page = Costs & { readonly cursor: string | null }

/** Exit code 3 where a record that an amount follows from was altered or is gone, 4 where it has expired. */
export async function cost(context: Context, options: CostOptions): Promise<ExitCode> {
  const { output } = context
  const { by, since, until, out } = options
  const asked = {
    by,
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(out === undefined ? {} : { export: formatOfFile(out) }),
  }
  const costs = await withAuditor(context, out === undefined ? 'read' : 'evidence', (auditor) =>
    readAll(auditor, asked, (text) => output.progress(text)),
  )
  output.endProgress()
  if (out !== undefined) await writeTable(out, tableOf(by, costs))
  if (output.json)
    output.data(JSON.stringify({ ...costs, ...(out === undefined ? {} : { file: out }) }))
  else if (out === undefined) output.data(show(by, costs))
  return report(context, costs, out)
}

async function readAll(
  auditor: AuditorClient,
  asked: object,
  progress: (text: string) => void,
): Promise<Costs> {
  const pages: Page[] = []
  for (;;) {
    const cursor = pages.at(-1)?.cursor ?? null
    const body = { ...asked, ...(cursor === null ? {} : { cursor }) }
    pages.push(await auditor.json<Page>('/v1/costs', { body }))
    if (pages.at(-1)?.cursor === null) return addUp(pages)
    const looked = pages.reduce((sum, { looked: { records } }) => sum + records, 0)
    progress(`${counted(looked, 'record')} looked at`)
  }
}

/** An answer is of a part of the log, and parts add up. */
function addUp(pages: readonly Page[]): Costs {
  const sum = (pick: (page: Page) => number) => pages.reduce((total, page) => total + pick(page), 0)
  const rows = new Map<string, Row>()
  for (const row of pages.flatMap((page) => page.rows)) {
    const key = JSON.stringify([row.day, row.agent, row.to])
    const before = rows.get(key)
    rows.set(key, before === undefined ? row : together(before, row))
  }
  return {
    rows: [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row),
    records: {
      proven: sum(({ records }) => records.proven),
      unproven: sum(({ records }) => records.unproven),
    },
    doubtful: [...new Set(pages.flatMap(({ doubtful }) => doubtful))],
    expired: [...new Set(pages.flatMap(({ expired }) => expired))],
    looked: {
      records: sum(({ looked }) => looked.records),
      proven: sum(({ looked }) => looked.proven),
      since: null,
      findings: pages.flatMap(({ looked }) => looked.findings),
    },
  }
}

const together = (left: Row, right: Row): Row => ({
  ...left,
  spentMicroUSD: left.spentMicroUSD + right.spentMicroUSD,
  promptTokens: left.promptTokens + right.promptTokens,
  completionTokens: left.completionTokens + right.completionTokens,
  charges: left.charges + right.charges,
})

const TITLES: Readonly<Record<CostKey, string>> = {
  day: 'DAY (UTC)',
  agent: 'AGENT',
  to: 'HANDED TO',
}
const ORDER = ['day', 'agent', 'to'] as const
const keysIn = (by: readonly CostKey[]) => ORDER.filter((key) => by.includes(key))

function show(by: readonly CostKey[], { rows }: Costs): string {
  const keys = keysIn(by)
  const total = rows.reduce(together, NOTHING)
  const amounts = (row: Row) => [
    dollars(row.spentMicroUSD),
    count(row.promptTokens),
    count(row.completionTokens),
  ]
  return renderTable(
    [
      ...keys.map((key) => ({ title: TITLES[key], widthMax: 40 })),
      ...['SPENT', 'PROMPT TOKENS', 'COMPLETION TOKENS'].map((title) => ({
        title,
        align: 'right' as const,
      })),
    ],
    [
      ...rows.map((row) => [...keys.map((key) => row[key] ?? '(task ended)'), ...amounts(row)]),
      [...keys.map((_, at) => (at === 0 ? 'total' : '')), ...amounts(total)],
    ],
  )
}

const NOTHING: Row = {
  agent: null,
  to: null,
  day: null,
  spentMicroUSD: 0,
  promptTokens: 0,
  completionTokens: 0,
  charges: 0,
}

function report({ output }: Context, costs: Costs, out: string | undefined): ExitCode {
  const { records, doubtful, expired, looked } = costs
  if (out !== undefined) {
    output.words(`${counted(costs.rows.length, 'row')} in ${out}; that is recorded in the log.`)
  }
  output.words(
    `\nDifferences of running totals, each counted once, on the day the log says so; from ${counted(records.proven, 'proven record')}` +
      (records.unproven === 0 ? '.' : ` and ${count(records.unproven)} that no seal covers yet.`),
  )
  output.words(`Looked at ${counted(looked.records, 'record')} in both tiers.`)
  if (looked.findings.length === 0) output.words(describeProven(looked))
  for (const taskId of doubtful.slice(0, SHOWN_MAX)) {
    output.words(`✗ task ${taskId}: a record is altered or missing; what it cost may be wrong`)
  }
  if (expired.length > 0) {
    output.words(
      `Of ${counted(expired.length, 'task')} the first records have expired: what was spent then may be counted with what is left.`,
    )
  }
  for (const { origin, seq, message } of looked.findings.slice(0, SHOWN_MAX)) {
    output.words(`✗ ${origin} ${seq ?? ''}: ${message}`)
  }
  const [first] = doubtful
  output.next(
    nextStep(first === undefined ? 'audit search --min-cost 0.001' : `verify ${short(first)}`),
  )
  if (looked.findings.length + doubtful.length > 0) return EXIT.verificationFailed
  return expired.length > 0 ? EXIT.incomplete : EXIT.fine
}

const SHOWN_MAX = 10

const tableOf = (by: readonly CostKey[], { rows }: Costs): Table => ({
  columns: [
    ...keysIn(by).map((name) => ({ name, type: 'text' as const })),
    { name: 'spent_micro_usd', type: 'number' },
    { name: 'prompt_tokens', type: 'number' },
    { name: 'completion_tokens', type: 'number' },
  ],
  rows: rows.map((row) => [
    ...keysIn(by).map((key) => row[key]),
    row.spentMicroUSD,
    row.promptTokens,
    row.completionTokens,
  ]),
})
