// The seal that evidence rests on: the newest that witnesses cosigned where that is enough, else the newest.
import { formatTlogProof, proveInclusion, readSealEntry } from '@baton/ledger'
import type { SealEntry } from '@baton/ledger'
import type { Snapshot } from '../database.ts'
import { readLastSeal, readSeal, readWitnessed } from './seals.ts'
import { treeReader } from './tree-reader.ts'

export interface PublishedSeal {
  readonly seq: number
  readonly bytes: Uint8Array
  readonly entry: SealEntry
  /** The checkpoint of the seal log of size `seq + 1`. */
  readonly note: string
  /** Enough witnesses cosigned it. */
  readonly witnessed: boolean
}

/** Every record stands under a cosigned seal, under a seal at least, or not even that. */
export type Coverage = 'witnessed' | 'sealed' | 'unsealed'

/**
 * The witnessed seal, and the newest where that one is later; best first for records that both
 * cover. Empty while nothing is sealed. One snapshot, so checkpoint and records are of one state.
 */
export async function readPublishedSeals(snapshot: Snapshot): Promise<readonly PublishedSeal[]> {
  const seals: PublishedSeal[] = []
  const witnessed = await readWitnessed(snapshot)
  if (witnessed !== undefined && witnessed.size > 0) {
    const row = await readSeal(snapshot, witnessed.size - 1)
    const entry = row && readSealEntry(row.body)
    if (row !== undefined && entry !== undefined) {
      seals.push({ seq: row.seq, bytes: row.body, entry, note: witnessed.note, witnessed: true })
    }
  }
  const last = await readLastSeal(snapshot)
  const entry = last && readSealEntry(last.body)
  if (last !== undefined && entry !== undefined && last.seq !== seals[0]?.seq) {
    seals.push({ seq: last.seq, bytes: last.body, entry, note: last.note, witnessed: false })
  }
  return seals
}

/** The best seal that covers all of these records; where none does, the newest there is. */
export function chooseSeal(
  seals: readonly PublishedSeal[],
  records: readonly { readonly origin: string; readonly seq: number }[],
): { readonly seal: PublishedSeal | undefined; readonly covered: Coverage } {
  for (const seal of seals) {
    const sizes = new Map(seal.entry.chains.map(({ origin, size }) => [origin, size]))
    if (!records.every(({ origin, seq }) => seq < (sizes.get(origin) ?? 0))) continue
    return { seal, covered: seal.witnessed ? 'witnessed' : 'sealed' }
  }
  return { seal: seals.at(-1), covered: 'unsealed' }
}

/** The C2SP tlog-proof of a seal, under the checkpoint that ends in it. */
export async function proveSeal(snapshot: Snapshot, seal: PublishedSeal): Promise<string> {
  const { seq, note } = seal
  const read = treeReader(snapshot, { log: 'seals', stored: true })
  const path = await proveInclusion(read, { index: seq, size: seq + 1 })
  return formatTlogProof({ extra: null, index: seq, path, checkpoint: note })
}
