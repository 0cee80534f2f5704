// The tables of `slo` and `top`: from service levels and a width to text, and nothing else.
import { elapsed, instant } from '../terminal/figures.ts'
import { clip } from '../terminal/table.ts'
import {
  burnIn,
  burnLine,
  fitTable,
  leftBar,
  milliseconds,
  percent,
  percentOf,
  shortStateOf,
  stateOf,
  waitingWords,
} from './service-levels.ts'
import type { Levels, Objective, OptionalColumn, Pair, Rate } from './service-levels.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

const PAIRS_SHOWN = 10

/** Everything that `slo` shows, from what hurts most to what waits. */
export function levelsText(levels: Levels, width: number): string {
  const { objectives, pairs, rates } = levels
  return [
    clip(titleOf(levels), width),
    '',
    objectivesText(objectives, width),
    ...(pairs.length === 0
      ? []
      : ['', pairsTable(pairs.slice(0, PAIRS_SHOWN), width), ...morePairs(levels)]),
    '',
    fitTable(RATE_COLUMNS, [...rates, deadLetters(levels)], width),
    '',
    clip(`Waits for a person: ${waitingWords(levels)}.`, width),
  ].join('\n')
}

function titleOf({ periodDays, since, at }: Levels): string {
  const title = `Service levels, ${periodDays} days`
  if (since === null) return `${title}: nothing is counted yet`
  const age = Date.parse(at) - Date.parse(since)
  const counted = age < periodDays * DAY * 1_000 ? `; counted for ${elapsed(age)}` : ''
  return `${title}${counted}; ${instant(at)} UTC`
}

/** The one with the least left first; transports without any handoff are one line. */
function objectivesText(objectives: readonly Objective[], width: number): string {
  const used = objectives
    .filter(({ handoffs }) => handoffs > 0)
    .toSorted((a, b) => (a.errorBudgetLeft ?? 1) - (b.errorBudgetLeft ?? 1))
  const unused = new Set(
    objectives.filter(({ handoffs }) => handoffs === 0).map(({ transport }) => transport),
  )
  const without = `No handoffs by ${[...unused].join(', ')}.`
  return [
    ...(used.length === 0 ? [] : [fitTable(OBJECTIVE_COLUMNS, used, width)]),
    ...(unused.size === 0 ? [] : [clip(without, width)]),
  ].join('\n')
}

export const objectiveName = ({ transport, withinMs }: Objective): string =>
  `${transport} within ${elapsed(withinMs)}`

const OBJECTIVE_COLUMNS: readonly OptionalColumn<Objective>[] = [
  { title: 'OBJECTIVE', cell: objectiveName },
  { title: 'FOR', align: 'right', dropAt: 1, cell: ({ share }) => percent(share) },
  {
    title: 'HANDOFFS',
    align: 'right',
    dropAt: 4,
    cell: ({ handoffs }) => handoffs.toLocaleString('en-US'),
  },
  { title: 'IN TIME', align: 'right', cell: ({ attained }) => percent(attained) },
  {
    title: 'ERROR BUDGET LEFT',
    dropAt: 2,
    cell: ({ errorBudgetLeft }) => leftBar(errorBudgetLeft),
  },
  { title: 'BURN 1 H', align: 'right', cell: (one) => burnIn(one, HOUR) },
  { title: '6 H', align: 'right', dropAt: 5, cell: (one) => burnIn(one, 6 * HOUR) },
  { title: '3 D', align: 'right', dropAt: 5, cell: (one) => burnIn(one, 3 * DAY) },
  { title: 'BURN BY HOUR, 24 H', dropAt: 3, cell: burnLine },
  { title: 'STATE', cell: (one) => stateOf(one), shortCell: (one) => shortStateOf(one) },
]

export const pairsTable = (pairs: readonly Pair[], width: number): string =>
  fitTable(PAIR_COLUMNS, pairs, width)

const PAIR_COLUMNS: readonly OptionalColumn<Pair>[] = [
  {
    title: 'PAIR',
    widthMax: 44,
    cell: ({ fromAgent, toAgent }) => `${fromAgent} → ${toAgent}`,
  },
  { title: 'BY', dropAt: 5, cell: ({ transport }) => transport },
  {
    title: 'HANDOFFS',
    align: 'right',
    dropAt: 4,
    cell: ({ handoffs }) => handoffs.toLocaleString('en-US'),
  },
  { title: '/S', align: 'right', dropAt: 2, cell: ({ perSecond }) => perSecond.toFixed(1) },
  { title: 'P50', align: 'right', dropAt: 3, cell: ({ p50Ms }) => milliseconds(p50Ms) },
  { title: 'P99', align: 'right', cell: ({ p99Ms }) => milliseconds(p99Ms) },
  { title: 'IN TIME', align: 'right', dropAt: 1, cell: ({ attained }) => percent(attained) },
  { title: 'BURN 1 H', align: 'right', dropAt: 6, cell: (one) => burnIn(one, HOUR) },
  { title: 'STATE', cell: (one) => stateOf(one), shortCell: (one) => shortStateOf(one) },
]

function morePairs({ pairs, pairsLeftOut }: Levels): string[] {
  const more = pairs.length - PAIRS_SHOWN + pairsLeftOut
  return more > 0 ? [`… and ${more.toLocaleString('en-US')} more, with more left`] : []
}

const RATE_COLUMNS: readonly OptionalColumn<Rate>[] = [
  { title: 'RATE', cell: ({ title }) => title },
  {
    title: '15 MIN',
    align: 'right',
    dropAt: 2,
    cell: ({ windows }) => (windows.length > 1 ? shareAt(windows, 0) : ''),
  },
  { title: '1 H', align: 'right', cell: ({ windows }) => shareAt(windows, windows.length - 1) },
  { title: 'OF', align: 'right', dropAt: 3, cell: ({ windows }) => partsAt(windows) },
  { title: 'LIMIT', align: 'right', dropAt: 1, cell: limitOf },
  {
    title: 'STATE',
    cell: (rate) => RATE_STATES[rate.state],
    shortCell: (rate) => ({ ...RATE_STATES, too_little_traffic: '– too little' })[rate.state],
  },
]

type Windows = Rate['windows']

/** A number where that is all there is. */
function shareAt(windows: Windows, index: number): string {
  const { part = 0, share = null } = windows[index] ?? {}
  return windows.length > 1 ? percentOf(share) : part.toLocaleString('en-US')
}

function partsAt(windows: Windows): string {
  const { part = 0, whole = 0 } = windows.at(-1) ?? {}
  return windows.length === 1
    ? ''
    : `${part.toLocaleString('en-US')} of ${whole.toLocaleString('en-US')}`
}

function limitOf({ limit, windows }: Rate): string {
  if (limit === null) return '–'
  return windows.length === 1 ? String(limit) : percent(limit)
}

const RATE_STATES = {
  within: '✓ within',
  over: '✗ over',
  too_little_traffic: '– too little traffic to judge',
  no_limit: '',
} as const

/** The sixth of them is a number, not a share. */
const deadLetters = ({ waiting }: Levels): Rate => ({
  title: 'dead letters that wait',
  limit: 0,
  state: waiting.deadLetters > 0 ? 'over' : 'within',
  windows: [{ part: waiting.deadLetters, whole: 0, share: null }],
})
