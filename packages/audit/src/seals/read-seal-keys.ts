// Whose signatures count in the seal log of a database: the configured key, and those that the log's own hand-overs lead to from there.
import type { KeyObject } from 'node:crypto'
import {
  hashLeaf,
  openSealNote,
  proveInclusion,
  readSealEntry,
  resolveSealKeys,
  sealLogOrigin,
  singleSealKey,
  verifyInclusion,
} from '@baton/ledger'
import type { HandoverEvidence, SealEntry, SealKeys } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readLastSeal, readSeal } from './seals.ts'
import type { SealRow } from './seals.ts'
import { isMissingLeaf, treeReader } from './tree-reader.ts'

/** A log by its name, and whose signatures count in it. */
export interface SealLogKeys {
  readonly origin: string
  readonly keys: SealKeys
}

/** The 32 bytes of an Ed25519 public key. */
export const rawKey = (publicKey: KeyObject): Uint8Array =>
  Uint8Array.from(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))

/**
 * The newest entry says where the hand-overs stand. Where one of them is not proven, or leads to no trusted key, the configured key alone
 * counts: what another one signed covers nothing then, and a verification says why.
 */
export async function readSealKeys(snapshot: Snapshot, publicKey: KeyObject): Promise<SealKeys> {
  const trusted = rawKey(publicKey)
  const last = await readLastSeal(snapshot)
  const { handovers = [] } = (last && readSealEntry(last.body)) ?? {}
  if (last === undefined || handovers.length === 0) return singleSealKey(trusted)
  const origin = sealLogOrigin((await readHeads(snapshot))[0]?.origin ?? '')
  const evidence = await readHandovers(snapshot, { handovers })
  const resolved = resolveSealKeys(origin, [trusted], evidence)
  const isWhole =
    resolved.ok && (await standUnder(snapshot, { last, origin, keys: resolved.keys }, handovers))
  return isWhole ? resolved.keys : singleSealKey(trusted)
}

/** The keys as they are now, for whoever reads outside the database first. */
export const sealLogKeys =
  (pool: Pool, publicKey: KeyObject): (() => Promise<SealLogKeys>) =>
  () =>
    inSnapshot(pool, async (snapshot) => ({
      origin: sealLogOrigin((await readHeads(snapshot))[0]?.origin ?? ''),
      keys: await readSealKeys(snapshot, publicKey),
    }))

/** What the database has of the hand-overs that an entry names; what it lacks is left out, and then none of them counts. */
export async function readHandovers(
  snapshot: Snapshot,
  { handovers = [] }: Pick<SealEntry, 'handovers'>,
): Promise<readonly HandoverEvidence[]> {
  const evidence: HandoverEvidence[] = []
  for (const seq of handovers) {
    const one = await readHandover(snapshot, seq, seq + 1)
    if (one !== undefined) evidence.push(one)
  }
  return evidence
}

/** What the database has of the entry at one place, and its way to the root of the first `size` entries. */
async function readHandover(
  snapshot: Snapshot,
  seq: number,
  size: number,
): Promise<HandoverEvidence | undefined> {
  const row = await readSeal(snapshot, seq)
  if (row === undefined) return undefined
  const read = treeReader(snapshot, { log: 'seals', stored: true })
  try {
    const path = await proveInclusion(read, { index: seq, size })
    return { entry: row.body, path, note: row.note }
  } catch (error) {
    if (isMissingLeaf(error)) return undefined
    throw error
  }
}

/** Whether the newest checkpoint is of a tree that holds all of them. */
async function standUnder(
  snapshot: Snapshot,
  { last, origin, keys }: SealLogKeys & { readonly last: SealRow },
  places: readonly number[],
): Promise<boolean> {
  const head = openSealNote(last.note, origin, keys)
  if (!head.ok) return false
  const { size, root } = head.checkpoint
  for (const index of places) {
    const found = index < size ? await readHandover(snapshot, index, size) : undefined
    if (found === undefined) return false
    const { entry, path: proof } = found
    if (!verifyInclusion({ index, size, leafHash: hashLeaf(entry), proof, root })) return false
  }
  return true
}
