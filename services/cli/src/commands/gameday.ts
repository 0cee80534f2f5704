// `gameday`: breaks an instance of its own in the way of an alert, and shows the alert come and go.
import { join } from 'node:path'
import { codeOf, permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { GAME_DAYS, panelsOf } from '../gamedays/days.ts'
import type { GameDay } from '../gamedays/game-day.ts'
import { findPrometheus } from '../gamedays/prometheus.ts'
import { readWatched } from '../gamedays/read-metrics.ts'
import { figure, runDay } from '../gamedays/run-day.ts'
import type { DayResult } from '../gamedays/run-day.ts'
import { mayMount } from '../gamedays/small-disk.ts'
import { openWorld, pausing } from '../gamedays/world.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

interface GameDayOptions {
  /** A folder that is kept: empty, or with one for each of several days; a temporary one that is deleted by default. */
  readonly in?: string
}

/** A day that could not be run to its end, and why. */
interface FailedDay {
  readonly day: string
  readonly verdict: 'failed'
  readonly error: string
}

/** Without a name it lists them. Exit code 0 only where every alert fired and went, 4 where nobody could judge. */
export async function gameday(
  context: Context,
  name: string | undefined,
  options: GameDayOptions,
): Promise<ExitCode> {
  const { output, environment } = context
  if (name === undefined) return list(context)
  const days = chosen(name)
  const results: (DayResult | FailedDay)[] = []
  if ((await findPrometheus(environment['PATH'] ?? '')) === undefined)
    output.words(
      'There is no prometheus on PATH: metrics and what mends are shown, no alert is judged.',
    )
  const run = days.length === 1 ? runOne : runSafely
  for (const day of days) results.push(await run(context, day, folderOf(day, days, options.in)))
  if (output.json) output.data(JSON.stringify(results))
  else output.data(table(results))
  const failed = results.filter(({ verdict }) => verdict === 'failed')
  const isJudged = results.every(({ verdict }) => verdict !== 'not judged')
  output.next(
    failed[0] === undefined
      ? nextStep('gameday')
      : nextStep(`gameday ${failed[0].day} --in FOLDER`),
  )
  if (failed.length > 0) return EXIT.failure
  return isJudged ? EXIT.fine : EXIT.incomplete
}

function chosen(name: string): readonly GameDay[] {
  const days = name === 'all' ? GAME_DAYS : GAME_DAYS.filter((day) => day.name === name)
  if (days.length > 0) return days
  throw permanent('BATON_GAMEDAY_UNKNOWN', `there is no game day ${name}`, {
    fix: `Take one of ${GAME_DAYS.map((day) => day.name).join(', ')}, or all.`,
  })
}

/** Each of several days keeps what it leaves in a folder of its own, below the one that is named. */
const folderOf = (day: GameDay, days: readonly GameDay[], folder: string | undefined) =>
  folder === undefined || days.length === 1 ? folder : join(folder, day.name)

function list({ output }: Context): ExitCode {
  const shown = GAME_DAYS.map(({ name, breaks, alerts, seconds }) => ({
    name,
    breaks,
    alerts,
    seconds,
  }))
  if (output.json) output.data(JSON.stringify(shown))
  else
    output.data(
      renderTable(
        [
          { title: 'GAME DAY' },
          { title: 'ABOUT', align: 'right' },
          { title: 'ALERTS', widthMax: 60 },
          { title: 'WHAT IS BROKEN', widthMax: 80 },
        ],
        shown.map(({ name, breaks, alerts, seconds }) => [
          name,
          `${seconds} s`,
          alerts.join(' '),
          breaks,
        ]),
      ),
    )
  output.next(nextStep('gameday process-away'))
  return EXIT.fine
}

/** Of several days, one that fails does not keep the others from running; an interruption does. */
async function runSafely(
  context: Context,
  day: GameDay,
  folder: string | undefined,
): Promise<DayResult | FailedDay> {
  try {
    return await runOne(context, day, folder)
  } catch (error) {
    if (context.interrupt.aborted || !(error instanceof Error)) throw error
    context.output.step('failed', day.name, error.message)
    const code = codeOf(error)
    return { day: day.name, verdict: 'failed', error: `${code}: ${error.message}` }
  }
}

async function runOne(
  context: Context,
  day: GameDay,
  folder: string | undefined,
): Promise<DayResult> {
  const { output } = context
  output.words(
    `\n${day.name}: ${day.breaks}. About ${day.seconds} s; windows of rules pass ${day.timesFaster} times faster.`,
  )
  if (day.lowered !== undefined) {
    const { alert, limit, dividedBy } = day.lowered
    output.words(
      `For this day alone the limit of ${alert} is ${limit} × 1/${dividedBy}: ${limit / dividedBy}.`,
    )
  }
  if (day.needsRoot && !mayMount()) return skipped(context, day)
  const world = await openWorld(context, day, folder)
  try {
    const result = await runDay(day, {
      scene: world.scene,
      judge: world.judge,
      readMetric: () => readWatched(world.targets, day.watched),
      tell: (phase, words) => output.step('passed', phase, words),
      pause: pausing(context.interrupt),
    })
    for (const { alert, firedAfterSeconds: fired, goneAfterSeconds: gone } of result.alerts)
      if (fired === null) output.step('failed', 'never fired', alert)
      else if (gone === null) output.step('failed', 'still fires', alert)
      else output.step('passed', 'is gone', `${alert}, ${gone} s after it was mended`)
    for (const panel of panelsOf(day.watched.metric).slice(0, 2))
      output.step('passed', 'dashboard', panel)
    return result
  } finally {
    output.words(`${counted(world.scene.load.sent(), 'task')} sent; stopping what was started.`)
    await world.stop()
  }
}

function skipped({ output }: Context, day: GameDay): DayResult {
  output.step('unknown', 'skipped', 'it mounts a small disk, which only root may')
  const metric = { name: day.watched.metric, before: null, during: null, after: null }
  return { day: day.name, verdict: 'not judged', alerts: [], others: [], metric }
}

const table = (results: readonly (DayResult | FailedDay)[]): string =>
  renderTable(
    [
      { title: 'GAME DAY' },
      { title: 'VERDICT' },
      { title: 'ALERT', widthMax: 60 },
      { title: 'FIRED AFTER', align: 'right' },
      { title: 'GONE AFTER', align: 'right' },
      { title: 'METRIC' },
      { title: 'BEFORE', align: 'right' },
      { title: 'BROKEN', align: 'right' },
      { title: 'MENDED', align: 'right' },
    ],
    results.flatMap((result) => rowsOf(result)),
  )

function rowsOf(result: DayResult | FailedDay): readonly (readonly string[])[] {
  if ('error' in result) return [[result.day, result.verdict, result.error]]
  const { name, before, during, after } = result.metric
  const metric = [name, figure(before), figure(during), figure(after)]
  if (result.alerts.length === 0) return [[result.day, result.verdict, '', '', '', ...metric]]
  return result.alerts.map(({ alert, firedAfterSeconds, goneAfterSeconds }, index) => [
    ...(index === 0 ? [result.day, result.verdict] : ['', '']),
    alert,
    secondsOf(firedAfterSeconds),
    secondsOf(goneAfterSeconds),
    ...(index === 0 ? metric : []),
  ])
}

const secondsOf = (seconds: number | null): string => (seconds === null ? 'never' : `${seconds} s`)
