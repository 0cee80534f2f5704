// Where a person stands in the log: the index of payloads finds the records, and the records say what they are.
import type { RecordBody } from '@baton/ledger'
import type { ColdStore } from '../cold/cold-store.ts'
import type { Pool } from '../database.ts'
import type { Assurance, CoveredSizes } from '../read/assurance.ts'
import { readTrace } from '../read/read-trace.ts'
import type { SubjectPlace } from './erasures.ts'

/** A record in which a person has segments, without any text. */
export interface SubjectRecord extends SubjectPlace {
  /** What its bytes say; null where they do not say anything, or are not of this task. */
  readonly event: RecordBody['event'] | null
  /** Lower-case hex; null likewise. */
  readonly recordHash: string | null
  /** How well it is kept; null where nothing can be said. */
  readonly assurance: Assurance | null
  /** Whether its task's records are what was recorded. */
  readonly verified: boolean
}

interface Reading {
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  readonly covered: CoveredSizes | undefined
}

/** Each place with its record, proven as a trace is. */
export async function proveSubjectRecords(
  { reader, cold, covered }: Reading,
  places: readonly SubjectPlace[],
): Promise<SubjectRecord[]> {
  const found: SubjectRecord[] = []
  for (const [taskId, own] of Map.groupBy(places, (place) => place.taskId)) {
    const { records, verified } = await readTrace(reader, taskId, { cold, covered })
    for (const place of own) {
      const record = records.find(
        ({ body: { origin, seq, handoffId } }) =>
          origin === place.origin && seq === place.seq && handoffId === place.handoffId,
      )
      found.push({
        ...place,
        event: record?.body.event ?? null,
        recordHash: record?.recordHash ?? null,
        assurance: record?.assurance ?? null,
        verified: verified && record !== undefined,
      })
    }
  }
  return found
}
