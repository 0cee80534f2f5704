// Four agent frameworks hand work to each other, each in a process of its own, and kill -9 in any of them changes nothing of what comes out.
import { acquirePostgres } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openFourWorld } from '../chaos/four-frameworks.ts'
import type { FourWorld } from '../chaos/four-frameworks.ts'

let world: FourWorld
beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  world = await openFourWorld(adminUrl)
})
afterAll(() => world?.close())

it('one trace, one cost, one log, and one effect of each, although some of them die', async () => {
  const report = await world.run({
    named: 'desk and writer',
    at: { desk: 'desk asks its model', writer: 'writer has written' },
  })
  expect(report.wrong).toEqual([])
  expect(report.starts).toEqual({ desk: 2, planner: 1, writer: 2, checker: 1 })
  expect(report.hops.map(({ claims }) => claims)).toEqual([1, 2, 1])
})
