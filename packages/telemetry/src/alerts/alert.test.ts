// Durations are written as PromQL takes them, and read back where it takes none.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { inPromql, inSeconds, runbookOf } from './alert.ts'
import { ALERTS } from './rules.ts'

it('durations are read back as they were written, in the largest unit that fits', () => {
  expect([30, 300, 5_400, 86_400].map(inPromql)).toEqual(['30s', '5m', '90m', '1d'])
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (seconds) => {
      expect(inSeconds(inPromql(seconds))).toBe(seconds)
    }),
  )
})

it('a runbook is called like its alert', () => {
  expect(runbookOf({ name: 'BatonOutboxStale' })).toBe('outbox-stale')
})

// Aggregation drops every label that it does not name, and the summary then tells of nobody.
it.each(ALERTS)('$name tells of what its expression keeps', ({ summary, expression }) => {
  const told = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label)
  const kept = [...expression(inPromql).matchAll(/\bby \(([^)]*)\)/g)].map(([, by = '']) =>
    by.split(/\s*,\s*/),
  )
  for (const labels of kept) expect(labels).toEqual(expect.arrayContaining(told))
})
