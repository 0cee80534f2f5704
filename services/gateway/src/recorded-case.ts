// What the log says of a dead letter: its records, each as well kept as it is proven, and what no record says of it.
import type { DeadLetterCase, Vote } from '@baton/store'
import type { AuditReads, AuditTrace } from './audit-reads.ts'

/** A record of the handoff, as its bytes say. */
interface CaseRecord {
  readonly event: string
  readonly recordedAt: string
  readonly reason: string | null
  readonly actor: string | null
  readonly recordHash: string
  readonly assurance: string
}

export interface RecordedCase {
  /** Whether the records of its task are what was recorded. */
  readonly verified: boolean
  readonly records: readonly CaseRecord[]
  /** What is shown of it and in no record: lifecycle events are recorded within seconds, so that a lasting one is an alarm. */
  readonly unrecorded: readonly string[]
}

/** Null while the log cannot be asked. */
export async function readRecordedCase(
  audit: Pick<AuditReads, 'trace'>,
  deadLetter: DeadLetterCase,
  votes: readonly Vote[],
): Promise<RecordedCase | null> {
  let trace: Awaited<ReturnType<AuditReads['trace']>>
  try {
    trace = await audit.trace(deadLetter.taskId)
  } catch {
    return null
  }
  const found = typeof trace === 'string' ? NOTHING : trace
  const records = recordsOf(found, deadLetter.handoffId)
  return {
    verified: found.verified,
    records,
    unrecorded: unrecordedOf(records, deadLetter, votes),
  }
}

const NOTHING: AuditTrace = { records: [], verified: false }

interface TraceRecord extends Pick<CaseRecord, 'recordHash' | 'assurance'> {
  readonly body: Pick<CaseRecord, 'event' | 'recordedAt' | 'reason'> & {
    readonly handoffId: string
    readonly act?: { readonly actor: string }
  }
}

const recordsOf = ({ records }: AuditTrace, handoffId: string): CaseRecord[] =>
  (records as readonly TraceRecord[])
    .filter(({ body }) => body.handoffId === handoffId)
    .map(({ recordHash, assurance, body: { event, recordedAt, reason, act } }) => ({
      event,
      recordedAt,
      reason,
      actor: act?.actor ?? null,
      recordHash,
      assurance,
    }))

function unrecordedOf(
  records: readonly CaseRecord[],
  { reason }: DeadLetterCase,
  votes: readonly Vote[],
): string[] {
  const isReason = records.some((record) => record.reason === reason)
  const voters = votes.filter(({ action }) => action === 'RELEASE').map(({ reviewer }) => reviewer)
  const voted = new Set(
    records.filter(({ event }) => event === 'RELEASE_APPROVED').map(({ actor }) => actor),
  )
  return [
    ...(isReason ? [] : [`its reason ${reason}`]),
    ...voters.filter((one) => !voted.has(one)).map((one) => `the vote of ${one} for its release`),
  ]
}
