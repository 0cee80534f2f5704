// Reads any hash of a log's tree from stored hashes and a few records, and keeps the stored ones up.
import { rootOf } from '@baton/ledger'
import type { HashReader, TreeNode } from '@baton/ledger'
import { BatonError, permanent } from '@baton/runtime'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import type { TiledLog } from './tiles.ts'
import { countTreeHashes, readLeafHashes, readTreeHashes, storeTreeHashes } from './tree-hashes.ts'
import type { NodeRange, StoredNode } from './tree-hashes.ts'

/** Every eighth level is stored: a hash of it covers 256 of the stored level below. */
const LEVELS_STEP = 8
const FAN_OUT = 256
/** Nodes that one statement reads. */
const READ_NODES_MAX = 65_536
/** Leaves that one call of `extendTreeHashes` reads at most. */
const EXTEND_LEAVES_MAX = 262_144

interface ReaderOptions {
  readonly log: TiledLog
  /** False reads every hash from the records: slow, and right whatever stands in audit.tree_hash. */
  readonly stored: boolean
  /** Where the leaves stand that are not in the database any more; the seal log never leaves it. */
  readonly tier?: ColdTier
}

/**
 * A reader of the hashes of full subtrees in one snapshot. A proof of any size costs at most 256
 * rows for each level that is stored and each leaf. Rejects with BATON_AUDIT_LEAVES_MISSING.
 */
export function treeReader(snapshot: Snapshot, options: ReaderOptions): HashReader {
  const { log, stored } = options
  const readLevel = async (level: number, wanted: readonly NodeRange[]): Promise<Hashes> => {
    const hashes = new Map<number, Uint8Array>()
    const ranges = merged(wanted)
    for (const some of inPieces(ranges)) {
      if (level > 0 && !stored) continue
      const found =
        level === 0
          ? await readLeaves(snapshot, options, some)
          : await readTreeHashes(snapshot, log, { level, ranges: some })
      for (const [index, hash] of found) hashes.set(index, hash)
    }
    const missing = indexesOf(ranges).filter((index) => !hashes.has(index))
    if (missing.length > 0 && level === 0) throw leavesMissing(log, missing[0] as number)
    // As many at once as one statement reads: what missing nodes cover may be large.
    for (let at = 0; at < missing.length; at += FAN_OUT) {
      const some = missing.slice(at, at + FAN_OUT)
      const below = await readLevel(level - LEVELS_STEP, some.map(childrenOf))
      for (const index of some) hashes.set(index, foldRange(below, childrenOf(index)))
    }
    return hashes
  }
  return async (nodes) => {
    const ranges = Map.groupBy(nodes.map(sourceOf), ({ level }) => level)
    const levels = new Map<number, Hashes>()
    for (const [level, wanted] of ranges) levels.set(level, await readLevel(level, wanted))
    return nodes.map((node) => {
      const { level, ...range } = sourceOf(node)
      return foldRange(levels.get(level) as Hashes, range)
    })
  }
}

/** Out of both tiers. A tile of the cold store holds the leaves of one bundle. */
async function readLeaves(
  snapshot: Snapshot,
  { log, tier }: ReaderOptions,
  ranges: readonly NodeRange[],
): Promise<Hashes> {
  const hot = await readLeafHashes(snapshot, log, ranges)
  if (log === 'seals' || tier === undefined) return hot
  const gone = indexesOf(ranges).filter((index) => !hot.has(index))
  const cold = gone.length === 0 ? undefined : await tier.log(log.chain)
  const leaves = new Map(hot)
  for (const tile of new Set(gone.map((index) => Math.floor(index / FAN_OUT)))) {
    const found = await cold?.tile(0, tile, FAN_OUT)
    if (found?.kind !== 'found') continue
    for (const [at, hash] of found.content.entries()) leaves.set(tile * FAN_OUT + at, hash)
  }
  return leaves
}

type Hashes = ReadonlyMap<number, Uint8Array>

const childrenOf = (index: number): NodeRange => {
  return { from: index * FAN_OUT, to: (index + 1) * FAN_OUT }
}

const foldRange = (hashes: Hashes, range: NodeRange): Uint8Array =>
  rootOf(indexesOf([range]).map((at) => hashes.get(at) as Uint8Array))

/** The nodes of the stored level below from which a node is folded. */
function sourceOf({ level, index }: TreeNode): NodeRange & { readonly level: number } {
  const width = 2 ** (level % LEVELS_STEP)
  return { level: level - (level % LEVELS_STEP), from: index * width, to: (index + 1) * width }
}

function merged(ranges: readonly NodeRange[]): NodeRange[] {
  const joined: NodeRange[] = []
  for (const range of ranges.toSorted((left, right) => left.from - right.from)) {
    const last = joined.at(-1)
    if (last === undefined || range.from > last.to) joined.push(range)
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, range.to) }
  }
  return joined
}

function inPieces(ranges: readonly NodeRange[]): NodeRange[][] {
  const pieces: NodeRange[][] = []
  let room = 0
  for (const { from, to } of ranges) {
    for (let at = from; at < to;) {
      if (room === 0) {
        pieces.push([])
        room = READ_NODES_MAX
      }
      const end = Math.min(to, at + room)
      pieces.at(-1)?.push({ from: at, to: end })
      room -= end - at
      at = end
    }
  }
  return pieces
}

const indexesOf = (ranges: readonly NodeRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, at) => from + at))

interface Extension {
  readonly cold?: ColdStore | undefined
  readonly reader: Pool
  /** As audit_writer. */
  readonly writer: Pool
  readonly log: TiledLog
  /** Of a published checkpoint: nothing is stored about what is not sealed. */
  readonly size: number
}

/** Stores the hashes of subtrees that have become full; answers how many. Call it until it answers 0. */
export async function extendTreeHashes(extension: Extension): Promise<number> {
  const { reader, writer, log, size, cold } = extension
  let stored = 0
  for (let level = LEVELS_STEP; size >= 2 ** level; level += LEVELS_STEP) {
    const from = await countTreeHashes(reader, log, level)
    const step = level === LEVELS_STEP ? EXTEND_LEAVES_MAX / FAN_OUT : FAN_OUT
    const to = Math.min(Math.floor(size / 2 ** level), from + step)
    if (to <= from) continue
    const nodes = await inSnapshot(reader, async (snapshot): Promise<StoredNode[]> => {
      const wanted = indexesOf([{ from, to }]).map((index) => ({ level, index }))
      const tier = createColdTier(snapshot, cold)
      const hashes = await treeReader(snapshot, { log, stored: true, tier })(wanted)
      return wanted.map((node, at) => ({ ...node, hash: hashes[at] as Uint8Array }))
    })
    await storeTreeHashes(writer, log, nodes)
    stored += nodes.length
  }
  return stored
}

/** Whether a proof could not be made because a leaf is gone: that is tampering, and no reason to stop looking. */
export const isMissingLeaf = (error: unknown): boolean =>
  error instanceof BatonError && error.code === 'BATON_AUDIT_LEAVES_MISSING'

const leavesMissing = (log: TiledLog, seq: number) =>
  permanent(
    'BATON_AUDIT_LEAVES_MISSING',
    `record ${seq} of ${log === 'seals' ? 'the seal log' : `chain ${log.chain}`} is not in the database`,
    { fix: 'Run `baton verify`: a sealed record that is gone is tampering.' },
  )
