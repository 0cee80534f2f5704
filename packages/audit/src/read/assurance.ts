// How well each record is protected by now: what signed checkpoints and cosigned seals cover.
import type { KeyObject } from 'node:crypto'
import {
  encodeUtf8,
  openNote,
  parseCheckpoint,
  readSealEntry,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { Checkpoint } from '@baton/ledger'
import type { Database } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { readChainCheckpoints, readSeal, readWitnessed } from '../seals/seals.ts'

/**
 * `committed`: durable here. `sealed`: under a signed checkpoint. `witnessed`: that was seen outside.
 * `archived`: and the cold store has a copy. Each includes the ones before it.
 */
export type Assurance = 'committed' | 'sealed' | 'witnessed' | 'archived'

/** Sizes by number of the chain; a record is covered when its seq is below. */
export interface CoveredSizes {
  readonly heads: readonly ChainHead[]
  readonly sealed: ReadonlyMap<number, number>
  readonly witnessed: ReadonlyMap<number, number>
  /** Entries of the seal log under a cosigned checkpoint. */
  readonly witnessedSeals: number
}

/** The sealer's key under the name of one log. */
export const sealerKey = (origin: string, publicKey: KeyObject) =>
  verifierKey(
    origin,
    SIGNATURE_TYPES.ed25519,
    Uint8Array.from(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)),
  )

function openCheckpoint(
  note: string,
  origin: string,
  publicKey: KeyObject,
): Checkpoint | undefined {
  const opened = openNote(encodeUtf8(note), [sealerKey(origin, publicKey)])
  const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined
  return checkpoint?.origin === origin ? checkpoint : undefined
}

/** The newest signed checkpoint of each chain, by number; copies that were not signed are left out. */
export async function openChainCheckpoints(
  db: Database,
  heads: readonly ChainHead[],
  publicKey: KeyObject | undefined,
): Promise<ReadonlyMap<number, Checkpoint>> {
  const opened = new Map<number, Checkpoint>()
  if (publicKey === undefined) return opened
  const origins = new Map(heads.map(({ chain, origin }) => [chain, origin]))
  for (const { chain, note } of await readChainCheckpoints(db)) {
    const checkpoint = openCheckpoint(note, origins.get(chain) ?? '', publicKey)
    if (checkpoint !== undefined) opened.set(chain, checkpoint)
  }
  return opened
}

/** Copies that the sealer's key did not sign cover nothing. */
export async function readCoveredSizes(db: Database, publicKey: KeyObject): Promise<CoveredSizes> {
  const heads = await readHeads(db)
  const checkpoints = await openChainCheckpoints(db, heads, publicKey)
  const sealed = new Map([...checkpoints].map(([chain, { size }]) => [chain, size]))
  return { heads, sealed, ...(await readWitnessedSizes(db, heads, publicKey)) }
}

async function readWitnessedSizes(
  db: Database,
  heads: readonly ChainHead[],
  publicKey: KeyObject,
): Promise<Pick<CoveredSizes, 'witnessed' | 'witnessedSeals'>> {
  const row = await readWitnessed(db)
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const checkpoint = row && openCheckpoint(row.note, origin, publicKey)
  if (checkpoint === undefined || checkpoint.size === 0) {
    return { witnessed: new Map(), witnessedSeals: 0 }
  }
  const seal = await readSeal(db, checkpoint.size - 1)
  const sizes = new Map(
    (seal && readSealEntry(seal.body))?.chains.map((one) => [one.origin, one.size]) ?? [],
  )
  return {
    witnessed: new Map(heads.map((head) => [head.chain, sizes.get(head.origin) ?? 0])),
    witnessedSeals: checkpoint.size,
  }
}

interface Place {
  readonly chain: number
  readonly seq: number
  /** Records of the chain that the cold store has, by the archiver's mark. */
  readonly archived: number
}

/** Nothing is known to be covered without sizes; a copy of what nobody saw outside proves nothing more. */
export function assuranceOf(
  sizes: CoveredSizes | undefined,
  { chain, seq, archived }: Place,
): Assurance {
  if (sizes === undefined || seq >= (sizes.sealed.get(chain) ?? 0)) return 'committed'
  if (seq >= (sizes.witnessed.get(chain) ?? 0)) return 'sealed'
  return seq < archived ? 'archived' : 'witnessed'
}
