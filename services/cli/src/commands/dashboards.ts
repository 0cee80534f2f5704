// `dashboards`: Grafana's dashboards without Grafana, drawn from a Prometheus onto one page; says which panels have no data.
import { BOARDS } from '@baton/infra/boards'
import type { Board, Panel } from '@baton/infra/boards'
import type { HttpClient } from '@baton/http/client'
import { readTls } from '@baton/runtime'
import type { Context } from '../context.ts'
import { askRange, openPrometheus } from '../dashboards/ask-prometheus.ts'
import type { Line, Period } from '../dashboards/ask-prometheus.ts'
import { draw } from '../dashboards/draw.ts'
import { page } from '../dashboards/page.ts'
import type { DrawnBoard } from '../dashboards/page.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { counted } from '../terminal/figures.ts'
import { renderTable } from '../terminal/table.ts'
import { writeOut } from './evidence.ts'

export interface DashboardsOptions {
  readonly prometheus: string
  readonly out: string
  /** How far back the page looks. */
  readonly minutes: number
}

interface AskedPanel {
  readonly board: string
  readonly panel: string
  /** How many series each of its queries answered. */
  readonly series: readonly number[]
}

const STEPS = 120
const SHORTEST_STEP_SECONDS = 5

/** Exit code 4 where a query of a panel answered nothing. */
export async function dashboards(context: Context, options: DashboardsOptions): Promise<ExitCode> {
  const { output } = context
  const client = openPrometheus(options.prometheus, readTls(context.settings))
  const asked: AskedPanel[] = []
  const period = periodOf(options.minutes)
  try {
    const drawn: DrawnBoard[] = []
    for (const board of BOARDS) drawn.push(await drawBoard(client, { board, period, asked }))
    const told = `${shownUrl(options.prometheus)}, the ${options.minutes} minutes before ${new Date(period.toSeconds * 1_000).toISOString()}`
    await writeOut(options.out, page(drawn, told))
  } finally {
    client.close()
  }
  const without = asked.filter(({ series }) => series.includes(0))
  if (output.json) output.data(JSON.stringify(asked))
  else output.data(table(asked))
  output.words(
    `\n${counted(asked.length, 'panel')}, ${without.length === 0 ? 'each with data' : `${without.length} without data in a query`}.`,
  )
  output.next(`open ${options.out}`)
  return without.length === 0 ? EXIT.fine : EXIT.incomplete
}

/** The page is passed on: a password of the address is not in it. */
export function shownUrl(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname === '/' ? '' : pathname}`
}

function periodOf(minutes: number): Period {
  const stepSeconds = Math.max(SHORTEST_STEP_SECONDS, Math.ceil((minutes * 60) / STEPS))
  const toSeconds = Math.floor(Date.now() / 1_000 / stepSeconds) * stepSeconds
  return { fromSeconds: toSeconds - minutes * 60, toSeconds, stepSeconds }
}

interface Drawn {
  readonly board: Board
  readonly period: Period
  readonly asked: AskedPanel[]
}

async function drawBoard(client: HttpClient, { board, period, asked }: Drawn): Promise<DrawnBoard> {
  const { uid, title, about } = board
  const rows: { title: string; panels: DrawnBoard['rows'][number]['panels'][number][] }[] = []
  for (const row of board.rows) {
    const panels: (typeof rows)[number]['panels'] = []
    for (const panel of row.panels) {
      const answers = await Promise.all(
        panel.queries.map((query) => askRange(client, query, period)),
      )
      asked.push({ board: uid, panel: panel.title, series: answers.map(({ length }) => length) })
      panels.push({ ...panel, drawing: drawPanel(panel, answers.flat(), period) })
    }
    rows.push({ title: row.title, panels })
  }
  return { uid, title, about, rows }
}

function drawPanel({ shape, unit, warnsAt, badAt }: Panel, lines: readonly Line[], period: Period) {
  return draw(lines, { shape, unit, warnsAt, badAt, period })
}

const table = (asked: readonly AskedPanel[]): string =>
  renderTable(
    [{ title: 'DASHBOARD' }, { title: 'PANEL', widthMax: 50 }, { title: 'SERIES' }],
    asked.map(({ board, panel, series }) => [board, panel, series.join(' ')]),
  )
