// `top`: what goes through now, what waits, and which pairs are slow, drawn every two seconds.
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withOwnGateway } from '../gateway-client.ts'
import { describeError } from '../terminal/describe-error.ts'
import { count, elapsed } from '../terminal/figures.ts'
import { clipLines, showLive } from '../terminal/live-screen.ts'
import type { Size, Terminal } from '../terminal/live-screen.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { painted } from '../terminal/states.ts'
import { objectiveName, pairsTable } from './level-tables.ts'
import {
  fitTable,
  milliseconds,
  percent,
  readLevels,
  stateOf,
  waitingWords,
} from './service-levels.ts'
import type { Levels, LevelsAsked } from './service-levels.ts'

const EVERY_MS = 2_000

/** Until somebody quits; one frame where stdout is no terminal, and with --json one reading. */
export async function top(
  context: Context,
  asked: LevelsAsked,
  terminal: Terminal = { input: process.stdin, output: process.stdout },
): Promise<ExitCode> {
  const { output, interrupt } = context
  await withOwnGateway(context, async (gateway) => {
    const read = () => readLevels(gateway, asked)
    if (output.json) return output.data(JSON.stringify(await read()))
    return showLive(terminal, {
      everyMs: EVERY_MS,
      interrupt,
      read,
      draw: (levels, view) => painted(clipLines(frameOf(levels, view), view.columns)),
      describe: (error) => describeError(error).text.split('\n', 1)[0] ?? '',
    })
  })
  output.next(nextStep('slo'))
  return EXIT.fine
}

interface View extends Size {
  readonly isPaused: boolean
  /** Why the last reading failed; empty where it did not. */
  readonly failure: string
}

const QUEUES_SHOWN = 5

export function frameOf(levels: Levels, { columns, rows, isPaused, failure }: View): string {
  const { queues, pairs } = levels
  const status = isPaused ? 'PAUSED   space goes on' : 'counted every 10 s   space pauses'
  const head = [
    `Baton at ${levels.at.slice(11, 19)} UTC, ${status}, q quits`,
    ...(failure === '' ? [] : [`✗ failed: ${failure}`]),
    '',
    `per second ${ratesWords(levels)}`,
    `latency    ${latencyWords(levels)}`,
    `waits      ${waitsLine(levels)}`,
    `people     ${waitingWords(levels)}`,
    ...levelLines(levels),
  ]
  const waiting = queues.toSorted((a, b) => b.oldestAgeSeconds - a.oldestAgeSeconds)
  const queued =
    waiting.length === 0
      ? []
      : ['', ...fitTable(QUEUE_COLUMNS, waiting.slice(0, QUEUES_SHOWN), columns).split('\n')]
  const room = Math.max(1, rows - head.length - queued.length - 2)
  const busiest = pairs.toSorted((a, b) => b.perSecond - a.perSecond).slice(0, room)
  const table = busiest.length === 0 ? [] : ['', pairsTable(busiest, columns)]
  return [...head, ...queued, ...table].join('\n')
}

const perSecond = ({ perSecond: rate }: { readonly perSecond: number }) => rate.toFixed(1)

const ratesWords = ({ recent: { sent, accepted, refused, rolledBack } }: Levels): string =>
  `sent ${perSecond(sent)}, accepted ${perSecond(accepted)}, refused ${perSecond(refused)}, rolled back ${perSecond(rolledBack)}`

const latencyWords = ({ recent: { accepted } }: Levels): string =>
  `p50 ${milliseconds(accepted.p50Ms)}, p99 ${milliseconds(accepted.p99Ms)}`

function waitsLine({ outbox, queues }: Levels): string {
  const depth = queues.reduce((sum, queue) => sum + queue.depth, 0)
  const oldestAgeSeconds = Math.max(0, ...queues.map((queue) => queue.oldestAgeSeconds))
  return `outbox ${depthWords(outbox)}, queues ${depthWords({ depth, oldestAgeSeconds })}`
}

const depthWords = ({ depth, oldestAgeSeconds }: Levels['outbox']): string =>
  depth === 0 ? '0' : `${count(depth)} (oldest ${elapsed(oldestAgeSeconds * 1_000)})`

function levelLines({ objectives }: Levels): string[] {
  return objectives
    .filter(({ handoffs }) => handoffs > 0)
    .toSorted((a, b) => (a.errorBudgetLeft ?? 1) - (b.errorBudgetLeft ?? 1))
    .map((one) => {
      const left = one.errorBudgetLeft === null ? '' : `, ${percent(one.errorBudgetLeft)} left`
      return `objective  ${objectiveName(one)} for ${percent(one.share)}: ${stateOf(one)}${left}`
    })
}

const QUEUE_COLUMNS = [
  { title: 'QUEUE', widthMax: 44, cell: (queue: Levels['queues'][number]) => queue.agent },
  {
    title: 'WAIT',
    align: 'right' as const,
    cell: (queue: Levels['queues'][number]) => count(queue.depth),
  },
  {
    title: 'OLDEST',
    align: 'right' as const,
    cell: (queue: Levels['queues'][number]) => elapsed(queue.oldestAgeSeconds * 1_000),
  },
]
