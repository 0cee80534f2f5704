// Index columns are copies of the body. They are made here and recomputed here, never trusted.
import { EVENT_NUMBERS, isAuditEvent } from './audit-event.ts'
import { parseInstant } from './instant.ts'
import type { RecordBody } from './record.ts'

/** The columns that stand beside a body so that queries are fast. */
export interface RecordColumns {
  readonly seq: number
  readonly recordedAtMicros: number | undefined
  readonly taskId: string
  readonly handoffId: string
  readonly eventNumber: number | undefined
  readonly spentMicroUSD: number | null
}

/** What the columns of a body must be. */
export function columnsOf(body: RecordBody): RecordColumns {
  return {
    seq: body.seq,
    recordedAtMicros: parseInstant(body.recordedAt),
    taskId: body.taskId,
    handoffId: body.handoffId,
    eventNumber: isAuditEvent(body.event) ? EVENT_NUMBERS[body.event] : undefined,
    spentMicroUSD: body.cost?.spentMicroUSD ?? null,
  }
}

const NONE: readonly string[] = []

/** The names of the columns that differ from the body. */
export function differingColumns(body: RecordBody, stored: RecordColumns): readonly string[] {
  const expected = columnsOf(body)
  if (
    expected.seq === stored.seq &&
    expected.recordedAtMicros === stored.recordedAtMicros &&
    expected.taskId === stored.taskId &&
    expected.handoffId === stored.handoffId &&
    expected.eventNumber === stored.eventNumber &&
    expected.spentMicroUSD === stored.spentMicroUSD
  ) {
    return NONE
  }
  const names = Object.keys(expected) as (keyof RecordColumns)[]
  return names.filter((name) => expected[name] !== stored[name])
}
