// What people decided about a task is held against their own signatures, offline, by whoever names those people in their policy.
import { describe, expect, test } from 'vitest'
import { signed, withoutSeqs } from '../../fixtures/bundle-changes.ts'
import { decidedEvidence, erased, FORGERIES, reviewed } from '../../fixtures/decided-task.ts'
import { evidenceOf, NOW, policyText } from '../../fixtures/evidence.ts'
import { encodeUtf8 } from '../bytes.ts'
import { writeBundle } from './write.ts'
import { parseAuditorPolicy } from './auditor-policy.ts'
import { verifyBundle } from './verify.ts'

function verify(bytes: Uint8Array, text = policyText()) {
  const parsed = parseAuditorPolicy(encodeUtf8(text))
  if (!parsed.ok) throw new Error(`line ${parsed.line}: ${parsed.message}`)
  const report = verifyBundle(bytes, { policy: parsed.policy, now: NOW, thorough: true })
  const { verdict, checks, notExcluded } = report
  const check = checks.find(({ id }) => id === 'DECISIONS')
  return { verdict, result: check?.result, found: check?.findings ?? [], notExcluded }
}
const bundleOf = async (entries = reviewed()) => signed(await evidenceOf(decidedEvidence(entries)))

test.each([
  ['a release', reviewed],
  ['an erasure', erased],
])('%s that two people signed is proven', async (_, entries) => {
  const is = verify(await bundleOf(entries()))
  expect(is).toMatchObject({ verdict: 'valid', result: 'ok', found: [] })
})

test.each(Object.entries(FORGERIES))('%s', async (_, { make, verdict, message }) => {
  const { found, ...is } = verify(await bundleOf(make()))
  expect([is.verdict, found[0]?.message]).toEqual([verdict, expect.stringMatching(message)])
})

test('without people in the policy nothing is said, and that is said', async () => {
  const { verdict, result, notExcluded } = verify(await bundleOf(), policyText(['people']))
  expect([verdict, result]).toEqual(['valid', 'skipped'])
  expect(notExcluded).toEqual([expect.stringContaining('names nobody whose decisions count')])
})

describe('what is not in the bundle', () => {
  test('is missed by the links of the task, and only said to be missing where its beginning is here', async () => {
    const parts = withoutSeqs([0, 1, 2])(await evidenceOf(decidedEvidence(reviewed())))
    expect(verify(writeBundle(parts))).toMatchObject({ verdict: 'tampered', result: 'ok' })
  })
})

test.each([
  ['no person', '# baton-person ann'],
  [
    'a key twice',
    policyText()
      .split('\n')
      .find((line) => line.startsWith('# baton-person')),
  ],
])('a policy with %s is refused by its line', (_, line = '') => {
  const parsed = parseAuditorPolicy(encodeUtf8(`${policyText()}${line}\n`))
  expect(parsed).toMatchObject({ ok: false, message: expect.stringContaining('baton-person') })
})
