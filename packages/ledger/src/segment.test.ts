// A segment opens only with its key, at its place, as the text that was committed to.
import { createSecretKey } from 'node:crypto'
import { zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  encryptSegment,
  opensCommitment,
  openSegment,
  packText,
  saltText,
  takeRandomBytes,
  textOf,
} from './segment.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const place = { origin: 'baton/test/1/s0', seq: 4, segment: 0 }

const committed = ({ bytes, commitment }: ReturnType<typeof saltText>) => ({
  bytes,
  commitment: commitment.toString('hex'),
})

/** As an append writes a text: what the record says of it, and what is stored. */
function written(text: string) {
  const { salted, ...said } = saltText(text)
  const { packed, ...stored } = packText(salted)
  const reference = { segment: place.segment, ...committed({ salted, ...said }), ...stored }
  return { salted, reference, encrypted: encryptSegment(key, place, packed) }
}

const REPETITIVE = 'Clause 7 obliges the licensee. '.repeat(200)

describe('segments', () => {
  test('open as the text that was encrypted, whether it was compressed or not', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 2_000 })
    fc.assert(
      fc.property(texts, fc.nat(20), (text, times) => {
        const { reference, encrypted } = written(text.repeat(times))
        const opened = openSegment(key, place, { reference, encrypted }) as Buffer
        expect(textOf(opened)).toBe(text.repeat(times))
        expect(opensCommitment(opened, reference)).toBe(true)
      }),
    )
  })

  test('E21 are stored compressed where that makes them shorter, and say how long they are stored', () => {
    const { reference, encrypted } = written(REPETITIVE)
    expect(reference.zstdBytes).toBeLessThan(reference.bytes / 20)
    expect(encrypted.ciphertext).toHaveLength((reference.zstdBytes ?? 0) + 32 + 16)
    expect(written('short').reference.zstdBytes).toBeUndefined()
    const noise = takeRandomBytes(20).toString('base64url')
    expect(written(noise).reference.zstdBytes).toBeUndefined()
  })

  test('written before they were compressed still open', () => {
    const { salted, bytes, commitment } = saltText(REPETITIVE)
    const reference = { segment: 0, ...committed({ salted, bytes, commitment }) }
    const encrypted = encryptSegment(key, place, salted)
    expect(openSegment(key, place, { reference, encrypted })?.equals(salted)).toBe(true)
  })

  test('never unpack to more than the record says, nor to less', () => {
    const { reference, encrypted, salted } = written(REPETITIVE)
    const { bytes, zstdBytes = 0 } = reference
    const opened = (said: Partial<typeof reference>) =>
      openSegment(key, place, { reference: { ...reference, ...said }, encrypted })
    expect(opened({})?.equals(salted)).toBe(true)
    expect(opened({ bytes: bytes - 1 })).toBeUndefined()
    expect(opened({ zstdBytes: zstdBytes - 1 })).toBeUndefined()
    const longer = opened({ bytes: bytes + 1 })
    expect(longer && opensCommitment(longer, { ...reference, bytes: bytes + 1 })).toBe(false)
    expect(opened({ bytes: 2 ** 40 })).toBeUndefined()
    const bomb = Buffer.concat([salted.subarray(0, 32), zstdCompressSync(Buffer.alloc(2 ** 26))])
    const stored = { segment: 0, bytes: 1_000, zstdBytes: bomb.length - 32 }
    const sealed = encryptSegment(key, place, bomb)
    expect(openSegment(key, place, { reference: stored, encrypted: sealed })).toBeUndefined()
  })

  test('do not open with another key, at another place, or after a change of one bit', () => {
    const { reference, encrypted } = written('text')
    const opened = (of = encrypted, at = place, by = key) =>
      openSegment(by, at, { reference: { ...reference, segment: at.segment }, encrypted: of })
    expect(opened(encrypted, place, createSecretKey(Buffer.alloc(32, 2)))).toBeUndefined()
    expect(opened(encrypted, { ...place, seq: 5 })).toBeUndefined()
    expect(opened(encrypted, { ...place, segment: 1 })).toBeUndefined()
    expect(opened(encrypted, { ...place, origin: 'baton/other/1/s0' })).toBeUndefined()
    for (let bit = 0; bit < encrypted.ciphertext.length * 8; bit += 1) {
      const ciphertext = Buffer.from(encrypted.ciphertext)
      ciphertext[bit >> 3] = (ciphertext[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(opened({ ...encrypted, ciphertext })).toBeUndefined()
    }
    expect(opened({ ...encrypted, ciphertext: Buffer.alloc(3) })).toBeUndefined()
  })

  test('the same text has another commitment every time', () => {
    const one = saltText('text')
    const other = saltText('text')
    expect(one.commitment.equals(other.commitment)).toBe(false)
    expect(opensCommitment(one.salted, committed(other))).toBe(false)
    expect(opensCommitment(one.salted, { ...committed(one), bytes: 5 })).toBe(false)
  })

  test('random bytes are never handed out twice', () => {
    const taken = Array.from({ length: 2_000 }, () => takeRandomBytes(32).toString('hex'))
    expect(new Set(taken).size).toBe(taken.length)
  })
})
