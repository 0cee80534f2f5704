// Whether a part of a chain is what was sealed there, all of it: its records, where the chain ends, where it begins, and where a time begins in it.
import { proveSubset, rootFromSubset, toBase64 } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { readExpiryRecord, untoldExpiry } from '../cold/retention-records.ts'
import type { Snapshot } from '../database.ts'
import type { CoveredSizes, SignedHead } from '../read/assurance.ts'
import { proveRows } from '../read/prove-records.ts'
import { isMissingLeaf, treeReader } from '../seals/tree-reader.ts'
import { storedAt, timeOf } from './record-times.ts'

export interface Proving {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
  /** Without it, nothing is known to be sealed. */
  readonly covered: CoveredSizes | undefined
}

interface StoredRange {
  readonly chain: number
  readonly origin: string
  /** Of the stored bytes of every record of it, by seq. */
  readonly hashes: ReadonlyMap<number, Uint8Array>
}

/**
 * How many of these records, which follow each other, lead to a signed head together: the one that was seen outside, and the
 * newest for those behind it. Those that no head covers yet are not proven, and nothing is wrong with that.
 */
export async function proveRange(
  reading: Proving,
  { chain, origin, hashes }: StoredRange,
): Promise<{ readonly proven: number; readonly findings: readonly Finding[] }> {
  const { covered } = reading
  let seqs = [...hashes.keys()].toSorted((left, right) => left - right)
  let proven = 0
  for (const head of [covered?.witnessed.get(chain), covered?.sealed.get(chain)]) {
    const below = seqs.filter((seq) => seq < (head?.size ?? 0))
    if (head === undefined || below.length === 0) continue
    if (!(await leadToHead(reading, { chain, hashes, seqs: below, head })))
      return { proven, findings: [notSealed(origin, below, head)] }
    proven += below.length
    seqs = seqs.slice(below.length)
  }
  return { proven, findings: [] }
}

interface SealedRange extends Pick<StoredRange, 'chain' | 'hashes'> {
  readonly seqs: readonly number[]
  readonly head: SignedHead
}

/** What lies around the range comes from stored hashes of the tree: where those are wrong nothing leads to the head. */
async function leadToHead(
  { snapshot, tier }: Proving,
  { chain, hashes, seqs: indexes, head: { size, root } }: SealedRange,
): Promise<boolean> {
  const read = treeReader(snapshot, { log: { chain }, stored: true, tier })
  const leafHashes = Buffer.concat(indexes.map((seq) => hashes.get(seq) as Uint8Array))
  try {
    const proof = await proveSubset(read, { indexes, size })
    const found = rootFromSubset({ size, indexes, leafHashes, proof })
    return found !== undefined && toBase64(found) === root
  } catch (error) {
    if (isMissingLeaf(error)) return false
    throw error
  }
}

const notSealed = (origin: string, seqs: readonly number[], { size }: SignedHead): Finding => ({
  origin,
  seq: seqs[0] ?? 0,
  rule: 'SEAL_ROOT',
  message: `the records ${seqs[0]} to ${seqs.at(-1)} do not lead to the signed head over ${size} records: one of them, or one near them, was altered or is gone`,
})

/** A chain that is shorter than what was signed has lost its end, whatever its head says. */
export function endFindings(
  { chain, origin, size }: ChainHead,
  covered: CoveredSizes | undefined,
): readonly Finding[] {
  const signed = [covered?.witnessed, covered?.sealed].map((heads) => heads?.get(chain)?.size ?? 0)
  const longest = Math.max(...signed)
  if (size >= longest) return []
  const message = `the chain ends with ${size} records, and ${longest} were sealed`
  return [{ origin, seq: size, rule: 'RECORD_SEQ', message }]
}

/** What begins late must have a record that says why, and that record must be proven where anything is. */
export async function proveBeginning(
  { snapshot, tier, covered }: Proving,
  chain: { readonly chain: number; readonly origin: string },
): Promise<readonly Finding[]> {
  const { minIndex } = await tier.position(chain.chain)
  if (minIndex === 0) return []
  const expiry = { ...chain, toIndex: minIndex }
  const told = await readExpiryRecord(snapshot, tier, expiry)
  if (told === undefined) return [untoldExpiry(expiry)]
  return (await proveRows(snapshot, [told], { covered, tier })).findings
}

/**
 * Times rise along a chain, so that what stands behind a record of this time is not older. The record must be the one that was
 * sealed: otherwise records could be passed over by a time that somebody wrote into one.
 */
export async function provePassed(
  proving: Proving,
  { chain, origin, size, below }: ChainHead & { readonly below: number },
  untilMicros: number,
): Promise<readonly Finding[]> {
  if (below >= size) return []
  const record = await storedAt(proving, { chain, seq: below })
  const missing = `the record ${below} is gone, at which the time ends that was asked for`
  if (record?.seq !== below || !((timeOf(record) ?? 0) >= untilMicros)) {
    return [{ origin, seq: below, rule: 'RECORD_SEQ', message: missing }]
  }
  const { snapshot, tier, covered } = proving
  return (
    await proveRows(snapshot, [{ ...record, chain, body: Buffer.from(record.body) }], {
      covered,
      tier,
    })
  ).findings
}
