// One ledger campaign: a fresh system under load, its kills, the settling, the check.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPool } from '@baton/audit'
import { describeViolation } from './check.ts'
import { pause } from './fault.ts'
import { anchorLines, gather, readAlarms } from './ledger-gather.ts'
import { checkLedger } from './ledger-invariants.ts'
import { killPlan, runKills } from './ledger-kills.ts'
import { startLoad } from './ledger-load.ts'
import { startObserver } from './ledger-observer.ts'
import { ledgerReportOf } from './ledger-report.ts'
import type { LedgerReport } from './ledger-report.ts'
import { settle } from './ledger-settle.ts'
import { startLedgerWorld } from './ledger-world.ts'
import type { LedgerWorld } from './ledger-world.ts'
import type { Servers } from './world.ts'

export interface LedgerCampaignOptions {
  readonly seed: number
  readonly kills: number
  readonly handoffsPerSecond: number
  readonly appendsPerSecond: number
  say(text: string): void
}

/** The load goes on for this long before the first kill and after the last one has healed. */
const UNDELIVERED_MS = 1_500

/** Rejects only where the campaign itself fails. */
export async function runLedgerCampaign(
  servers: Servers,
  options: LedgerCampaignOptions,
): Promise<LedgerReport> {
  const { seed, say } = options
  const startedAt = Date.now()
  const folder = join(tmpdir(), `baton-chaos-${process.pid}`, `ledger-${seed}`)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const world = await startLedgerWorld({ ...servers, folder })
  const audit = createPool({
    url: world.system.adminUrls.audit,
    applicationName: 'chaos',
    connectionsMax: 2,
  })
  let observed
  try {
    observed = await observe(world, { ...options, startedAt, audit })
  } finally {
    await audit.end()
    await world.end()
  }
  const alarms = readAlarms(folder)
  const violations = checkLedger({ ...observed.evidence, alarms })
  const surprises = [...world.slots.values()].flatMap((slot) => slot.surprises)
  const report = ledgerReportOf({ ...observed, seed, startedAt, alarms, surprises, violations })
  for (const violation of violations.slice(0, SHOWN_MAX)) say(`  ${describeViolation(violation)}`)
  if (report.ok) rmSync(folder, { recursive: true, force: true })
  else say(`seed ${seed}: BROKEN; histories, receipts and logs: ${folder}`)
  return report
}

const SHOWN_MAX = 20

interface Observation extends LedgerCampaignOptions {
  readonly startedAt: number
  readonly audit: ReturnType<typeof createPool>
}

async function observe(world: LedgerWorld, options: Observation) {
  const { seed, say, startedAt, audit } = options
  const observer = startObserver(world)
  const load = startLoad({ ...options, world })
  await pause(UNDELIVERED_MS)
  const kills = await runKills(killPlan(seed, options.kills), {
    world,
    lastAcknowledged: () => load.lastAcknowledged(),
    say,
  })
  writeFileSync(join(world.folder, 'kills.json'), JSON.stringify(kills, null, 1))
  await pause(UNDELIVERED_MS)
  say(`${kills.length} kills over, settling`)
  await load.stop()
  const drainMs = await settle(world, audit)
  await observer.stop()
  const gathered = await gather({ world, pool: audit, kills, startedAt })
  const anchoredAt = anchorLines(world.ledger.files.anchorFile).map(({ at }) => Date.parse(at))
  return { ...gathered, kills, drainMs, anchoredAt }
}
