// A span of time is shown in the unit that a person would say it in.
import { expect, it } from 'vitest'
import { elapsed } from './figures.ts'

it.each([
  [118, '118 ms'],
  [999.4, '999 ms'],
  [999.5, '1.0 s'],
  [9_865, '9.9 s'],
  [90_000, '90.0 s'],
  [1_898_700, '31.6 min'],
  [93_600_000, '26.0 h'],
  [3_473_280_000, '40.2 days'],
])('%i ms is %s', (ms, words) => {
  expect(elapsed(ms)).toBe(words)
})
