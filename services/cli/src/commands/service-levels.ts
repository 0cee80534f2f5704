// The service levels as GET /v2/slo answers them, and how each figure is shown.
import type { GatewayClient } from '../gateway-client.ts'
import { counted, elapsed } from '../terminal/figures.ts'
import { clip } from '../terminal/table.ts'
import type { Column } from '../terminal/table.ts'
import { renderTable } from '../terminal/table.ts'
import { widthOf } from '../terminal/width.ts'

interface Recent {
  readonly perSecond: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

interface Level {
  readonly transport: string
  readonly withinMs: number
  readonly share: number
  readonly state: 'met' | 'burning' | 'exhausted' | 'too_little_traffic'
  readonly handoffs: number
  readonly attained: number | null
  readonly errorBudgetLeft: number | null
  readonly burn: readonly { readonly seconds: number; readonly rate: number | null }[]
}

export interface Objective extends Level {
  readonly hours: readonly (number | null)[]
}

export interface Pair extends Level, Recent {
  readonly fromAgent: string
  readonly toAgent: string
}

export interface Rate {
  readonly title: string
  readonly limit: number | null
  readonly state: 'within' | 'over' | 'too_little_traffic' | 'no_limit'
  readonly windows: readonly {
    readonly part: number
    readonly whole: number
    readonly share: number | null
  }[]
}

export interface Levels {
  readonly at: string
  readonly since: string | null
  readonly periodDays: number
  readonly trafficMin: number
  readonly objectives: readonly Objective[]
  readonly pairs: readonly Pair[]
  readonly pairsLeftOut: number
  readonly rates: readonly Rate[]
  readonly recent: Readonly<Record<'sent' | 'accepted' | 'refused' | 'rolledBack', Recent>>
  readonly waiting: {
    readonly deadLetters: number
    readonly deadLetterOldestAgeSeconds: number
    readonly approvals: number
    readonly escalations: number
    readonly alerts: number
  }
  readonly outbox: { readonly depth: number; readonly oldestAgeSeconds: number }
  readonly queues: readonly {
    readonly agent: string
    readonly depth: number
    readonly oldestAgeSeconds: number
  }[]
}

export interface LevelsAsked {
  readonly transport?: string
  readonly from?: string
  readonly to?: string
}

export function readLevels(gateway: GatewayClient, asked: LevelsAsked): Promise<Levels> {
  const query = new URLSearchParams(
    Object.entries(asked).filter(([, value]) => value !== undefined) as [string, string][],
  ).toString()
  return gateway.get<Levels>(`/v2/slo${query === '' ? '' : `?${query}`}`)
}

/** Rounded down, so that nothing shows as whole that is not: 99.84 %. */
export function percent(share: number | null): string {
  if (share === null) return '–'
  const value = Math.floor(share * 10_000 + 1e-6) / 100
  return `${value.toLocaleString('en-US', { maximumFractionDigits: 2 })} %`
}

/** A rate rounded up, so that nothing shows as none that is some. */
export const percentOf = (share: number | null): string =>
  share === null ? '–' : `${(Math.ceil(share * 10_000 - 1e-6) / 100).toFixed(2)} %`

const BAR = 10

/** What is left as a bar and a share: `████████░░ 84 %`. */
export function leftBar(left: number | null): string {
  if (left === null) return '–'
  const full = Math.max(0, Math.min(BAR, Math.floor(left * BAR + 1e-6)))
  const share = `${Math.floor(left * 100 + 1e-6).toLocaleString('en-US')} %`
  return `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${share.padStart(5)}`
}

export const burnIn = ({ burn }: Level, seconds: number): string => {
  const rate = burn.find((one) => one.seconds === seconds)?.rate ?? null
  return rate === null ? '–' : `${rate.toFixed(1)}×`
}

const STEPS: readonly (readonly [number, string])[] = [
  [14.4, '█'],
  [6, '▆'],
  [3, '▅'],
  [1, '▃'],
  [0, '▂'],
]

/** The burn rate of each hour: high is bad, and each step is where an alarm begins. Hours without handoffs are dots. */
export const burnLine = ({ hours, share }: Objective): string =>
  hours
    .map((attained) => {
      if (attained === null) return '·'
      const rate = (1 - attained) / (1 - share)
      return STEPS.find(([above]) => rate > above)?.[1] ?? '▁'
    })
    .join('')

export const stateOf = ({ state }: Pick<Level, 'state'>): string => STATES[state]

/** Where there is little room. */
export const shortStateOf = (level: Pick<Level, 'state'>): string =>
  level.state === 'too_little_traffic' ? '– too little' : stateOf(level)

const STATES = {
  met: '✓ met',
  burning: '▲ burning',
  exhausted: '✗ exhausted',
  too_little_traffic: '– too little traffic to judge',
} as const

export const milliseconds = (ms: number | null): string => (ms === null ? '–' : elapsed(ms))

/** What waits for people, in words. */
export function waitingWords({ waiting }: Pick<Levels, 'waiting'>): string {
  const oldest = elapsed(waiting.deadLetterOldestAgeSeconds * 1_000)
  const parts = [
    waiting.deadLetters > 0 && `${counted(waiting.deadLetters, 'dead letter')} (oldest ${oldest})`,
    waiting.approvals > 0 && counted(waiting.approvals, 'approval'),
    waiting.escalations > 0 && counted(waiting.escalations, 'escalation'),
    waiting.alerts > 0 && counted(waiting.alerts, 'alert'),
  ].filter((part) => part !== false)
  return parts.length === 0 ? 'nothing' : parts.join(', ')
}

/** A column that is left out where the table would be too wide, the highest number first; without one it stays. */
export interface OptionalColumn<Row> extends Column {
  cell(row: Row): string
  /** The same in fewer words, where the table would be too wide otherwise. */
  shortCell?(row: Row): string
}

/** A table no wider than `width`: cells get shorter first, then columns are left out, then lines are cut. */
export function fitTable<Row>(
  columns: readonly OptionalColumn<Row>[],
  rows: readonly Row[],
  width: number,
): string {
  const table = renderTable(
    columns,
    rows.map((row) => columns.map((column) => column.cell(row))),
    Infinity,
  )
  const lines = table.split('\n')
  if (lines.every((line) => widthOf(line) <= width)) return table
  if (columns.some(({ shortCell }) => shortCell !== undefined))
    return fitTable(columns.map(shortened), rows, width)
  const drop = Math.max(...columns.map(({ dropAt = 0 }) => dropAt))
  if (drop === 0) return lines.map((line) => clip(line, width)).join('\n')
  return fitTable(
    columns.filter(({ dropAt = 0 }) => dropAt !== drop),
    rows,
    width,
  )
}

const shortened = <Row>({ shortCell, ...column }: OptionalColumn<Row>): OptionalColumn<Row> =>
  shortCell === undefined ? column : { ...column, cell: shortCell }
