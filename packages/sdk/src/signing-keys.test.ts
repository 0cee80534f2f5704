// The signing keys are one setting; a wrong one says where it is wrong and shows no secret.
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { parseSigningKeys } from './signing-keys.ts'

const secret = () => randomBytes(32).toString('base64')

describe('parseSigningKeys', () => {
  it('reads one active key and older ones (E10)', () => {
    const ring = parseSigningKeys(
      `k2:active:${secret()}, k1:verify-only:${secret()},k0:revoked:${secret()}`,
    )
    expect(ring.activeKeyId).toBe('k2')
    expect([...ring.keys].map(([id, key]) => [id, key.status])).toEqual([
      ['k2', 'active'],
      ['k1', 'verify-only'],
      ['k0', 'revoked'],
    ])
  })

  it.each([
    ['nothing', '', 'entry 1'],
    ['a second entry without a status', 'k1:active:S3CRET=,k2:S3CRET=', 'entry 2'],
    ['an unknown status', 'k1:retired:S3CRET=', 'entry 1'],
    ['no active key', 'k1:verify-only:S3CRET=', 'no key is active'],
  ])('refuses %s', (_, setting, words) => {
    const parse = () => parseSigningKeys(setting)
    expect(parse).toThrow(
      expect.objectContaining({
        code: 'BATON_SIGNING_KEYS_INVALID',
        message: expect.stringContaining(words),
        fix: expect.any(String),
      }),
    )
    expect(parse).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('S3CRET') }),
    )
  })

  it('refuses two active keys and a repeated id, with a code', () => {
    for (const setting of [
      `k1:active:${secret()},k2:active:${secret()}`,
      `k1:active:${secret()},k1:verify-only:${secret()}`,
    ]) {
      expect(() => parseSigningKeys(setting)).toThrow(
        expect.objectContaining({ code: expect.stringMatching(/^BATON_/) }),
      )
    }
  })
})
