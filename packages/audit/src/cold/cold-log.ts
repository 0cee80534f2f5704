// Reads one log out of the cold store. What it answers is decoded, and nothing of it is trusted yet.
import {
  decodeEntryBundle,
  decodeHashTile,
  LedgerError,
  rootOf,
  TILE_WIDTH,
  tileHashReader,
} from '@baton/ledger'
import type { HashReader, Tile } from '@baton/ledger'
import type { SegmentRow } from '../read/segments.ts'
import type { ColdStore } from './cold-store.ts'
import { decodePayloads, partialPrefix, payloadName, tileName } from './objects.ts'
import { OBJECT_BYTES_MAX } from './packing.ts'

/** An object as it was found. */
export type Found<Content> =
  | { readonly kind: 'found'; readonly content: Content }
  | { readonly kind: 'missing' | 'unreadable' }

/** 256 entries of a uint16 length. */
const BUNDLE_BYTES_MAX = TILE_WIDTH * 65_537
/** Tiles above the lowest: each stands for 65,536 records at least. */
const TILES_REMEMBERED_MAX = 512

/** One log of the store, as far as it stands there. */
export interface ColdLog {
  readonly origin: string
  /** The entries of a bundle, in order. A full bundle also answers for its first `width` entries. */
  bundle(index: number, width?: number): Promise<Found<readonly Uint8Array[]>>
  /** The hashes of a tile that stands in the store, not made from those below it. */
  tile(level: number, index: number, width: number): Promise<Found<readonly Uint8Array[]>>
  segments(index: number, width?: number): Promise<Found<readonly SegmentRow[]>>
  /** The partial tiles or bundles that stand in the place of this one or beside it, narrowest first. */
  partials(place: Omit<Tile, 'width'>): Promise<readonly PartialTile[]>
  /**
   * The first `width` hashes of a tile. Where the store has no such tile above the lowest level yet,
   * they are hashed from the tiles below. Rejects with BATON_TILE_INVALID.
   */
  hashes(tile: HashTile): Promise<readonly Uint8Array[]>
  /** One hash of a level of tiles; undefined where the store cannot tell it. */
  hash(node: { readonly level: number; readonly index: number }): Promise<Uint8Array | undefined>
  /** Reads the nodes of a tree of `size` leaves, all of which are archived. */
  nodes(size: number): HashReader
}

type HashTile = Tile & { readonly level: number }

export interface PartialTile {
  readonly width: number
  readonly found: Found<readonly Uint8Array[]>
}

/** Remembers upper tiles: they are few and read for every proof. */
export function createColdLog(store: ColdStore, origin: string): ColdLog {
  const upper = new Map<string, readonly Uint8Array[]>()
  /** Made from those below, where the store has no such tile. */
  const made = new Map<string, readonly Uint8Array[]>()

  function remember(where: typeof upper, name: string, hashes: readonly Uint8Array[]): void {
    if (where.size >= TILES_REMEMBERED_MAX) where.clear()
    where.set(name, hashes)
  }

  const readTile = async (asked: Tile): Promise<Found<readonly Uint8Array[]>> => {
    const name = tileName(origin, asked)
    const known = upper.get(name)
    if (known !== undefined) return { kind: 'found', content: known }
    const bytes = await store.get(name, asked.width * 32)
    const found = decoded(bytes, (content) => decodeHashTile(content, asked.width))
    if (found.kind === 'found' && asked.level !== 0) remember(upper, name, found.content)
    return found
  }

  const readBundle = async (asked: Tile): Promise<Found<readonly Uint8Array[]>> => {
    const bytes = await store.get(tileName(origin, asked), BUNDLE_BYTES_MAX)
    return decoded(bytes, (content) => decodeEntryBundle(content, asked.width))
  }

  const tile: ColdLog['tile'] = (level, index, width) => widest({ level, index, width }, readTile)

  const hashes: ColdLog['hashes'] = async ({ level, index, width }) => {
    const found = await tile(level, index, width)
    if (found.kind === 'found') return found.content.slice(0, width)
    if (found.kind === 'unreadable' || level === 0) throw tileInvalid(origin, level, index)
    const name = tileName(origin, { level, index, width })
    const known = made.get(name)
    if (known !== undefined) return known
    const roots: Uint8Array[] = []
    for (let at = 0; at < width; at += 1) {
      const below = { level: level - 1, index: index * TILE_WIDTH + at, width: TILE_WIDTH }
      roots.push(rootOf(await hashes(below)))
    }
    remember(made, name, roots)
    return roots
  }

  return {
    origin,
    bundle: (index, width = TILE_WIDTH) => widest({ level: 'entries', index, width }, readBundle),
    tile,
    segments: (index, width = TILE_WIDTH) =>
      widest({ level: 'entries', index, width }, async (asked) =>
        decoded(await store.get(payloadName(origin, asked), OBJECT_BYTES_MAX), decodePayloads),
      ),
    async partials(place) {
      const prefix = partialPrefix(tileName(origin, { ...place, width: TILE_WIDTH }))
      const widths = (await store.list(prefix)).map((name) => Number(name.slice(prefix.length)))
      const readOne = place.level === 'entries' ? readBundle : readTile
      const partials: PartialTile[] = []
      for (const width of widths.filter(isPartialWidth).toSorted((left, right) => left - right)) {
        partials.push({ width, found: await readOne({ ...place, width }) })
      }
      return partials
    },
    hashes,
    async hash({ level, index }) {
      const at = index % TILE_WIDTH
      try {
        return (await hashes({ level, index: Math.floor(index / TILE_WIDTH), width: at + 1 }))[at]
      } catch (error) {
        if (error instanceof LedgerError) return undefined
        throw error
      }
    },
    nodes: (size) =>
      tileHashReader({
        size,
        readTile: async (asked) => Buffer.concat(await hashes(asked as HashTile)),
      }),
  }
}

const isPartialWidth = (width: number): boolean =>
  Number.isInteger(width) && width > 0 && width < TILE_WIDTH

/** The full tile where it stands already, else the partial one. */
async function widest<Content>(
  tile: Tile,
  readTile: (tile: Tile) => Promise<Found<Content>>,
): Promise<Found<Content>> {
  const full = await readTile({ ...tile, width: TILE_WIDTH })
  return full.kind === 'missing' && tile.width < TILE_WIDTH ? readTile(tile) : full
}

function decoded<Content>(
  bytes: Uint8Array | undefined | null,
  decode: (bytes: Uint8Array) => Content | undefined,
): Found<Content> {
  if (bytes === undefined) return { kind: 'missing' }
  const content = bytes === null ? undefined : decode(bytes)
  return content === undefined ? { kind: 'unreadable' } : { kind: 'found', content }
}

const tileInvalid = (origin: string, level: number, index: number) =>
  new LedgerError(
    'BATON_TILE_INVALID',
    `hash tile ${level}/${index} of ${origin} is missing from the cold store or unreadable`,
  )
