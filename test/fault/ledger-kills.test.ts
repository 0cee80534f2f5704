// Six kills under load, one of each: no acknowledged record is lost, nothing forks, nothing executes without a receipt.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWith, startOwnRedis } from '@baton/testkit'
import { startServers } from '../chaos/campaign.ts'
import { runLedgerCampaign } from '../chaos/ledger-campaign.ts'
import type { Servers } from '../chaos/world.ts'

const redisOrNot = await startOwnRedis()
if (!('unavailable' in redisOrNot)) await redisOrNot.stop()

describeWith('the audit log under kill -9', redisOrNot, () => {
  let servers: Servers & { stop(): Promise<void> }
  beforeAll(async () => {
    servers = await startServers()
  })
  afterAll(() => servers.stop())

  it(
    'keeps every acknowledged record, in one history, in both tiers',
    { timeout: 240_000 },
    async () => {
      const report = await runLedgerCampaign(servers, {
        seed: 11,
        kills: 6,
        handoffsPerSecond: 8,
        appendsPerSecond: 40,
        say: () => undefined,
      })
      expect(report.violations).toEqual([])
      expect(report).toMatchObject({ ok: true, lost: 0, forks: 0, executionsWithoutReceipt: 0 })
      const once = { auditor: 1, sealer: 1, archiver: 1, witness: 1, postgres: 1, backend: 1 }
      expect(report.kills).toEqual(once)
      expect(report.acknowledgedRecords).toBeGreaterThan(50)
      expect(report.executions).toBeGreaterThan(20)
      expect(report.seals).toBeGreaterThan(5)
      expect(report.archivedRecords).toBe(report.records)
    },
  )
})
