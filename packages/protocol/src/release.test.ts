// A release lets exactly one message pass exactly one scanner; nothing about it can be changed, and nothing else passes.
import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { judgeHandoff } from './judge-handoff.ts'
import { createKeyRing } from './key-ring.ts'
import type { KeyStatus } from './key-ring.ts'
import { signRelease, verifyRelease } from './release.ts'
import type { Release } from './release.ts'
import { sampleMessage } from '../fixtures/sample-handoff.ts'
import { signHandoff } from './signature.ts'

const ringOf = (status: KeyStatus = 'active', fill = 7) =>
  createKeyRing({
    active: 'k2',
    keys: [
      {
        id: 'k1',
        secret: Buffer.alloc(32, fill),
        status: status === 'active' ? 'verify-only' : status,
      },
      { id: 'k2', secret: Buffer.alloc(32, 9), status: 'active' },
    ],
  })
const keyRing = ringOf()
const ARTEFACT = 'ab'.repeat(32)
const signed = signHandoff(sampleMessage(), keyRing)
const { handoffId } = signed.message

const release = signRelease(
  {
    id: 'r1',
    handoffId,
    sha256: hash('sha256', signed.bytes, 'hex'),
    artefactId: ARTEFACT,
    reason: 'SAFETY_VIOLATION',
    reviewers: ['ann', 'bob'],
    expiresAt: '2026-01-02T03:04:05.678Z',
  },
  keyRing,
)

const rejecting = (artefactId: string) => () => ({
  decision: 'reject' as const,
  findings: [{ category: 'override', jsonPointer: '/currentState/text' }],
  artefactId,
})

const judged = (
  offered: Release & { expired: boolean },
  artefactId = ARTEFACT,
  scan = rejecting(artefactId),
) =>
  judgeHandoff(
    { bytes: signed.bytes, keyId: signed.keyId, signature: signed.signature },
    { agent: undefined, keyRing, scan, release: { offered, handoffId } },
  )

it('lets its message pass, and says that it was released', () => {
  const verdict = judged({ ...release, expired: false })
  expect(verdict).toMatchObject({ valid: true, checks: { safety: 'released' } })
  expect(verdict.checks.scan?.decision).toBe('reject')
})

it.each<[string, Partial<Release>]>([
  ['id', { id: 'r2' }],
  ['handoff', { handoffId: 'other' }],
  ['bytes', { sha256: '0'.repeat(64) }],
  ['scanner', { artefactId: 'cd'.repeat(32) }],
  ['reason', { reason: 'POISON' }],
  ['reviewers', { reviewers: ['ann', 'bob', 'eve'] }],
  ['one reviewer of two names', { reviewers: ['ann","bob'] }],
  ['end', { expiresAt: '2026-01-03T03:04:05.678Z' }],
  ['key', { keyId: 'k1' }],
  ['unknown key', { keyId: 'k9' }],
  ['signature', { signature: `hmac-sha256:${'0'.repeat(64)}` }],
  ['no signature', { signature: '' }],
])('does not hold with another %s', (_, change) => {
  expect(verifyRelease({ ...release, ...change }, keyRing)).toBe(false)
  expect(judged({ ...release, ...change, expired: false })).toMatchObject({
    valid: false,
    reason: 'SAFETY_VIOLATION',
    details: [{ rule: 'release.signature' }, { rule: 'safety.override' }],
  })
})

it('does not hold when its time is over, or another scanner judges', () => {
  expect(judged({ ...release, expired: true })).toMatchObject({
    details: [{ rule: 'release.expired' }, {}],
  })
  expect(judged({ ...release, expired: false }, 'cd'.repeat(32))).toMatchObject({
    details: [{ rule: 'release.artefact' }, {}],
  })
})

it('overrides no scanner that fails', () => {
  const failing = (): never => {
    throw new Error('no verdict')
  }
  expect(judged({ ...release, expired: false }, ARTEFACT, failing)).toMatchObject({
    valid: false,
    details: [{ rule: 'release.artefact' }, { rule: 'safety.unavailable' }],
  })
})

it('is not believed once its key is revoked', () => {
  const byOld = signRelease(
    release,
    createKeyRing({
      active: 'k1',
      keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
    }),
  )
  expect(verifyRelease(byOld, keyRing)).toBe(true)
  expect(verifyRelease(byOld, ringOf('revoked'))).toBe(false)
})

it('is no signature of a message', () => {
  const delivery = { bytes: signed.bytes, keyId: release.keyId, signature: release.signature }
  const options = { agent: undefined, keyRing, scan: rejecting(ARTEFACT) }
  expect(judgeHandoff(delivery, options)).toMatchObject({ reason: 'SIGNATURE_INVALID' })
})
