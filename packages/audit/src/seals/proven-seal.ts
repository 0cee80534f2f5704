// Stored entries of the seal log: believed where a signed head of that log proves them, and found by how far they seal a chain.
import { hashLeaf, proveInclusion, readSealEntry, verifyInclusion } from '@baton/ledger'
import type { SealEntry } from '@baton/ledger'
import type { Database, Snapshot } from '../database.ts'
import { readSeal } from './seals.ts'
import { isMissingLeaf, treeReader } from './tree-reader.ts'

/** A signed head of the seal log. */
export interface SealLogHead {
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
}

/** The entry at one place under a signed head; undefined where the stored one is not it. */
export async function readProvenSeal(
  snapshot: Snapshot,
  { size, root }: SealLogHead,
  seq: number,
): Promise<SealEntry | undefined> {
  const seal = seq < 0 ? undefined : await readSeal(snapshot, seq)
  if (seal === undefined) return undefined
  const read = treeReader(snapshot, { log: 'seals', stored: true })
  // An entry that is gone proves nothing; what watches how far the log is sealed must go on.
  const proof = await proveInclusion(read, { index: seq, size }).catch((error: unknown) => {
    if (isMissingLeaf(error)) return undefined
    throw error
  })
  if (proof === undefined) return undefined
  const leafHash = hashLeaf(seal.body)
  const isProven = verifyInclusion({ index: seq, size, leafHash, proof, root })
  return isProven ? readSealEntry(seal.body) : undefined
}

interface SealedRecords {
  readonly origin: string
  /** How many of the chain's first records. */
  readonly records: number
}

/** The place of the first of `seals` stored entries that covers so many records of a chain; undefined where none does or one is gone. */
export async function findSealOver(
  db: Database,
  seals: number,
  sealed: SealedRecords,
): Promise<number | undefined> {
  let [low, high] = [0, seals]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const seal = await readSeal(db, middle)
    const entry = seal && readSealEntry(seal.body)
    if (entry === undefined) return undefined
    if (covers(entry, sealed)) high = middle
    else low = middle + 1
  }
  return low < seals ? low : undefined
}

/** Whether an entry says that so many records were there. */
export const covers = ({ chains }: SealEntry, { origin, records }: SealedRecords): boolean =>
  (chains.find((chain) => chain.origin === origin)?.size ?? 0) >= records
