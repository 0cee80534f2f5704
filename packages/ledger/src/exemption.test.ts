// An exemption is named by its terms alone, and a signature under it is over all of them, by a reviewer who may speak for its tenant.
import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { readDecisionSigner } from './decision.ts'
import { exemptionFault, exemptionId, readExemptionSignature, signExemption } from './exemption.ts'
import type { ExemptionSignature, ExemptionTerms } from './exemption.ts'
import { parsePeople, personEntry } from './people.ts'
import type { Role } from './people.ts'

const newSigner = () =>
  readDecisionSigner(
    generateKeyPairSync('ed25519')
      .privateKey.export({ format: 'der', type: 'pkcs8' })
      .toString('base64'),
  )
const SIGNERS = {
  ann: newSigner(),
  'acme/bob': newSigner(),
  counsel: newSigner(),
  ended: newSigner(),
}
const entry = (name: keyof typeof SIGNERS, role: Role) =>
  personEntry(name, [role], SIGNERS[name].publicKey)
const people = parsePeople(
  [
    entry('ann', 'reviewer'),
    entry('acme/bob', 'reviewer'),
    entry('counsel', 'compliance'),
    `${entry('ended', 'reviewer')}:2026-11-01`,
  ].join(','),
)

const TERMS: ExemptionTerms = {
  from: 'intake',
  to: 'reader',
  rule: 'persona',
  pointer: '/currentState/log',
  below: false,
  tenant: null,
  until: '2026-12-01T00:00:00.000Z',
  reason: 'game scripts',
}
const now = new Date('2026-11-20T10:00:00.000Z')

function signedBy(name: keyof typeof SIGNERS, terms = TERMS): ExemptionSignature {
  const line = signExemption(terms, name, { signer: SIGNERS[name], now })
  const signature = readExemptionSignature(line)
  if (signature === undefined) throw new Error('a signature reads as one')
  return signature
}

describe('an exemption', () => {
  const OTHERS: readonly Partial<ExemptionTerms>[] = [
    { from: 'other' },
    { to: 'other' },
    { rule: 'leak' },
    { pointer: '/currentState/log/more' },
    { below: true },
    { tenant: 'acme' },
    { until: '2026-12-02T00:00:00.000Z' },
    { reason: 'another' },
  ]

  it('has one name for its terms, and another for any others', () => {
    const ids = [TERMS, ...OTHERS.map((other) => ({ ...TERMS, ...other }))].map(exemptionId)
    expect(new Set(ids).size).toBe(ids.length)
    expect(exemptionId({ ...TERMS })).toBe(ids[0])
    expect(ids[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8/)
  })

  it.each(OTHERS)('is not signed by a signature under others: %o', (other) => {
    const signature = signedBy('ann')
    expect(exemptionFault(TERMS, signature, people)).toBeUndefined()
    expect(exemptionFault({ ...TERMS, ...other }, signature, people)).toBe('signature')
  })

  it.each([
    [
      'by somebody else than it names',
      { ...signedBy('ann'), keyId: SIGNERS['acme/bob'].keyId },
      { tenant: 'acme' },
      'signature',
    ],
    [
      'at another time',
      { ...signedBy('ann'), signedAt: '2026-11-21T10:00:00.000Z' },
      {},
      'signature',
    ],
    ['by nobody who is known', { ...signedBy('ann'), keyId: '0'.repeat(16) }, {}, 'unknown_key'],
    ['by somebody who is no reviewer', signedBy('counsel'), {}, 'role'],
    ['with a key that had ended', signedBy('ended'), {}, 'expired_key'],
    ['for everybody by somebody of one tenant', signedBy('acme/bob'), {}, 'tenant'],
    [
      'for another tenant',
      signedBy('acme/bob', { ...TERMS, tenant: 'other' }),
      { tenant: 'other' },
      'tenant',
    ],
  ])('is not signed %s', (_, signature, terms, fault) => {
    expect(exemptionFault({ ...TERMS, ...terms }, signature, people)).toBe(fault)
  })

  it('is signed for a tenant by somebody of that tenant', () => {
    const terms = { ...TERMS, tenant: 'acme' }
    expect(exemptionFault(terms, signedBy('acme/bob', terms), people)).toBeUndefined()
  })

  it.each(['', 'ann', `${'0'.repeat(16)} 2026-13-01T00:00:00.000Z ${'A'.repeat(86)}==`])(
    'has no signature in %j',
    (line) => {
      expect(readExemptionSignature(line)).toBeUndefined()
    },
  )
})
