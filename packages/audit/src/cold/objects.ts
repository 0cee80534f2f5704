// The objects of one log in the cold store: what they are called, and what their bytes are.
import { decodeUtf8, encodeUtf8, formatUuid, TILE_WIDTH, tilePath, uuidBytes } from '@baton/ledger'
import type { Tile } from '@baton/ledger'
import type { SegmentRow } from '../read/segments.ts'

const ENTRIES = 'tile/entries/'
const PAYLOADS = 'payload/'

/** A bundle of entries or a tile of hashes, full or partial. */
export const tileName = (origin: string, tile: Tile): string => `${origin}/${tilePath(tile)}`

/** The encrypted segments of the records of one entry bundle. */
export const payloadName = (origin: string, { index, width }: Omit<Tile, 'level'>): string =>
  `${origin}/${tilePath({ level: 'entries', index, width }).replace(ENTRIES, PAYLOADS)}`

/** The signed tree head of what stands there. */
export const checkpointName = (origin: string): string => `${origin}/checkpoint`

/** What every partial tile or bundle in the place of this full one begins with. */
export const partialPrefix = (name: string): string => `${name}.p/`

/** Where a record stands. */
export const bundleOf = (seq: number): number => Math.floor(seq / TILE_WIDTH)

const MARK = encodeUtf8('baton-payload/1\n')
/** seq, segment, subjectRef, length of nonce, length of ciphertext. */
const HEADER_BYTES = 8 + 2 + 16 + 2 + 4

/**
 * The encrypted segments of one bundle: without its subject's key none can be read. In order of seq and
 * segment, so that the same segments always make the same bytes.
 */
export function encodePayloads(rows: readonly SegmentRow[]): Uint8Array {
  const sorted = rows.toSorted((left, right) =>
    left.seq === right.seq ? left.segment - right.segment : left.seq - right.seq,
  )
  const parts: Uint8Array[] = [MARK]
  for (const { seq, segment, subjectRef, nonce, ciphertext } of sorted) {
    const header = Buffer.alloc(HEADER_BYTES)
    header.writeBigUInt64BE(BigInt(seq), 0)
    header.writeUInt16BE(segment, 8)
    header.set(uuidBytes(subjectRef), 10)
    header.writeUInt16BE(nonce.length, 26)
    header.writeUInt32BE(ciphertext.length, 28)
    parts.push(header, nonce, ciphertext)
  }
  return Buffer.concat(parts)
}

/** Undefined when the bytes are not what `encodePayloads` writes. */
export function decodePayloads(bytes: Uint8Array): SegmentRow[] | undefined {
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (decodeUtf8(all.subarray(0, MARK.length)) !== decodeUtf8(MARK)) return undefined
  const rows: SegmentRow[] = []
  let at = MARK.length
  while (at + HEADER_BYTES <= all.length) {
    const nonceAt = at + HEADER_BYTES
    const ciphertextAt = nonceAt + all.readUInt16BE(at + 26)
    const end = ciphertextAt + all.readUInt32BE(at + 28)
    if (end > all.length) return undefined
    rows.push({
      seq: Number(all.readBigUInt64BE(at)),
      segment: all.readUInt16BE(at + 8),
      subjectRef: formatUuid(all.subarray(at + 10, at + 26)),
      nonce: all.subarray(nonceAt, ciphertextAt),
      ciphertext: all.subarray(ciphertextAt, end),
    })
    at = end
  }
  return at === all.length ? rows : undefined
}
