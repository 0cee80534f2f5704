// A segment opens only with its key, at its place, as the text that was committed to.
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decryptSegment,
  encryptSegment,
  opensCommitment,
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

describe('segments', () => {
  test('open as the text that was encrypted', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 2_000 }), (text) => {
        const salted = saltText(text)
        const opened = decryptSegment(
          key,
          place,
          encryptSegment(key, place, salted.salted),
        ) as Buffer
        expect(textOf(opened)).toBe(text)
        expect(opensCommitment(opened, committed(salted))).toBe(true)
      }),
    )
  })

  test('do not open with another key, at another place, or after a change of one bit', () => {
    const encrypted = encryptSegment(key, place, saltText('text').salted)
    expect(decryptSegment(createSecretKey(Buffer.alloc(32, 2)), place, encrypted)).toBeUndefined()
    expect(decryptSegment(key, { ...place, seq: 5 }, encrypted)).toBeUndefined()
    expect(decryptSegment(key, { ...place, segment: 1 }, encrypted)).toBeUndefined()
    expect(decryptSegment(key, { ...place, origin: 'baton/other/1/s0' }, encrypted)).toBeUndefined()
    for (let bit = 0; bit < encrypted.ciphertext.length * 8; bit += 1) {
      const ciphertext = Buffer.from(encrypted.ciphertext)
      ciphertext[bit >> 3] = (ciphertext[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(decryptSegment(key, place, { ...encrypted, ciphertext })).toBeUndefined()
    }
    expect(
      decryptSegment(key, place, { ...encrypted, ciphertext: Buffer.alloc(3) }),
    ).toBeUndefined()
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
