// What became of every segment of the records that an erasure touched, wherever the records stand now.
import { judgeSegments, readRecord } from '@baton/ledger'
import type { RecordBody, SegmentVerdict } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import type { Database } from '../database.ts'
import { findErasedPlaces, readErasedRecords } from './erased-segments.ts'
import type { RecordAt } from './erased-segments.ts'
import { createAuthenticatedErasures } from './authenticated-erasures.ts'
import { readSegments } from '../read/segments.ts'
import type { SegmentRow } from '../read/segments.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

/** The cold tier, read as audit_reader. */
export interface ColdReading {
  readonly db: Database
  readonly store: ColdStore
}

interface JudgeOptions {
  /** Connected as audit_eraser. */
  readonly db: Database
  readonly vault: Pick<SubjectVault, 'keysOf'>
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly cold: ColdReading | undefined
}

interface Touched {
  readonly chain: number
  readonly body: RecordBody
  readonly rows: readonly SegmentRow[]
}

/** How many segments have each verdict. Records that have expired, and those of unreadable bundles, are not judged. */
export async function judgeErased(
  options: JudgeOptions,
  erasureId: string,
): Promise<Record<SegmentVerdict, number>> {
  const { db, vault, batchKeys, cold } = options
  const counts = { present: 0, erased: 0, missing: 0, mismatch: 0 }
  const authentic = createAuthenticatedErasures(cold?.db ?? db, batchKeys, cold?.store)
  const touched = [
    ...(await readHot(db, erasureId)),
    ...(cold === undefined ? [] : await readCold(cold, erasureId)),
  ]
  for (const { chain, body, rows } of touched) {
    const keys = await vault.keysOf(new Set(rows.map((row) => row.subjectRef)))
    const stored = rows.map((row) => ({ ...row, key: keys.get(row.subjectRef) }))
    const range = { chain, firstSeq: body.seq, lastSeq: body.seq }
    const named = (await authentic.of(range)).get(body.seq)
    for (const { verdict } of judgeSegments(body, stored, named)) counts[verdict] += 1
  }
  return counts
}

async function readHot(db: Database, erasureId: string): Promise<Touched[]> {
  const touched: Touched[] = []
  for (const { chain, seq, body } of await readErasedRecords(db, erasureId)) {
    const reading = readRecord(body)
    if (reading === undefined) continue
    const rows = await readSegments(db, { chain, firstSeq: seq, lastSeq: seq })
    touched.push({ chain, body: reading, rows })
  }
  return touched
}

async function readCold({ db, store }: ColdReading, erasureId: string): Promise<Touched[]> {
  const tier = createColdTier(db, store)
  const places: RecordAt[] = []
  for (const place of await findErasedPlaces(db, erasureId)) {
    const { hotFrom, minIndex } = await tier.position(place.chain)
    if (place.seq < hotFrom && place.seq >= minIndex) places.push(place)
  }
  const byBundle = Map.groupBy(places, ({ chain, seq }) => `${chain}/${bundleOf(seq)}`)
  const found = [...byBundle.values()].map((inBundle) => readBundle(tier, inBundle))
  return (await Promise.all(found)).flat()
}

async function readBundle(tier: ColdTier, places: readonly RecordAt[]): Promise<Touched[]> {
  const [{ chain, seq: firstSeq }, { seq: lastSeq }] = [places[0], places.at(-1)] as [
    RecordAt,
    RecordAt,
  ]
  const records = await tier.bundle(chain, bundleOf(firstSeq))
  const rows = await tier.segments({ chain, firstSeq, lastSeq })
  const wanted = new Set(places.map(({ seq }) => seq))
  return records.flatMap(({ seq, reading }) => {
    if (!wanted.has(seq) || reading?.seq !== seq) return []
    return [{ chain, body: reading, rows: rows.filter((row) => row.seq === seq) }]
  })
}
