// The page of measurements is what the benchmarks write: a later run replaces its own rows and no others.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { rowsOfPage, withMeasurements } from '../bench/results.ts'

const run = { command: 'npm run bench', date: '2026-01-02', machine: '2 x some' }

it('replaces a row by what was measured, and keeps the order', () => {
  const first = withMeasurements(
    '',
    [
      { what: 'a', figures: '1/s' },
      { what: 'b', figures: '2/s' },
    ],
    run,
  )
  const second = withMeasurements(first, [{ what: 'a', figures: '3 | 4', promised: '2' }], {
    ...run,
    date: '2026-02-03',
  })
  expect([...rowsOfPage(second).values()]).toEqual([
    ['a', '3 / 4', '2', '`npm run bench`', '2026-02-03', '2 x some'],
    ['b', '2/s', '', '`npm run bench`', '2026-01-02', '2 x some'],
  ])
  expect(withMeasurements(second, [], run)).toBe(second)
})

it('each row of the page names its command, date and machine', () => {
  const page = readFileSync(new URL('../bench/results.md', import.meta.url), 'utf8')
  const DATE = /^\d{4}-\d\d-\d\d$/
  const incomplete = [...rowsOfPage(page).values()].filter(
    ([, , , command = '', date = '', machine = '', ...more]) =>
      !command.startsWith('`npm run bench') ||
      !DATE.test(date) ||
      machine === '' ||
      more.length > 0,
  )
  expect(incomplete).toEqual([])
})
