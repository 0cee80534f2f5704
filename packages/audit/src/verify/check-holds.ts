// The table of legal holds compared with the records that set and lift them.
import type { Finding } from '@baton/ledger'
import { readLegalHolds } from '../cold/archive-positions.ts'
import type { LegalHold } from '../cold/archive-positions.ts'
import type { Snapshot } from '../database.ts'
import { NO_FINDINGS, stateFinding } from './state-check.ts'
import type { StateCheck } from './state-check.ts'

interface SetHold {
  readonly chain: number
  readonly origin: string
  readonly seq: number
  readonly heldAtMs: number
}

/** A held task expires with none of its records, so that the record of a hold that stands is always there. */
export function checkHolds(snapshot: Snapshot): StateCheck {
  const holds = new Map<string, SetHold>()
  return {
    next({ chain, origin }, { reading, columns }) {
      if (reading?.event === 'LEGAL_HOLD_LIFTED') holds.delete(reading.taskId)
      if (reading?.event !== 'LEGAL_HOLD_SET' || holds.has(reading.taskId)) return NO_FINDINGS
      const heldAtMs = Math.floor(columns.recordedAtMicros / 1_000)
      holds.set(reading.taskId, { chain, origin, seq: columns.seq, heldAtMs })
      return NO_FINDINGS
    },
    async finish() {
      const rows = new Map((await readLegalHolds(snapshot)).map((row) => [row.taskId, row]))
      return [
        ...[...holds].flatMap(([taskId, set]) => compared(taskId, set, rows.get(taskId))),
        ...[...rows.keys()]
          .filter((taskId) => !holds.has(taskId))
          .map((taskId) =>
            stateFinding(
              undefined,
              `the table of holds names task ${taskId}, which no record holds`,
            ),
          ),
      ]
    },
  }
}

function compared(taskId: string, set: SetHold, row: LegalHold | undefined): Finding[] {
  if (row === undefined) {
    return [
      stateFinding(set, `task ${taskId} is held by this record, and not in the table of holds`),
    ]
  }
  const isSame =
    row.chain === set.chain && row.seq === set.seq && row.heldAt.getTime() === set.heldAtMs
  const message = `the table of holds says of task ${taskId} that another record holds it`
  return isSame ? [] : [stateFinding(set, message)]
}
