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
  /** By task, of those that are not held: the record of the lift. */
  const lifts = new Map<string, number>()
  return {
    next({ chain, origin }, { reading, columns }) {
      if (reading?.event === 'LEGAL_HOLD_LIFTED' && holds.delete(reading.taskId))
        lifts.set(reading.taskId, columns.seq)
      if (reading?.event !== 'LEGAL_HOLD_SET' || holds.has(reading.taskId)) return NO_FINDINGS
      const heldAtMs = Math.floor(columns.recordedAtMicros / 1_000)
      holds.set(reading.taskId, { chain, origin, seq: columns.seq, heldAtMs })
      lifts.delete(reading.taskId)
      return NO_FINDINGS
    },
    async finish() {
      const rows = new Map((await readLegalHolds(snapshot)).map((row) => [row.taskId, row]))
      return [
        ...[...holds].flatMap(([taskId, set]) => compared(taskId, set, rows.get(taskId))),
        ...[...rows.values()]
          .filter(({ taskId, liftedSeq }) => !holds.has(taskId) && liftedSeq !== lifts.get(taskId))
          .map(({ taskId }) =>
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
  if (row.liftedSeq !== null) {
    return [
      stateFinding(set, `task ${taskId} is held by this record, and lifted in the table of holds`),
    ]
  }
  const isSame =
    row.chain === set.chain && row.seq === set.seq && row.heldAt.getTime() === set.heldAtMs
  const message = `the table of holds says of task ${taskId} that another record holds it`
  return isSame ? [] : [stateFinding(set, message)]
}
