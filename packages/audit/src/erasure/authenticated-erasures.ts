// Which segments an authenticated erasure names: a record in a signed batch, whose digest fits the stored list.
import { erasureOf, readRecord, recordHash, uuidBytes, verifyBatch } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { readColdErasureRecords } from '../cold/erasure-records.ts'
import type { RecordInBatch } from '../cold/erasure-records.ts'
import { audit, run } from '../database.ts'
import type { Database } from '../database.ts'
import { readListsOf } from './erased-segments.ts'
import type { SeqRange } from '../read/segments.ts'
import { BINARY } from '@baton/postgres'

/** By record: the subject of each erased segment, by segment number. */
export type ErasedBySeq = ReadonlyMap<number, ReadonlyMap<number, string>>

/**
 * Answers about the segments of a range of records which of them an authenticated erasure names (I11). The list
 * of a subject is stored, and not believed: it counts where its digest and length stand in a record
 * ERASURE_REQUESTED or ERASURE_COMPLETED that an append service has signed. One for each verification;
 * it reads what is committed now, so that an erasure that runs meanwhile is no false alarm.
 */
export interface AuthenticatedErasures {
  of(range: SeqRange): Promise<ErasedBySeq>
  /** Those of these subjects whose list such a record names. */
  subjects(subjectRefs: readonly string[]): Promise<ReadonlySet<string>>
}

/** `batchKeys` are the trusted public keys of append services, by key id; without `cold` what left the database is not read. */
export function createAuthenticatedErasures(
  db: Database,
  batchKeys: ReadonlyMap<string, KeyObject>,
  cold?: ColdStore,
): AuthenticatedErasures {
  const known = new Map<string, boolean>()

  /** The signed records of the erasures of these subjects. */
  async function readRecorded(subjectRefs: readonly string[]): Promise<RecordBody[]> {
    const refs = BINARY.uuid.encode(subjectRefs.map(uuidBytes))
    const rows = await run<RecordInBatch>(db, 'read_erasure_records', RECORDS_IN_BATCHES, [refs])
    const gone =
      cold === undefined
        ? []
        : await readColdErasureRecords(db, createColdTier(db, cold), subjectRefs)
    const byRecord = Map.groupBy([...rows, ...gone], (row) => `${row.chain}/${row.erasureSeq}`)
    return [...byRecord.values()].flatMap((run) => signedRecord(run, batchKeys) ?? [])
  }

  async function learn(subjectRefs: ReadonlySet<string>): Promise<void> {
    const unknown = [...subjectRefs].filter((ref) => !known.has(ref))
    if (unknown.length === 0) return
    const recorded = await readRecorded(unknown)
    const lists = new Map(
      (await readListsOf(db, unknown)).map((list) => [list.subjectRef, list.places]),
    )
    for (const ref of unknown) {
      const { segments, listSha256 } = erasureOf(ref, lists.get(ref) ?? [])
      const fits = recorded.some(
        ({ erasure }) =>
          erasure?.subjectRef === ref &&
          erasure.segments === segments &&
          erasure.listSha256 === listSha256,
      )
      known.set(ref, fits)
    }
  }

  return {
    async subjects(subjectRefs) {
      await learn(new Set(subjectRefs))
      return new Set(subjectRefs.filter((ref) => known.get(ref) === true))
    },
    async of({ chain, firstSeq, lastSeq }) {
      const rows = await run(
        db,
        'read_erased_segments',
        audit
          .selectFrom('audit.erased_segment')
          .select(['seq', 'segment', 'subject_ref as subjectRef'])
          .where('chain', '=', chain)
          .where(({ between }) => between('seq', firstSeq, lastSeq)),
      )
      if (rows.length === 0) return NONE
      await learn(new Set(rows.map((row) => row.subjectRef)))
      const erased = new Map<number, Map<number, string>>()
      for (const { seq, segment, subjectRef } of rows) {
        if (known.get(subjectRef) !== true) continue
        const segments = erased.get(seq) ?? new Map<number, string>()
        erased.set(seq, segments.set(segment, subjectRef))
      }
      return erased
    },
  }
}

/** The first record of a run that ends a batch, where every link and the batch's signature hold. */
function signedRecord(
  rows: readonly RecordInBatch[],
  batchKeys: ReadonlyMap<string, KeyObject>,
): RecordBody | undefined {
  const [first] = rows
  if (first === undefined) return undefined
  let before: string | undefined
  for (const [index, row] of rows.entries()) {
    const body = readRecord(row.body)
    if (body?.origin !== first.origin || body.seq !== first.erasureSeq + index) return undefined
    if (before !== undefined && body.previousRecordHash !== before) return undefined
    before = recordHash(row.body).toString('hex')
  }
  const { origin, firstSeq, lastSeq, keyId, signature } = first
  const key = batchKeys.get(keyId)
  const isWhole = lastSeq === first.erasureSeq + rows.length - 1
  if (key === undefined || before === undefined || !isWhole) return undefined
  const isSigned = verifyBatch({ origin, firstSeq, lastSeq, lastHash: before }, signature, key)
  return isSigned ? readRecord(first.body) : undefined
}

const NONE: ErasedBySeq = new Map()

// Each erasure record with those behind it up to the end of its batch, in order. A lateral join says it best.
const RECORDS_IN_BATCHES = `
select e.chain, h.origin, e.seq as "erasureSeq", r.body, b.first_seq as "firstSeq",
  b.last_seq as "lastSeq", b.key_id as "keyId", b.signature
from (select distinct erasure_id from audit.erased_subject where subject_ref = any($1::uuid[])) s
join audit.record e on e.handoff_id = s.erasure_id and e.event in (20, 21)
join audit.head h on h.chain = e.chain
cross join lateral (select * from audit.batch_sig b where b.chain = e.chain and b.last_seq >= e.seq
  order by b.last_seq limit 1) b
join audit.record r on r.chain = e.chain and r.seq between e.seq and b.last_seq
order by e.chain, e.seq, r.seq`
