// A task's records alone show whether a middle one is missing, edited or out of order.
import { GENESIS_HASH } from './record.ts'
import type { RecordBody } from './record.ts'

/** A place in a trace where something should stand and does not. */
export interface TraceGap {
  readonly kind: 'TASK_SEQ' | 'TASK_LINK' | 'PARENT_MISSING'
  /** The record at which the gap was noticed. */
  readonly seq: number
  readonly message: string
}

interface TraceRecord {
  readonly body: RecordBody
  /** The hash recomputed from the stored bytes, as lower-case hex. */
  readonly recordHash: string
}

/** Where a trace begins whose first records have expired. */
interface TraceStart {
  readonly taskSeq: number
  /** Of the record before; undefined for a trace that is whole. */
  readonly hash: Uint8Array | undefined
}

const WHOLE: TraceStart = { taskSeq: 0, hash: undefined }

/** Checks the task links and the parent handoffs of a trace that is in order of seq. */
export function traceGaps(records: readonly TraceRecord[], start = WHOLE): TraceGap[] {
  const gaps: TraceGap[] = []
  const handoffs = new Set(records.map(({ body }) => body.handoffId))
  let expectedSeq = start.taskSeq
  let expectedHash = Buffer.from(start.hash ?? GENESIS_HASH).toString('hex')
  for (const { body, recordHash } of records) {
    const { seq, taskSeq, parentHandoffId } = body
    if (taskSeq !== expectedSeq) {
      const message = `expected the task's record ${expectedSeq}, found ${taskSeq}`
      gaps.push({ kind: 'TASK_SEQ', seq, message })
    } else if (body.previousTaskRecordHash !== expectedHash) {
      const message = "does not link to the task's record before it"
      gaps.push({ kind: 'TASK_LINK', seq, message })
    }
    // The parent may have expired.
    const isWhole = start.taskSeq === 0
    if (isWhole && parentHandoffId !== null && !handoffs.has(parentHandoffId)) {
      const message = `the parent handoff ${parentHandoffId} has no record in this task`
      gaps.push({ kind: 'PARENT_MISSING', seq, message })
    }
    expectedSeq = taskSeq + 1
    expectedHash = recordHash
  }
  return gaps
}
