// All game days, and the alerts that none of them provokes, with the reason.
import { BOARDS } from '@baton/infra/boards'
import { agentAway } from './days/agent-away.ts'
import { auditSlow } from './days/audit-slow.ts'
import { clockWrong } from './days/clock-wrong.ts'
import { eventLoopBlocked } from './days/event-loop-blocked.ts'
import { injectionWave } from './days/injection-wave.ts'
import { processAway } from './days/process-away.ts'
import { relayAway } from './days/relay-away.ts'
import { rollbacks } from './days/rollbacks.ts'
import { schemaAltered } from './days/schema-altered.ts'
import { sealerAway } from './days/sealer-away.ts'
import { tamperedRecord } from './days/tampered-record.ts'
import { auditAway } from './days/audit-away.ts'
import { budgetFlood } from './days/budget-flood.ts'
import { connectionsExhausted } from './days/connections-exhausted.ts'
import { leasesExpire } from './days/leases-expire.ts'
import { outsideAway } from './days/outside-away.ts'
import { receiversBusy } from './days/receivers-busy.ts'
import { webhookAway } from './days/webhook-away.ts'
import type { GameDay } from './game-day.ts'

export const GAME_DAYS: readonly GameDay[] = [
  processAway,
  relayAway,
  agentAway,
  sealerAway,
  tamperedRecord,
  schemaAltered,
  clockWrong,
  auditSlow,
  injectionWave,
  rollbacks,
  eventLoopBlocked,
  auditAway,
  budgetFlood,
  connectionsExhausted,
  leasesExpire,
  outsideAway,
  receiversBusy,
  webhookAway,
]

/** Alerts that no game day provokes, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  BatonReceiptsUnmatched: 'no game day has been written for it yet',
  BatonScanIncomplete: 'no game day has been written for it yet',
  BatonServerUnsafe: 'no game day has been written for it yet',
  BatonExpiresSoon: 'no game day has been written for it yet',
  BatonExpiresNow: 'no game day has been written for it yet',
  BatonScrubStopped: 'no game day has been written for it yet',
  BatonColdFaults: 'no game day has been written for it yet',
  BatonErasuresFail: 'no game day has been written for it yet',
  BatonCompressionSpike: 'no game day has been written for it yet',
  BatonDiskLow: 'a disk of its own to fill needs root',
  BatonDiskFull: 'a disk of its own to fill needs root',
  BatonLogUnwitnessed: 'its limit of 15 minutes is an age, which a game day does not shorten',
  BatonArchiveBehind: 'more than 20,000 records must wait, which takes longer than a game day',
}

/** Where a person sees this metric: the dashboards and panels that draw it. */
export function panelsOf(metric: string): readonly string[] {
  const names = new RegExp(`\\b${metric}\\b`)
  return BOARDS.flatMap(({ title, rows }) =>
    rows
      .flatMap(({ panels }) => panels)
      .filter(({ queries }) => queries.some(({ expression }) => names.test(expression)))
      .map((panel) => `${title}: ${panel.title}`),
  )
}
