// What stands beside a task's records in the hot store: the batches they came in, and their texts.
import { openSegment, readRecord, toBase64 } from '@baton/ledger'
import type { BundleBatch, BundlePayload } from '@baton/ledger'
import type { ColdTier } from '../cold/cold-tier.ts'
import { copyOut } from '@baton/postgres'
import type { Snapshot } from '../database.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

export interface RecordSeat {
  readonly chain: number
  readonly origin: string
  readonly seq: number
}

/** The signed batches that these records came in, by origin and seq, each once. */
export async function readBatchesOf(
  { client }: Snapshot,
  seats: readonly RecordSeat[],
): Promise<BundleBatch[]> {
  const origins = new Map(seats.map(({ chain, origin }) => [chain, origin]))
  const rows = await copyOut(
    client,
    `select distinct b.chain, b.first_seq, b.last_seq, b.last_hash, b.key_id, b.signature
     from ${valuesOf(seats)} cross join lateral (
       select * from audit.batch_sig s where s.chain = w.chain and s.last_seq >= w.seq
       order by s.last_seq limit 1) b
     where b.first_seq <= w.seq`,
    (fields): BundleBatch => ({
      origin: origins.get(fields.int2(0)) ?? '',
      firstSeq: fields.int8(1),
      lastSeq: fields.int8(2),
      lastHash: fields.bytes(3).toString('hex'),
      keyId: fields.text(4),
      signature: toBase64(fields.bytes(5)),
    }),
  )
  return rows.toSorted((left, right) => compare(left, right) || left.lastSeq - right.lastSeq)
}

/** A record with its bytes, which say how its texts are stored. */
export interface SeatedRecord extends RecordSeat {
  readonly body: Uint8Array
}

interface TextSources {
  readonly vault: Pick<SubjectVault, 'keysOf'>
  readonly tier: ColdTier
}

/** The texts of these records that still can be opened, by origin, seq and segment. */
export async function readTexts(
  { client }: Snapshot,
  seats: readonly SeatedRecord[],
  { vault, tier }: TextSources,
): Promise<BundlePayload[]> {
  const origins = new Map(seats.map(({ chain, origin }) => [chain, origin]))
  const hot = await copyOut(
    client,
    `select p.chain, p.seq, p.segment, p.subject_ref, p.nonce, p.ciphertext
     from ${valuesOf(seats)} join audit.payload p on p.chain = w.chain and p.seq = w.seq`,
    (fields) => ({
      origin: origins.get(fields.int2(0)) ?? '',
      seq: fields.int8(1),
      segment: fields.int2(2),
      subjectRef: fields.uuid(3),
      nonce: fields.bytes(4),
      ciphertext: fields.bytes(5),
    }),
  )
  const rows = [...hot, ...(await readColdTexts(tier, seats))]
  const keys = await vault.keysOf(new Set(rows.map(({ subjectRef }) => subjectRef)))
  const named = new Map(
    seats.map(({ origin, seq, body }) => [`${origin} ${seq}`, readRecord(body)?.payload]),
  )
  const texts = rows.flatMap(({ origin, seq, segment, subjectRef, ...encrypted }) => {
    const key = keys.get(subjectRef)
    const reference = named.get(`${origin} ${seq}`)?.find((one) => one.segment === segment)
    if (key === undefined || reference === undefined) return []
    const salted = openSegment(key, { origin, seq }, { reference, encrypted })
    return salted === undefined ? [] : [{ origin, seq, segment, salted: toBase64(salted) }]
  })
  return texts.toSorted(
    (left, right) => compare(left, right) || left.seq - right.seq || left.segment - right.segment,
  )
}

async function readColdTexts(tier: ColdTier, seats: readonly RecordSeat[]) {
  if (!(await tier.isUsed())) return []
  const found = await Promise.all(
    seats.map(async ({ chain, origin, seq }) => {
      const segments = await tier.segments({ chain, firstSeq: seq, lastSeq: seq })
      return segments.map((segment) => ({ ...segment, origin }))
    }),
  )
  return found.flat()
}

const compare = (left: { readonly origin: string }, right: { readonly origin: string }): number =>
  Number(left.origin > right.origin) - Number(left.origin < right.origin)

const valuesOf = (seats: readonly RecordSeat[]): string => {
  const rows = seats.map(({ chain, seq }) => `(${chain}::smallint, ${seq}::bigint)`)
  return `(values ${rows.join(', ')}) as w (chain, seq)`
}
