// Reads the hashes of any full subtree out of hash tiles, so that proofs come from static files.
import { LedgerError } from '../ledger-error.ts'
import { rootOf } from '../tree/hash.ts'
import type { HashReader, TreeNode } from '../tree/nodes.ts'
import { decodeHashTile, TILE_WIDTH, tilePath, tileWidth } from './tile.ts'
import type { Tile } from './tile.ts'

const TILE_HEIGHT = 8

interface TileReaderOptions {
  /** The size of the tree that the tiles are read for. */
  readonly size: number
  /** The bytes of a tile; at least as many hashes as its width. */
  readonly readTile: (tile: Tile) => Promise<Uint8Array>
}

/** Reads each tile once per call. Rejects with BATON_TILE_INVALID for a tile of a wrong length. */
export function tileHashReader({ size, readTile }: TileReaderOptions): HashReader {
  return async (nodes) => {
    const tiles = new Map<string, Promise<Uint8Array[]>>()
    const hashes = nodes.map((node) => {
      const tile = tileOf(node, size)
      const path = tilePath(tile)
      const read = tiles.get(path) ?? readTile(tile).then((bytes) => hashesOf(tile, bytes))
      tiles.set(path, read)
      return read.then((all) => hashFromTile(node, tile, all))
    })
    return Promise.all(hashes)
  }
}

function tileOf(node: TreeNode, size: number): Tile {
  const level = Math.floor(node.level / TILE_HEIGHT)
  const leftmost = node.index * 2 ** (node.level % TILE_HEIGHT)
  const index = Math.floor(leftmost / TILE_WIDTH)
  return { level, index, width: tileWidth({ level, index }, size) }
}

function hashesOf(tile: Tile, bytes: Uint8Array): Uint8Array[] {
  const hashes = decodeHashTile(bytes, tile.width)
  if (hashes !== undefined) return hashes
  throw new LedgerError('BATON_TILE_INVALID', `${tilePath(tile)} has a wrong length`)
}

function hashFromTile(node: TreeNode, tile: Tile, hashes: readonly Uint8Array[]): Uint8Array {
  const width = 2 ** (node.level % TILE_HEIGHT)
  const from = node.index * width - tile.index * TILE_WIDTH
  const below = hashes.slice(from, from + width)
  if (below.length === width) return rootOf(below)
  throw new LedgerError('BATON_TILE_INVALID', `${tilePath(tile)} does not cover the asked hash`)
}
