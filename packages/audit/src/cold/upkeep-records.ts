// The records of what leaves a store: one task per log, whose trace is the history of its upkeep.
import { createHash } from 'node:crypto'
import type { AuditEntry } from '@baton/ledger'

/** The same text gives the same UUID, version 8. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const variant = '89ab'[Number.parseInt(hex.slice(16, 17), 16) % 4]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** The task under which a log's own upkeep is recorded. */
const upkeepTask = (sealLog: string): string => uuidOf(`baton/upkeep/v1|${sealLog}`)

/** The same for each try, so that recording it again answers the first receipt. */
function upkeepEntry(sealLog: string, what: { handoffId: string; reason: string }): AuditEntry {
  const { handoffId, reason } = what
  const taskId = upkeepTask(sealLog)
  const [trace, span] = [taskId, handoffId].map((id) => id.replaceAll('-', ''))
  return {
    event: 'PARTITION_DROPPED',
    taskId,
    handoffId,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'archiver', agentVersion: '1', executionId: handoffId },
    toAgent: { agentType: 'audit-log', agentVersion: null },
    traceparent: `00-${trace}-${span?.slice(0, 16)}-00`,
    verdicts: null,
    reason,
    cost: null,
    segments: [],
  }
}

/** A day of records stands in the cold store alone from now on. `day` is YYYY-MM-DD. */
export const dropEntry = (sealLog: string, day: string): AuditEntry =>
  upkeepEntry(sealLog, {
    handoffId: uuidOf(`baton/drop/v1|${sealLog}|${day}`),
    reason: `DAY_${day.replaceAll('-', '')}`,
  })

export interface Expiry {
  readonly chain: number
  /** The first record that is kept. */
  readonly toIndex: number
}

/** The records of a chain below `toIndex` stand nowhere any more: their retention has ended. */
export const expiryEntry = (sealLog: string, { chain, toIndex }: Expiry): AuditEntry =>
  upkeepEntry(sealLog, {
    handoffId: uuidOf(`baton/expiry/v1|${sealLog}|${chain}|${toIndex}`),
    reason: `EXPIRED_CHAIN_${chain}_BELOW_${toIndex}`,
  })
