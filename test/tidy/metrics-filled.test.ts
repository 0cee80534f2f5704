// Every metric of the catalogue is filled by some process, and every process that fills one says so there.
import { expect, it } from 'vitest'
import { METRIC_DEFINITIONS } from '@baton/telemetry'
import { sourceFiles } from './source-files.ts'

const shipped = sourceFiles('.ts').filter(
  ({ path }) =>
    /^(?:packages|services)\//.test(path) &&
    !/\.test\.ts$|^packages\/(?:testkit|telemetry\/src\/definitions)\/|\/fixtures\//.test(path),
)

it('no metric is only defined', () => {
  const text = shipped.map(({ text }) => text).join('\n')
  const fields = Object.keys(METRIC_DEFINITIONS)
  expect(fields.length).toBeGreaterThan(40)
  expect(fields.filter((field) => !new RegExp(`\\b${field}\\b[^']`).test(text))).toEqual([])
})
