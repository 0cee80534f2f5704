// C2SP tlog-tiles: where the hashes and entries of a log stand as static files, and their bytes.
import { concatBytes } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { readDecimal } from './checkpoint.ts'

export const TILE_WIDTH = 256
const HASH_BYTES = 32
/** Entries are counted by a uint16 length. */
const ENTRY_BYTES_MAX = 65_535

/** A run of hashes or entries. `level` 0 holds leaf hashes; 'entries' the entries themselves. */
export interface Tile {
  readonly level: number | 'entries'
  readonly index: number
  /** 256 when full, otherwise 1 to 255. */
  readonly width: number
}

/** `tile/<level>/<index>[.p/<width>]`, the index in groups of three digits. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index)
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/\d{3}/g) ?? []
  const path = groups.map((group, at) => (at + 1 < groups.length ? `x${group}` : group)).join('/')
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`
}

const PATH = /^tile\/(entries|\d{1,2})\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/

/** Reads what `tilePath` writes; undefined for any other text. */
export function parseTilePath(path: string): Tile | undefined {
  const [, levelText = '', indexText = '', widthText] = PATH.exec(path) ?? []
  const level: Tile['level'] | undefined =
    levelText === 'entries' ? levelText : readDecimal(levelText)
  if (level === undefined || (level !== 'entries' && level > 63)) return undefined
  const index = Number(indexText.replaceAll(/[x/]/g, ''))
  const tile = { level, index, width: widthText === undefined ? TILE_WIDTH : Number(widthText) }
  return tilePath(tile) === path ? tile : undefined
}

/** How many hashes or entries the tile has in a tree of `size` leaves; 0 when it is not there. */
export function tileWidth({ level, index }: Omit<Tile, 'width'>, size: number): number {
  const items = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level))
  return Math.max(0, Math.min(TILE_WIDTH, items - index * TILE_WIDTH))
}

/** Every hash tile that a tree of `toSize` has and one of `fromSize` had not, or had narrower. */
export function newTiles(fromSize: number, toSize: number): Tile[] {
  const tiles: Tile[] = []
  for (let level = 0; TILE_WIDTH ** level <= toSize; level += 1) {
    const before = Math.floor(fromSize / TILE_WIDTH ** level)
    const after = Math.floor(toSize / TILE_WIDTH ** level)
    const first = Math.floor(before / TILE_WIDTH)
    for (let index = first; index * TILE_WIDTH < after; index += 1) {
      const width = tileWidth({ level, index }, toSize)
      if (tileWidth({ level, index }, fromSize) < width) tiles.push({ level, index, width })
    }
  }
  return tiles
}

export const encodeHashTile = (hashes: readonly Uint8Array[]): Uint8Array => concatBytes(hashes)

/** The hashes of a tile; undefined when the bytes are not `width` of them. */
export function decodeHashTile(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  if (bytes.length !== width * HASH_BYTES) return undefined
  return Array.from({ length: width }, (_, at) =>
    bytes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  )
}

/** Entries, each after its length as a big-endian uint16. Throws BATON_TILE_INVALID. */
export function encodeEntryBundle(entries: readonly Uint8Array[]): Uint8Array {
  if (entries.length > TILE_WIDTH || entries.some((entry) => entry.length > ENTRY_BYTES_MAX)) {
    throw new LedgerError('BATON_TILE_INVALID', 'a bundle has 256 entries of 65,535 bytes at most')
  }
  const lengths = entries.map(({ length }) => Uint8Array.of(length >> 8, length & 0xff))
  return concatBytes(entries.flatMap((entry, at) => [lengths[at] as Uint8Array, entry]))
}

/** The entries of a bundle; undefined when the bytes are not `width` of them. */
export function decodeEntryBundle(bytes: Uint8Array, width: number): Uint8Array[] | undefined {
  const entries: Uint8Array[] = []
  let at = 0
  while (at + 2 <= bytes.length) {
    const end = at + 2 + (bytes[at] as number) * 256 + (bytes[at + 1] as number)
    if (end > bytes.length) return undefined
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  return at === bytes.length && entries.length === width ? entries : undefined
}
