// A segment opens only with its key, at its place, as the text that was committed to.
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  opensCommitment,
  openSegment,
  saltText,
  sealSegment,
  takeRandomBytes,
  textOf,
} from './segment.ts'

const key = createSecretKey(Buffer.alloc(32, 1))
const place = { origin: 'baton/test/1/s0', seq: 4, segment: 0 }

const committed = ({ bytes, commitment }: ReturnType<typeof saltText>) => ({
  bytes,
  commitment: commitment.toString('hex'),
})

describe('segments', () => {
  test('open as the text that was sealed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
        const salted = saltText(text)
        const opened = openSegment(key, place, sealSegment(key, place, salted.salted)) as Buffer
        expect(textOf(opened)).toBe(text)
        expect(opensCommitment(opened, committed(salted))).toBe(true)
      }),
    )
  })

  test('do not open with another key, at another place, or after a change of one bit', () => {
    const sealed = sealSegment(key, place, saltText('text').salted)
    expect(openSegment(createSecretKey(Buffer.alloc(32, 2)), place, sealed)).toBeUndefined()
    expect(openSegment(key, { ...place, seq: 5 }, sealed)).toBeUndefined()
    expect(openSegment(key, { ...place, segment: 1 }, sealed)).toBeUndefined()
    expect(openSegment(key, { ...place, origin: 'baton/other/1/s0' }, sealed)).toBeUndefined()
    for (let bit = 0; bit < sealed.ciphertext.length * 8; bit += 1) {
      const ciphertext = Buffer.from(sealed.ciphertext)
      ciphertext[bit >> 3] = (ciphertext[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(openSegment(key, place, { ...sealed, ciphertext })).toBeUndefined()
    }
    expect(openSegment(key, place, { ...sealed, ciphertext: Buffer.alloc(3) })).toBeUndefined()
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
