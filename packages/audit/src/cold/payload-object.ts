// The encrypted segments of one bundle as bytes. Only ciphertext: without its subject's key none can be read.
import { decodeUtf8, encodeUtf8, formatUuid, uuidBytes } from '@baton/ledger'
import type { SegmentRow } from '../read/segments.ts'

const MARK = encodeUtf8('baton-payload/1\n')
/** seq, segment, subjectRef, length of nonce, length of ciphertext. */
const HEADER_BYTES = 8 + 2 + 16 + 2 + 4

/** In order of seq and segment, so that the same segments always make the same bytes. */
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
