// HMAC as RFC 4231 says, over the canonical bytes; one changed bit anywhere is seen (E10, E31 e).
import { createSecretKey } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKeyRing } from './key-ring.ts'
import type { KeyRing, KeyStatus } from './key-ring.ts'
import { sampleKeyRing, sampleMessage } from '../fixtures/sample-handoff.ts'
import { deliveryOf, encodeMessage, signHandoff, verifySignature } from './signature.ts'

const text = (words: string) => Buffer.from(words)

// RFC 4231, test cases 1 to 4, 6 and 7; case 5 is about truncation, which is not used here.
const VECTORS = [
  [
    Buffer.alloc(20, 0x0b),
    text('Hi There'),
    'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7',
  ],
  [
    text('Jefe'),
    text('what do ya want for nothing?'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  [
    Buffer.alloc(20, 0xaa),
    Buffer.alloc(50, 0xdd),
    '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe',
  ],
  [
    Buffer.from(Array.from({ length: 25 }, (_, index) => index + 1)),
    Buffer.alloc(50, 0xcd),
    '82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b',
  ],
  [
    Buffer.alloc(131, 0xaa),
    text('Test Using Larger Than Block-Size Key - Hash Key First'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
  [
    Buffer.alloc(131, 0xaa),
    text(
      'This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm.',
    ),
    '9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2',
  ],
] as const

function ringOf(secret: Uint8Array, status: KeyStatus = 'active'): KeyRing {
  return { activeKeyId: 'k', keys: new Map([['k', { key: createSecretKey(secret), status }]]) }
}

describe('signature', () => {
  it.each(VECTORS)('agrees with RFC 4231 (%#)', (key, data, mac) => {
    const claim = { keyId: 'k', signature: `hmac-sha256:${mac}` }
    expect(verifySignature(data, claim, ringOf(key))).toEqual({ ok: true })
  })

  it('covers the message with the key id and without the signature', () => {
    const signed = signHandoff(sampleMessage({ signature: 'hmac-sha256:old' }), sampleKeyRing)
    const shown = JSON.parse(Buffer.from(signed.bytes).toString())
    expect(shown).toEqual(sampleMessage({ signatureKeyId: 'fixture-key' }))
    expect(signed.message).toEqual({ ...shown, signature: signed.signature })
    expect(Buffer.from(signed.sha256).toString('hex')).toHaveLength(64)
    expect(verifySignature(signed.bytes, signed, sampleKeyRing)).toEqual({ ok: true })
  })

  it('is the same however the message was put together', () => {
    const backward = Object.fromEntries(Object.entries(sampleMessage()).toReversed())
    const again = signHandoff(sampleMessage(backward), sampleKeyRing)
    expect(again.signature).toBe(signHandoff(sampleMessage(), sampleKeyRing).signature)
  })

  it('sees every flipped bit of the bytes, and of the signature', () => {
    const signed = signHandoff(sampleMessage(), sampleKeyRing)
    const bits = fc.nat({ max: signed.bytes.length * 8 - 1 })
    fc.assert(
      fc.property(bits, (bit) => {
        const bytes = Buffer.from(signed.bytes)
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        expect(verifySignature(bytes, signed, sampleKeyRing)).toEqual({
          ok: false,
          why: 'mismatch',
        })
      }),
    )
    for (let place = 0; place < signed.signature.length; place += 1) {
      const old = signed.signature[place] ?? ''
      const changed =
        signed.signature.slice(0, place) +
        (old === '0' ? '1' : '0') +
        signed.signature.slice(place + 1)
      expect(
        verifySignature(signed.bytes, { keyId: signed.keyId, signature: changed }, sampleKeyRing)
          .ok,
      ).toBe(false)
    }
  })

  it.each([
    ['', 'malformed'],
    ['hmac-sha256:', 'malformed'],
    [`hmac-sha256:${'A'.repeat(64)}`, 'malformed'],
    [`hmac-sha256:${'0'.repeat(63)}g`, 'malformed'],
    [`hmac-sha256:${'0'.repeat(65)}`, 'malformed'],
    [`hmac-sha512:${'0'.repeat(64)}`, 'malformed'],
    [`hmac-sha256:${'0'.repeat(64)}`, 'mismatch'],
  ])('refuses %j: %s', (signature, why) => {
    const { bytes } = signHandoff(sampleMessage(), sampleKeyRing)
    expect(verifySignature(bytes, { keyId: 'fixture-key', signature }, sampleKeyRing)).toEqual({
      ok: false,
      why,
    })
  })

  it('is never malformed into an exception by what is not text', () => {
    const claim = { keyId: 'fixture-key', signature: undefined as unknown as string }
    expect(verifySignature(Buffer.of(), claim, sampleKeyRing)).toEqual({
      ok: false,
      why: 'malformed',
    })
  })
})

describe('rotation', () => {
  const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const before = createKeyRing({
    active: 'one',
    keys: [{ id: 'one', secret: first, status: 'active' }],
  })
  const ringAfter = (status: KeyStatus) =>
    createKeyRing({
      active: 'two',
      keys: [
        { id: 'two', secret: second, status: 'active' },
        { id: 'one', secret: first, status },
      ],
    })
  const signed = signHandoff(sampleMessage(), before)

  it('still believes a verify-only key, and signs with the new one', () => {
    const ring = ringAfter('verify-only')
    expect(verifySignature(signed.bytes, signed, ring)).toEqual({ ok: true })
    expect(signHandoff(sampleMessage(), ring).keyId).toBe('two')
  })

  it('no longer believes a revoked key, nor one it never had', () => {
    expect(verifySignature(signed.bytes, signed, ringAfter('revoked'))).toEqual({
      ok: false,
      why: 'revoked-key',
    })
    const fresh = signHandoff(sampleMessage(), ringAfter('revoked'))
    expect(verifySignature(fresh.bytes, fresh, before)).toEqual({ ok: false, why: 'unknown-key' })
  })

  it('does not let one key stand for another', () => {
    const claim = { keyId: 'two', signature: signed.signature }
    expect(verifySignature(signed.bytes, claim, ringAfter('verify-only'))).toEqual({
      ok: false,
      why: 'mismatch',
    })
  })
})

describe('deliveryOf', () => {
  it('splits a message that carries its signature', () => {
    const signed = signHandoff(sampleMessage(), sampleKeyRing)
    const delivery = deliveryOf(signed.message)
    expect(Buffer.from(delivery.bytes)).toEqual(Buffer.from(signed.bytes))
    expect(verifySignature(delivery.bytes, delivery, sampleKeyRing)).toEqual({ ok: true })
  })

  it('gives an unsigned message a signature nobody accepts', () => {
    expect(deliveryOf(sampleMessage())).toMatchObject({ keyId: '', signature: '' })
    expect(encodeMessage(sampleMessage()).length).toBeGreaterThan(1000)
  })
})
