// An approval override lets exactly one message pass exactly one scanner; nothing about it can be changed, and nothing else passes.
import { hash } from 'node:crypto'
import { expect, it } from 'vitest'
import { judgeHandoff } from './judge-handoff.ts'
import { createKeyRing } from './key-ring.ts'
import type { KeyStatus } from './key-ring.ts'
import { signOverride, verifyOverride } from './approval-override.ts'
import type { ApprovalOverride } from './approval-override.ts'
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
const RULESET = 'ab'.repeat(32)
const signed = signHandoff(sampleMessage(), keyRing)
const { handoffId } = signed.message

const override = signOverride(
  {
    id: 'r1',
    handoffId,
    sha256: hash('sha256', signed.bytes, 'hex'),
    rulesetVersion: RULESET,
    reason: 'SAFETY_VIOLATION',
    reviewers: ['ann', 'bob'],
    expiresAt: '2026-01-02T03:04:05.678Z',
  },
  keyRing,
)

const rejecting = (rulesetVersion: string) => () => ({
  decision: 'reject' as const,
  findings: [{ category: 'override', jsonPointer: '/currentState/text' }],
  rulesetVersion,
})

const judged = (
  offered: ApprovalOverride & { expired: boolean },
  rulesetVersion = RULESET,
  scan = rejecting(rulesetVersion),
) =>
  judgeHandoff(
    { bytes: signed.bytes, keyId: signed.keyId, signature: signed.signature },
    { agent: undefined, keyRing, scan, override: { offered, handoffId } },
  )

it('lets its message pass, and says that it was released', () => {
  const verdict = judged({ ...override, expired: false })
  expect(verdict).toMatchObject({ valid: true, checks: { safety: 'released' } })
  expect(verdict.checks.scan?.decision).toBe('reject')
})

it.each<[string, Partial<ApprovalOverride>]>([
  ['id', { id: 'r2' }],
  ['handoff', { handoffId: 'other' }],
  ['bytes', { sha256: '0'.repeat(64) }],
  ['scanner', { rulesetVersion: 'cd'.repeat(32) }],
  ['reason', { reason: 'POISON' }],
  ['reviewers', { reviewers: ['ann', 'bob', 'eve'] }],
  ['one reviewer of two names', { reviewers: ['ann","bob'] }],
  ['end', { expiresAt: '2026-01-03T03:04:05.678Z' }],
  ['key', { keyId: 'k1' }],
  ['unknown key', { keyId: 'k9' }],
  ['signature', { signature: `hmac-sha256:${'0'.repeat(64)}` }],
  ['no signature', { signature: '' }],
])('does not hold with another %s', (_, change) => {
  expect(verifyOverride({ ...override, ...change }, keyRing)).toBe(false)
  expect(judged({ ...override, ...change, expired: false })).toMatchObject({
    valid: false,
    reason: 'SAFETY_VIOLATION',
    details: [{ rule: 'release.signature' }, { rule: 'safety.override' }],
  })
})

it('does not hold when its time is over, or another scanner judges', () => {
  expect(judged({ ...override, expired: true })).toMatchObject({
    details: [{ rule: 'release.expired' }, {}],
  })
  expect(judged({ ...override, expired: false }, 'cd'.repeat(32))).toMatchObject({
    details: [{ rule: 'release.artefact' }, {}],
  })
})

it('overrides no scanner that fails', () => {
  const failing = (): never => {
    throw new Error('no verdict')
  }
  expect(judged({ ...override, expired: false }, RULESET, failing)).toMatchObject({
    valid: false,
    details: [{ rule: 'release.artefact' }, { rule: 'safety.unavailable' }],
  })
})

it('is not believed once its key is revoked', () => {
  const byOld = signOverride(
    override,
    createKeyRing({
      active: 'k1',
      keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
    }),
  )
  expect(verifyOverride(byOld, keyRing)).toBe(true)
  expect(verifyOverride(byOld, ringOf('revoked'))).toBe(false)
})

it('is no signature of a message', () => {
  const delivery = { bytes: signed.bytes, keyId: override.keyId, signature: override.signature }
  const options = { agent: undefined, keyRing, scan: rejecting(RULESET) }
  expect(judgeHandoff(delivery, options)).toMatchObject({ reason: 'SIGNATURE_INVALID' })
})
