// UTF-8 as Python decodes it, with the same refusals at the same places.

export type DecodedText =
  | { readonly ok: true; readonly text: string }
  /** In the words of Python's UnicodeDecodeError. */
  | { readonly ok: false; readonly why: string }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A byte order mark stays: it is for the reader of the text to refuse. */
export function decodeUtf8(bytes: Uint8Array): DecodedText {
  try {
    return { ok: true, text: decoder.decode(bytes) }
  } catch {
    return { ok: false, why: whereBroken(bytes) }
  }
}

function whereBroken(bytes: Uint8Array): string {
  let start = 0
  while (start < bytes.length) {
    const found = readOne(bytes, start)
    if (found.why !== undefined) return describe(bytes, start, found)
    start += found.length
  }
  return describe(bytes, 0, { length: 1, why: 'invalid start byte' })
}

interface Sequence {
  readonly length: number
  readonly why?: string
}

function readOne(bytes: Uint8Array, start: number): Sequence {
  const first = bytes[start] ?? 0
  const wanted = lengthOf(first)
  if (wanted === 0) return { length: 1, why: 'invalid start byte' }
  for (let index = 1; index < wanted; index += 1) {
    const next = bytes[start + index]
    if (next === undefined) return { length: index, why: 'unexpected end of data' }
    if (!continues(first, index, next)) return { length: index, why: 'invalid continuation byte' }
  }
  return { length: wanted }
}

function lengthOf(first: number): number {
  if (first < 0x80) return 1
  if (first < 0xc2 || first > 0xf4) return 0
  if (first < 0xe0) return 2
  return first < 0xf0 ? 3 : 4
}

// The second byte also keeps out overlong forms, surrogates and what lies beyond U+10FFFF.
const SECOND: Readonly<Record<number, readonly [least: number, most: number]>> = {
  0xe0: [0xa0, 0xbf],
  0xed: [0x80, 0x9f],
  0xf0: [0x90, 0xbf],
  0xf4: [0x80, 0x8f],
}

function continues(first: number, index: number, byte: number): boolean {
  const [least, most] = (index === 1 ? SECOND[first] : undefined) ?? [0x80, 0xbf]
  return byte >= least && byte <= most
}

function describe(bytes: Uint8Array, start: number, { length, why }: Sequence): string {
  const byte = (bytes[start] ?? 0).toString(16).padStart(2, '0')
  const place =
    length === 1
      ? `byte 0x${byte} in position ${start}`
      : `bytes in position ${start}-${start + length - 1}`
  return `'utf-8' codec can't decode ${place}: ${why}`
}
