// The page's own arithmetic gives what node:crypto gives, for good and for bad signatures.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { verifyEd25519 as verifyHere } from '../ed25519.ts'
import { verifyEd25519 } from '../../verifier/portable-ed25519.ts'
import { sha256Hex, sha512 } from '../../verifier/portable-sha256.ts'

test('digests of any length', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 400 }), (bytes) => {
      expect(sha256Hex(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'))
      const expected = createHash('sha512').update(bytes).digest('hex')
      expect(Buffer.from(sha512(bytes)).toString('hex')).toBe(expected)
    }),
  )
})

test('signatures, and signatures with one bit turned', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(511), (message, bit) => {
      const signature = Uint8Array.from(sign(null, message, privateKey))
      expect(verifyEd25519(raw, message, signature)).toBe(true)
      signature[bit >> 3] = (signature[bit >> 3] as number) ^ (1 << (bit & 7))
      expect(verifyEd25519(raw, message, signature)).toBe(false)
      expect(verifyHere(raw, message, signature)).toBe(false)
    }),
    { numRuns: 15 },
  )
})

test('a scalar that was enlarged by the order is refused, as are bytes that are no point', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  const signature = sign(null, Buffer.from('m'), privateKey)
  const order = 2n ** 252n + 27742317777372353535851937790883648493n
  let scalar = BigInt(`0x${Buffer.from(signature.subarray(32)).reverse().toString('hex')}`) + order
  for (let at = 32; at < 64; at += 1) {
    signature[at] = Number(scalar & 255n)
    scalar >>= 8n
  }
  expect(verifyEd25519(raw, Buffer.from('m'), signature)).toBe(false)
  expect(verifyEd25519(new Uint8Array(32).fill(255), Buffer.from('m'), signature)).toBe(false)
})
