// Writes the tables of infra/game-days.md: what each day breaks, from the days themselves, and what was measured, from
// infra/game-days.json, which holds what `gameday all --json` printed. With --check it only says whether they are up to date;
// a day without a measurement, or with one that did not pass, fails both.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { markdownTable } from '@baton/infra/markdown-table'
import { GAME_DAYS, NOT_PROVOKED } from './src/gamedays/days.ts'
import { figure } from './src/gamedays/run-day.ts'
import type { DayResult } from './src/gamedays/run-day.ts'

const PAGE = fileURLToPath(new URL('../../infra/game-days.md', import.meta.url))
const RESULTS = fileURLToPath(new URL('../../infra/game-days.json', import.meta.url))

const results = new Map(
  (JSON.parse(readFileSync(RESULTS, 'utf8')) as readonly DayResult[]).map((one) => [one.day, one]),
)

const unmeasured = GAME_DAYS.filter(({ name }) => results.get(name)?.verdict !== 'passed')
for (const { name } of unmeasured)
  process.stderr.write(`no run of ${name} that passed stands in infra/game-days.json\n`)

const seconds = (value: number | null): string => (value === null ? 'never' : `${value} s`)

const measured = markdownTable(
  [
    'game day',
    'what is broken',
    'alert',
    'fired after',
    'gone after',
    'metric: before → broken → mended',
  ],
  GAME_DAYS.flatMap(({ name, breaks }) => {
    const { alerts = [], metric } = results.get(name) ?? {}
    return alerts.map((one, index) => [
      index === 0 ? `\`${name}\`` : '',
      index === 0 ? breaks : '',
      `\`${one.alert}\``,
      seconds(one.firedAfterSeconds),
      seconds(one.goneAfterSeconds),
      index === 0 && metric !== undefined
        ? `\`${metric.name}\`: ${[metric.before, metric.during, metric.after].map(figure).join(' → ')}`
        : '',
    ])
  }),
)

const reasons = Object.entries(NOT_PROVOKED)
const spared =
  reasons.length === 0
    ? 'Every alert has a game day.'
    : markdownTable(
        ['alert', 'why'],
        reasons.map(([alert, why]) => [`\`${alert}\``, why]),
      )

const before = readFileSync(PAGE, 'utf8')
const after = [
  ['measured', measured],
  ['spared', spared],
].reduce((page, [name = '', table = '']) => {
  const [begin, end] = [`<!-- ${name} -->\n`, `\n<!-- end of ${name} -->`]
  const from = page.indexOf(begin)
  const until = page.indexOf(end)
  if (from < 0 || until < from) throw new Error(`infra/game-days.md has no place for ${name}`)
  return `${page.slice(0, from + begin.length)}\n${table}\n${page.slice(until)}`
}, before)

if (unmeasured.length > 0) process.exitCode = 1
else if (!process.argv.includes('--check')) writeFileSync(PAGE, after)
else if (before !== after) {
  process.stderr.write('out of date: infra/game-days.md\n')
  process.exitCode = 1
}
