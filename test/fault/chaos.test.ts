// A short seed of the fault campaign holds every invariant. In `npm run test-long` a second one does, and a known-bad build is caught.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith, isLong, startOwnRedis } from '@baton/testkit'
import { runCampaign, startServers } from '../chaos/campaign.ts'
import { planOf } from '../chaos/schedule.ts'
import type { Servers } from '../chaos/world.ts'

/** A campaign takes half a minute alone, and several times that beside other tests. */
const CAMPAIGN_MAX_MS = 300_000
const SHORT = { seconds: 8, ratePerSecond: 12, say: () => undefined }

it('a seed always gives the same plan, another seed another one', () => {
  expect(planOf(7, 40)).toEqual(planOf(7, 40))
  expect(planOf(8, 40)).not.toEqual(planOf(7, 40))
  expect(planOf(7, 40).faults.length).toBeGreaterThanOrEqual(35)
})

const redisOrNot = await startOwnRedis()
if (!('unavailable' in redisOrNot)) await redisOrNot.stop()

describeWith('a campaign', redisOrNot, () => {
  let servers: Servers & { stop(): Promise<void> }
  beforeAll(async () => {
    servers = await startServers()
  })
  afterAll(() => servers.stop())

  it.each(isLong ? [101, 103] : [101])(
    'of seed %i keeps every promise',
    { timeout: CAMPAIGN_MAX_MS },
    async (seed) => {
      const report = await runCampaign(servers, { ...SHORT, seeds: [seed] })
      expect(report.seeds.flatMap(({ violations }) => violations)).toEqual([])
      expect(report.totals.faults).toBeGreaterThanOrEqual(8)
      expect(report.totals.acknowledged).toBeGreaterThanOrEqual(30)
    },
  )

  it.runIf(isLong)(
    'on a build that executes before it records is caught (needs npm run test-long)',
    { timeout: CAMPAIGN_MAX_MS },
    async () => {
      const report = await runCampaign(servers, {
        ...SHORT,
        seconds: 4,
        seeds: [101],
        knownBad: 'audit-after-effect',
        knownBadDrainMaxMs: 5_000,
      })
      expect(report.broken).toContain('I4')
    },
  )
})
