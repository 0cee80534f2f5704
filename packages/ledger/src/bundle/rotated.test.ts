// A bundle of a log whose key was changed counts each key for the part that it signed, whoever of them the reader trusts.
import { describe, expect, test } from 'vitest'
import { evidenceOf, NOW } from '../../fixtures/evidence.ts'
import { plainMapped } from '../../fixtures/bundle-changes.ts'
import {
  NEW,
  OLD,
  POLICIES,
  ROTATION_ATTACKS,
  SOUND,
  TRUST_ALL,
  TRUST_NEW,
  wrongVersion,
} from '../../fixtures/rotated-evidence.ts'
import { encodeUtf8 } from '../bytes.ts'
import { formatVerifierKey } from '../note/key.ts'
import { parseAuditorPolicy } from './auditor-policy.ts'
import { readTar } from './tar.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'

function verify(bytes: Uint8Array, text: string) {
  const parsed = parseAuditorPolicy(encodeUtf8(text))
  if (!parsed.ok) throw new Error(parsed.message)
  return verifyBundle(bytes, { policy: parsed.policy, now: NOW, thorough: true })
}

const formatOf = (bytes: Uint8Array): string =>
  (JSON.parse(Buffer.from(readTar(bytes).files[0]?.bytes ?? []).toString()) as { format: string })
    .format

describe('a reader who trusts', () => {
  test.each(SOUND)('%s', async (_, policy, make, isOpen) => {
    const report = verify(writeBundle(await make()), policy)
    expect(report.checks.flatMap(({ findings }) => findings)).toEqual([])
    expect(report.verdict).toBe('valid')
    expect(report.end).not.toBeNull()
    expect(report.notExcluded.some((one) => one.startsWith('a log that somebody else'))).toBe(
      isOpen,
    )
  })

  test('a key of before is told which one it was handed to', async () => {
    const [, , make] = SOUND[2] as (typeof SOUND)[2]
    const { notExcluded } = verify(writeBundle(await make()), SOUND[2]?.[1] ?? '')
    expect(notExcluded[0]).toContain(OLD.key.keyId)
    expect(notExcluded[0]).toContain(formatVerifierKey(NEW.key))
  })
})

test.each(ROTATION_ATTACKS)('%s', async (_, policy, make) => {
  const report = verify(await make(), policy)
  const failed = report.checks.filter(({ result }) => result === 'failed').map(({ id }) => id)
  expect(report.verdict).toBe('tampered')
  expect(failed).toContain('SEAL_SIGNATURE')
  expect(report.end).toBeNull()
})

test('only a log that was handed over needs the fourth version', async () => {
  const [, , make] = SOUND[0] as (typeof SOUND)[0]
  expect(formatOf(writeBundle(await make()))).toBe('baton-evidence/4')
  expect(formatOf(writeBundle(await evidenceOf(plainMapped)))).toBe('baton-evidence/2')
  expect(verify(await wrongVersion(), TRUST_NEW).verdict).toBe('tampered')
})

test.each(POLICIES)('a policy with %s is refused', (_, text, line) => {
  expect(parseAuditorPolicy(encodeUtf8(text))).toMatchObject({ ok: false, line })
  expect(parseAuditorPolicy(encodeUtf8(TRUST_ALL)).ok).toBe(true)
})
