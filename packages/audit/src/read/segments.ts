// Payload segments as they are stored, and those of a page of records with the keys that open them and what was erased of them.
import type { EncryptedSegment, Finding, StoredRecord, StoredSegment } from '@baton/ledger'
import { micros } from '@baton/postgres/statements'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { AuthenticatedErasures, ErasedBySeq } from '../erasure/authenticated-erasures.ts'
import type { ScannedRecord } from '../verify/scan-chain.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

/** Records of a chain, both ends included. */
export interface SeqRange {
  readonly chain: number
  readonly firstSeq: number
  readonly lastSeq: number
}

export interface SegmentRow extends EncryptedSegment {
  readonly seq: number
  readonly segment: number
  readonly subjectRef: string
  /** Microseconds since 1970, by which it is dropped with its record; a bundle of the cold store has one time for both. */
  readonly recordedAtMicros?: number
}

/** The segments of the records of a range that the database holds. */
export const readSegments = (db: Database, range: SeqRange): Promise<SegmentRow[]> =>
  run(
    db,
    'read_segments',
    audit
      .selectFrom('audit.payload')
      .select(['seq', 'segment', 'subject_ref as subjectRef', 'nonce', 'ciphertext'])
      .select(({ ref }) => micros(ref('recorded_at')).as('recordedAtMicros'))
      .where('chain', '=', range.chain)
      .where(({ between }) => between('seq', range.firstSeq, range.lastSeq)),
  )

type Vault = Pick<SubjectVault, 'keysOf'> | undefined

interface Segments {
  readonly stored: ReadonlyMap<number, (StoredSegment & Pick<SegmentRow, 'recordedAtMicros'>)[]>
  readonly erased: ErasedBySeq
}

/** The record with its segments; as it is where payloads are not part of the verification. */
export const withSegments = (
  scanned: ScannedRecord,
  segments: Segments | undefined,
): StoredRecord => {
  if (segments === undefined) return scanned
  const { seq } = scanned.columns
  return { ...scanned, segments: segments.stored.get(seq) ?? [], erased: segments.erased.get(seq) }
}

/** Segments that stand under another time than their record: they would be dropped on another day, or not be found. */
export function misplacedSegments(
  { columns: { seq, recordedAtMicros }, reading }: ScannedRecord,
  segments: Segments | undefined,
): Finding[] {
  const misplaced = (segments?.stored.get(seq) ?? []).filter(
    (one) => one.recordedAtMicros !== undefined && one.recordedAtMicros !== recordedAtMicros,
  )
  return misplaced.map(({ segment }) => ({
    origin: reading?.origin ?? '',
    seq,
    rule: 'PAYLOAD_MISMATCH',
    message: `segment ${segment}: it stands under another time than its record`,
  }))
}

interface Page {
  readonly chain: number
  readonly page: readonly ScannedRecord[]
  readonly vault: Vault
  readonly erasures: AuthenticatedErasures
  readonly tier: ColdTier
}

/** The segments of a page by seq, each with its key where that still exists; undefined without a vault. */
export async function openableSegments(
  db: Database,
  { chain, page, vault, erasures, tier }: Page,
): Promise<Segments | undefined> {
  if (vault === undefined) return undefined
  const firstSeq = (page[0] as ScannedRecord).columns.seq
  const lastSeq = (page.at(-1) as ScannedRecord).columns.seq
  const range = { chain, firstSeq, lastSeq }
  const rows = [...(await tier.segments(range)), ...(await readSegments(db, range))]
  const keys = await vault.keysOf(new Set(rows.map((row) => row.subjectRef)))
  const segments = rows.map((row) => ({ ...row, key: keys.get(row.subjectRef) }))
  // After the keys: a key is gone only once the erasure that names its segments is recorded.
  const erased = await erasures.of({ chain, firstSeq, lastSeq })
  return { stored: Map.groupBy(segments, (segment) => segment.seq), erased }
}
