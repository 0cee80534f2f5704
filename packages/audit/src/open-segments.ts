// The payload segments of a page of records, with the keys that open them.
import type { StoredRecord, StoredSegment } from '@baton/ledger'
import type { ColdTier } from './cold/cold-tier.ts'
import type { Database } from './database.ts'
import { readSegments } from './payloads.ts'
import type { ScannedRecord } from './scan-chain.ts'
import type { SubjectVault } from './subject-vault.ts'

type Vault = Pick<SubjectVault, 'keysOf'> | undefined
type Segments = ReadonlyMap<number, StoredSegment[]>

/** The record with its segments; as it is where payloads are not part of the verification. */
export const withSegments = (
  scanned: ScannedRecord,
  segments: Segments | undefined,
): StoredRecord =>
  segments === undefined
    ? scanned
    : { ...scanned, segments: segments.get(scanned.columns.seq) ?? [] }

interface Page {
  readonly chain: number
  readonly page: readonly ScannedRecord[]
  readonly vault: Vault
  readonly tier: ColdTier
}

/** The segments of a page by seq, each with its key where that still exists; undefined without a vault. */
export async function openableSegments(
  db: Database,
  { chain, page, vault, tier }: Page,
): Promise<Segments | undefined> {
  if (vault === undefined) return undefined
  const firstSeq = (page[0] as ScannedRecord).columns.seq
  const lastSeq = (page.at(-1) as ScannedRecord).columns.seq
  const range = { chain, firstSeq, lastSeq }
  const rows = [...(await tier.segments(range)), ...(await readSegments(db, range))]
  const keys = await vault.keysOf(new Set(rows.map((row) => row.subjectRef)))
  const segments = rows.map((row) => ({ ...row, key: keys.get(row.subjectRef) }))
  return Map.groupBy(segments, (segment) => segment.seq)
}
