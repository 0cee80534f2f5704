// How well each record is protected by now: what signed checkpoints and cosigned seals cover.
import type { KeyObject } from 'node:crypto'
import {
  fromBase64,
  openSealNote,
  sealLogOrigin,
  SIGNATURE_TYPES,
  toBase64,
  verifierKey,
} from '@baton/ledger'
import type { Checkpoint, SealEntry, SealKeys } from '@baton/ledger'
import { inSnapshot } from '../database.ts'
import type { Database, Pool } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { readChainCheckpoints, readLastSeal, readWitnessed } from '../seals/seals.ts'
import { askSeenOutside } from './seen-outside.ts'
import type { SeenOutsideSettings } from '../settings.ts'
import type { SeenBy } from './seen-outside.ts'
import { readProvenSeal } from '../seals/proven-seal.ts'
import { rawKey, readSealKeys } from '../seals/read-seal-keys.ts'
import type { SealLogHead } from '../seals/proven-seal.ts'

/**
 * `committed`: durable here. `sealed`: under a signed checkpoint. `witnessed`: that was seen outside.
 * `archived`: and the cold store has a copy. Each includes the ones before it.
 */
export type Assurance = 'committed' | 'sealed' | 'witnessed' | 'archived'

/** What a signature says of a chain: its first `size` records make this tree. */
export interface SignedHead {
  readonly size: number
  /** In base64. */
  readonly root: string
}

/** Signed heads by number of the chain; a record may be covered by one when its seq is below the size. */
export interface CoveredSizes {
  readonly heads: readonly ChainHead[]
  readonly sealed: ReadonlyMap<number, SignedHead>
  readonly witnessed: ReadonlyMap<number, SignedHead>
  /** Entries of the seal log under a cosigned checkpoint. */
  readonly witnessedSeals: number
  /** By whose word something was seen outside. */
  readonly seenBy: SeenBy
  /** How many seals were seen outside, those included that are not there any more. */
  readonly seenSeals: number
  /** The maps of tasks that seals commit to: the one that was seen outside first, then the newest. */
  readonly taskMaps: readonly SignedTaskMap[]
  /** What the newest seal says at once; undefined where there is none. */
  readonly newestSeal: NewestSeal | undefined
}

/** One signature says all of it: neither part of it can be exchanged for an older one. */
export interface NewestSeal extends SealLogHead {
  /** `formatInstant`'s form. */
  readonly at: string
  readonly heads: ReadonlyMap<number, SignedHead>
}

/** What a signature says of every task: the map of its end, and how far it reaches. */
export interface SignedTaskMap {
  readonly proof: Exclude<Proof, 'none'>
  /** The map holds every record that was sealed until then. */
  readonly until: string
  readonly root: Uint8Array
  /** Its version in the database. */
  readonly seals: number
  /** How many records of each chain it holds, by number of the chain. */
  readonly sizes: ReadonlyMap<number, number>
  /** It was made anew when records had expired: it does not know tasks that had nothing else, and proves of none that it never was. */
  readonly isCut: boolean
}

/** The sealer's key under the name of one log. */
export const sealerKey = (origin: string, publicKey: KeyObject) =>
  verifierKey(origin, SIGNATURE_TYPES.ed25519, rawKey(publicKey))

/** Undefined where the key in force at its size did not sign it, or signed it for another log. */
export function openCheckpoint(
  note: string,
  origin: string,
  keys: SealKeys,
): Checkpoint | undefined {
  const opened = openSealNote(note, origin, keys)
  return opened.ok ? opened.checkpoint : undefined
}

/** The newest signed checkpoint of each chain, by number; copies that were not signed are left out. */
export async function openChainCheckpoints(
  db: Database,
  heads: readonly ChainHead[],
  keys: SealKeys | undefined,
): Promise<ReadonlyMap<number, Checkpoint & { readonly note: string }>> {
  const opened = new Map<number, Checkpoint & { readonly note: string }>()
  if (keys === undefined) return opened
  const origins = new Map(heads.map(({ chain, origin }) => [chain, origin]))
  for (const { chain, note } of await readChainCheckpoints(db)) {
    const checkpoint = openCheckpoint(note, origins.get(chain) ?? '', keys)
    if (checkpoint !== undefined) opened.set(chain, { ...checkpoint, note })
  }
  return opened
}

/** Copies that the sealer's key did not sign cover nothing, and no entry of the seal log that its witnessed head does not prove. */
export async function readCoveredSizes(
  pool: Pool,
  publicKey: KeyObject,
  /** Who besides the database says what was seen outside. */
  outside: SeenOutsideSettings = NOBODY,
): Promise<CoveredSizes> {
  const { by, counts, anchoredNote } = await askSeenOutside(outside)
  return inSnapshot(pool, async (snapshot) => {
    const heads = await readHeads(snapshot)
    const keys = await readSealKeys(snapshot, publicKey)
    const checkpoints = await openChainCheckpoints(snapshot, heads, keys)
    const sealed = new Map(
      [...checkpoints].map(([chain, { size, root }]) => [chain, { size, root: toBase64(root) }]),
    )
    const origin = sealLogOrigin(heads[0]?.origin ?? '')
    const prove = async (checkpoint: SealLogHead | undefined) => {
      const entry = checkpoint && (await readProvenSeal(snapshot, checkpoint, checkpoint.size - 1))
      return checkpoint && entry && { checkpoint, entry }
    }
    const open = (row: { readonly note: string } | undefined) =>
      prove(row && openCheckpoint(row.note, origin, keys))
    const anchored =
      anchoredNote === undefined ? undefined : openCheckpoint(anchoredNote, origin, keys)
    const copy = counts && (await readWitnessed(snapshot))
    const seen = counts === undefined ? await prove(anchored) : await open(accepted(copy, counts))
    const newest = await open(await readLastSeal(snapshot))
    return {
      heads,
      sealed,
      witnessed: seen ? headsOf(heads, seen.entry) : new Map(),
      witnessedSeals: seen?.checkpoint.size ?? 0,
      seenBy: by,
      seenSeals: anchored?.size ?? seen?.checkpoint.size ?? 0,
      taskMaps: taskMaps(heads, { seen, newest }),
      newestSeal: newest && {
        ...newest.checkpoint,
        at: newest.entry.at,
        heads: headsOf(heads, newest.entry),
      },
    }
  })
}

const NOBODY: SeenOutsideSettings = {
  BATON_SEAL_ANCHOR_FILE: undefined,
  BATON_SEAL_POLICY_FILE: undefined,
}

const accepted = <Row extends { readonly note: string }>(
  row: Row | undefined,
  counts: (note: string) => boolean,
): Row | undefined => (row !== undefined && counts(row.note) ? row : undefined)

interface OpenedSeal {
  readonly checkpoint: SealLogHead
  readonly entry: SealEntry
}

function taskMaps(
  heads: readonly ChainHead[],
  { seen, newest }: Readonly<Record<'seen' | 'newest', OpenedSeal | undefined>>,
): SignedTaskMap[] {
  const maps: SignedTaskMap[] = []
  for (const [proof, seal] of [
    ['witnessed', seen],
    ['sealed', newest],
  ] as const) {
    const { tasks, chains } = seal?.entry ?? { tasks: undefined, chains: [] }
    if (tasks === undefined || maps.some(({ seals }) => seals === tasks.seals)) continue
    const sizes = new Map(
      heads.map(({ chain, origin }) => {
        return [chain, tasks.sizes[chains.findIndex((one) => one.origin === origin)] ?? 0]
      }),
    )
    const root = fromBase64(tasks.root) as Uint8Array
    maps.push({
      proof,
      until: tasks.at,
      root,
      seals: tasks.seals,
      sizes,
      isCut: tasks.begins !== undefined,
    })
  }
  return maps
}

function headsOf(
  heads: readonly ChainHead[],
  { chains }: SealEntry,
): ReadonlyMap<number, SignedHead> {
  const signed = new Map<number, SignedHead>()
  for (const { chain, origin } of heads) {
    const head = chains.find((one) => one.origin === origin)
    if (head !== undefined) signed.set(chain, { size: head.size, root: head.root })
  }
  return signed
}

/** Where a record stands in what was proven of it: under no signed head, or under one that nobody outside has seen yet. */
export type Proof = 'none' | 'sealed' | 'witnessed'

/** A record is as well proven as the better of two proofs says. */
export const stronger = (one: Proof, other: Proof): Proof =>
  PROOFS.indexOf(one) > PROOFS.indexOf(other) ? one : other

const PROOFS: readonly Proof[] = ['none', 'sealed', 'witnessed']

/** A copy in the cold store counts for a record that is proven under what was seen outside. */
export const assuranceOf = (proof: Proof, isArchived: boolean): Assurance =>
  proof === 'none' ? 'committed' : proof === 'witnessed' && isArchived ? 'archived' : proof
