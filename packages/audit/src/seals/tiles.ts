// The log as C2SP tlog-tiles reads it, made from the hot store: hash tiles and entry bundles by range.
import {
  encodeEntryBundle,
  encodeHashTile,
  hashLeaf,
  rootOf,
  TILE_WIDTH,
  tileWidth,
} from '@baton/ledger'
import type { Tile } from '@baton/ledger'
import { SEAL_LOG } from '../cold/archive-positions.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { copyOut } from '@baton/postgres'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'

/** One of the logs of a store: a chain by its number, or the log of seals over all of them. */
export type TiledLog = { readonly chain: number } | 'seals'

interface Range {
  readonly from: number
  readonly to: number
}

interface TileRequest {
  readonly tile: Tile
  readonly size: number
  /** Where records stand that are not in the database any more. */
  readonly cold?: ColdStore | undefined
}

/** Leaves that are read and hashed at once for a tile above the lowest. */
const PAGE_LEAVES = 16_384

/**
 * The bytes of a tile of a tree of `size` leaves, which must be under a signed checkpoint; undefined
 * when that tree has no such tile. A tile of level n is hashed from 256^n leaves for each of its hashes.
 */
export function readTile(
  pool: Pool,
  log: TiledLog,
  { tile, size, cold }: TileRequest,
): Promise<Uint8Array | undefined> {
  return inSnapshot(pool, async (snapshot) => {
    const { level, index, width } = tile
    if (width > tileWidth(tile, size)) return undefined
    const from = index * TILE_WIDTH
    const tier = createColdTier(snapshot, cold)
    const number = log === 'seals' ? SEAL_LOG : log.chain
    const { hotFrom } = await tier.position(number)
    const coldLog = hotFrom === 0 ? undefined : await tier.log(number)
    if (coldLog !== undefined && level === 'entries' && from < hotFrom) {
      const found = await coldLog.bundle(index, width)
      return found.kind === 'found' ? bundle(found.content.slice(0, width), width) : undefined
    }
    if (level === 'entries') {
      return bundle(await readBodies(snapshot, log, { from, to: from + width }), width)
    }
    if (level === 0 && (coldLog === undefined || from >= hotFrom)) {
      const leaves = await readLeaves(snapshot, log, { from, to: from + width })
      return leaves.length === width ? encodeHashTile(leaves) : undefined
    }
    const hashes: Uint8Array[] = []
    const leaves = TILE_WIDTH ** level
    for (let at = from; at < from + width; at += 1) {
      const range = { from: at * leaves, to: (at + 1) * leaves }
      // A subtree that has lost a leaf of the database stands in the store as a whole.
      const hash =
        coldLog !== undefined && range.from < hotFrom
          ? await coldLog.hash({ level, index: at })
          : await subtree(snapshot, log, range)
      if (hash === undefined) return undefined
      hashes.push(hash)
    }
    return encodeHashTile(hashes)
  })
}

const bundle = (bodies: readonly Uint8Array[], width: number): Uint8Array | undefined =>
  bodies.length === width ? encodeEntryBundle(bodies) : undefined

/** The root over a full range of leaves, page by page; undefined when leaves are missing. */
async function subtree(
  snapshot: Snapshot,
  log: TiledLog,
  { from, to }: Range,
): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = []
  for (let start = from; start < to; start += PAGE_LEAVES) {
    const end = Math.min(to, start + PAGE_LEAVES)
    const leaves = await readLeaves(snapshot, log, { from: start, to: end })
    if (leaves.length !== end - start) return undefined
    parts.push(rootOf(leaves))
  }
  return rootOf(parts)
}

const readBodies = ({ client }: Snapshot, log: TiledLog, range: Range): Promise<Uint8Array[]> =>
  copyOut(client, `select body from ${source(log, range)}`, (fields) => fields.bytes(0))

function readLeaves({ client }: Snapshot, log: TiledLog, range: Range): Promise<Uint8Array[]> {
  if (log === 'seals') {
    return copyOut(client, `select body from ${source(log, range)}`, (fields) =>
      hashLeaf(fields.bytes(0)),
    )
  }
  return copyOut(client, `select record_hash from ${source(log, range)}`, (fields) =>
    fields.bytes(0),
  )
}

const source = (log: TiledLog, { from, to }: Range): string => {
  const range = `seq >= ${from} and seq < ${to} order by seq`
  return log === 'seals'
    ? `audit.seal where ${range}`
    : `audit.record where chain = ${log.chain} and ${range}`
}
