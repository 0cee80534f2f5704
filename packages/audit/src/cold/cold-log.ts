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
import { decodeObject } from './compression.ts'
import { payloadName, tileName } from './object-names.ts'
import { decodePayloads } from './payload-object.ts'

/** An object as it was found. */
export type Found<Content> =
  | { readonly kind: 'found'; readonly content: Content }
  | { readonly kind: 'missing' | 'unreadable' }

/** 256 entries of a uint16 length. */
const BUNDLE_BYTES_MAX = TILE_WIDTH * 65_537
const PAYLOAD_BYTES_MAX = 1_073_741_824
/** Tiles above the lowest: each stands for 65,536 records at least. */
const TILES_REMEMBERED_MAX = 512

export class ColdLog {
  readonly origin: string
  readonly #store: ColdStore
  readonly #upper = new Map<string, readonly Uint8Array[]>()

  constructor(store: ColdStore, origin: string) {
    this.#store = store
    this.origin = origin
  }

  /** The entries of a bundle, in order. A full bundle also answers for its first `width` entries. */
  async bundle(index: number, width = TILE_WIDTH): Promise<Found<readonly Uint8Array[]>> {
    return this.#widest<readonly Uint8Array[]>({ level: 'entries', index, width }, async (tile) => {
      const name = tileName(this.origin, tile)
      const bytes = await this.#read(name, BUNDLE_BYTES_MAX)
      return decoded(bytes, (content) => decodeEntryBundle(content, tile.width))
    })
  }

  /** The hashes of a tile that stands in the store, not made from those below it. */
  async tile(level: number, index: number, width: number): Promise<Found<readonly Uint8Array[]>> {
    return this.#widest<readonly Uint8Array[]>({ level, index, width }, async (tile) => {
      const name = tileName(this.origin, tile)
      const known = this.#upper.get(name)
      if (known !== undefined) return { kind: 'found', content: known }
      const bytes = await this.#read(name, tile.width * 32)
      const found = decoded<readonly Uint8Array[]>(bytes, (content) =>
        decodeHashTile(content, tile.width),
      )
      if (found.kind === 'found' && level > 0) this.#remember(name, found.content)
      return found
    })
  }

  async segments(index: number, width = TILE_WIDTH): Promise<Found<readonly SegmentRow[]>> {
    const full = payloadName(this.origin, { index, width: TILE_WIDTH })
    const bytes =
      (await this.#read(full, PAYLOAD_BYTES_MAX)) ??
      (await this.#read(payloadName(this.origin, { index, width }), PAYLOAD_BYTES_MAX))
    return decoded(bytes, decodePayloads)
  }

  /**
   * The first `width` hashes of a tile. Where the store has no such tile above the lowest level yet,
   * they are hashed from the tiles below. Rejects with BATON_TILE_INVALID.
   */
  async hashes({ level, index, width }: Tile & { level: number }): Promise<readonly Uint8Array[]> {
    const found = await this.tile(level, index, width)
    if (found.kind === 'found') return found.content.slice(0, width)
    if (found.kind === 'unreadable' || level === 0) throw tileInvalid(this.origin, level, index)
    const below = Array.from({ length: width }, (_, at) => index * TILE_WIDTH + at)
    const hashes: Uint8Array[] = []
    for (const at of below) {
      const tile = { level: level - 1, index: at, width: TILE_WIDTH }
      hashes.push(rootOf(await this.hashes(tile)))
    }
    return hashes
  }

  /** One hash of a level of tiles; undefined where the store cannot tell it. */
  async hash({ level, index }: { level: number; index: number }): Promise<Uint8Array | undefined> {
    const at = index % TILE_WIDTH
    const tile = { level, index: Math.floor(index / TILE_WIDTH), width: at + 1 }
    try {
      return (await this.hashes(tile))[at]
    } catch (error) {
      if (error instanceof LedgerError) return undefined
      throw error
    }
  }

  /** Reads the nodes of a tree of `size` leaves, all of which are archived. */
  nodes(size: number): HashReader {
    return tileHashReader({
      size,
      readTile: async (tile) => Buffer.concat(await this.hashes(tile as Tile & { level: number })),
    })
  }

  async #read(name: string, bytesMax: number): Promise<Uint8Array | undefined | null> {
    const bytes = await this.#store.get(name)
    if (bytes === undefined) return undefined
    return (await decodeObject(name, bytes, bytesMax)) ?? null
  }

  async #widest<Content>(
    tile: Tile,
    read: (tile: Tile) => Promise<Found<Content>>,
  ): Promise<Found<Content>> {
    const full = await read({ ...tile, width: TILE_WIDTH })
    return full.kind === 'missing' && tile.width < TILE_WIDTH ? read(tile) : full
  }

  #remember(name: string, hashes: readonly Uint8Array[]): void {
    if (this.#upper.size >= TILES_REMEMBERED_MAX) this.#upper.clear()
    this.#upper.set(name, hashes)
  }
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
