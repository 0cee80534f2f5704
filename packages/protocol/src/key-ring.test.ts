// A key ring has exactly one key that signs, and refuses weak or ambiguous ones.
import { describe, expect, it } from 'vitest'
import { ProtocolError } from './detail.ts'
import { createKeyRing } from './key-ring.ts'
import type { KeyRingOptions } from './key-ring.ts'

const secret = Buffer.alloc(32, 7)

describe('key ring', () => {
  it('takes secrets as bytes or as base64', () => {
    const ring = createKeyRing({
      active: 'new',
      keys: [
        { id: 'new', secret: secret.toString('base64'), status: 'active' },
        { id: 'old', secret, status: 'verify-only' },
      ],
    })
    expect(ring.keys.get('new')?.key.equals(ring.keys.get('old')?.key ?? never())).toBe(true)
  })

  it.each<[string, KeyRingOptions]>([
    ['an unknown active key', { active: 'other', keys: [{ id: 'a', secret, status: 'active' }] }],
    ['a revoked active key', { active: 'a', keys: [{ id: 'a', secret, status: 'revoked' }] }],
    [
      'two active keys',
      {
        active: 'a',
        keys: [
          { id: 'a', secret, status: 'active' },
          { id: 'b', secret, status: 'active' },
        ],
      },
    ],
    [
      'two keys of one name',
      {
        active: 'a',
        keys: [
          { id: 'a', secret, status: 'active' },
          { id: 'a', secret, status: 'revoked' },
        ],
      },
    ],
    [
      'a short secret',
      { active: 'a', keys: [{ id: 'a', secret: secret.subarray(1), status: 'active' }] },
    ],
    ['an empty name', { active: '', keys: [{ id: '', secret, status: 'active' }] }],
    ['no keys', { active: 'a', keys: [] }],
  ])('refuses %s', (_, options) => {
    expect(() => createKeyRing(options)).toThrow(ProtocolError)
  })
})

function never(): never {
  throw new Error('the key is missing')
}
