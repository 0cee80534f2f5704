// Random graphs of handoffs, with cancellations and people on the way, keep every promise about them (E28, I2, I5, I8).
import { expect, it } from 'vitest'
import { acquirePostgres, isLong, seededRandom } from '@baton/testkit'
import { runGraphs } from '../chaos/graphs.ts'

const TASKS = Number(process.env['BATON_TEST_GRAPHS'] ?? (isLong ? 80 : 30))

const { seed } = seededRandom('graphs')

it(`E28 ${TASKS} random tasks`, { timeout: 120_000 + TASKS * 200 }, async () => {
  const { adminUrl } = await acquirePostgres()
  const report = await runGraphs({ seed, tasks: TASKS, adminUrl })
  process.stderr.write(`graphs: ${JSON.stringify(report)}\n`)
  expect(report.broken).toEqual([])
  expect(report.joins).toBeGreaterThan(TASKS / 10)
  expect(Object.keys(report.ended)).toEqual(expect.arrayContaining(['CANCELED', 'COMPLETED']))
})
