// All game days, and the alerts that none of them provokes, with the reason.
import { BOARDS } from '@baton/infra/boards'
import { agentAway } from './days/agent-away.ts'
import { auditSlow, auditSlowForDays } from './days/audit-slow.ts'
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
import { archiveBehind } from './days/archive-behind.ts'
import { bundleAway } from './days/bundle-away.ts'
import { diskFull } from './days/disk-full.ts'
import { erasureFails } from './days/erasure-fails.ts'
import { keyEnds } from './days/key-ends.ts'
import { receiptsUnmatched } from './days/receipts-unmatched.ts'
import { scanIncomplete } from './days/scan-incomplete.ts'
import { scrubStopped } from './days/scrub-stopped.ts'
import { serverUnsafe } from './days/server-unsafe.ts'
import { witnessAway } from './days/witness-away.ts'
import { contextsGrow } from './days/contexts-grow.ts'
import { artefactRefused } from './days/artefact-refused.ts'
import { classifierAway } from './days/classifier-away.ts'
import { readsFail } from './days/reads-fail.ts'
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
  auditSlowForDays,
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
  receiptsUnmatched,
  scanIncomplete,
  serverUnsafe,
  keyEnds,
  bundleAway,
  diskFull,
  witnessAway,
  scrubStopped,
  archiveBehind,
  erasureFails,
  readsFail,
  contextsGrow,
  classifierAway,
  artefactRefused,
]

/** Alerts that no game day provokes, and why. */
export const NOT_PROVOKED: Readonly<Record<string, string>> = {
  BatonEventsUndelivered:
    'a consumer of events is a program outside, and has half an hour: a test keeps one away for two days, and the rule has its own',
  BatonDrillOverdue:
    'nothing breaks: eight days pass without a drill. A test sets the last one back, reads its age, and drills; the rule has its own',
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
