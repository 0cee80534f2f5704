// Of a task that fanned out nothing can be left out, exchanged or told otherwise to its join without being found, offline.
import { describe, expect, test } from 'vitest'
import { edited, signed, withoutSeqs } from '../../fixtures/bundle-changes.ts'
import { evidenceOf, NOW, policyOf } from '../../fixtures/evidence.ts'
import { fannedOut, FORKED, HANDOFFS, outcomeOf } from '../../fixtures/fanned-out.ts'
import { encodeUtf8, toBase64 } from '../bytes.ts'
import { sha256Hex } from '../sha256.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'
import type { BundleParts } from './write.ts'

const JOINED = [HANDOFFS.left, HANDOFFS.wide, HANDOFFS.bad]

const verify = (bytes: Uint8Array) =>
  verifyBundle(bytes, { policy: policyOf(['exporter']), now: NOW, thorough: true })
const failed = (bytes: Uint8Array) => {
  const { verdict, checks } = verify(bytes)
  const wrong = checks.filter(({ result }) => result === 'failed' || result === 'incomplete')
  return { verdict, wrong: wrong.map(({ id }) => id), said: wrong[0]?.findings[0]?.message }
}
const bundleOf = async (changes?: Parameters<typeof fannedOut>[0]) =>
  signed(await evidenceOf(fannedOut(changes)))
const changed = async (change: (parts: BundleParts) => BundleParts) =>
  writeBundle(change(await evidenceOf(fannedOut())))

/** With another text in the place of one. */
const retold =
  (seq: number, words: string) =>
  (parts: BundleParts): BundleParts => ({
    ...parts,
    payloads: (parts.payloads ?? []).map((one) =>
      one.seq === seq
        ? { ...one, salted: toBase64(Buffer.concat([Buffer.alloc(32), Buffer.from(words)])) }
        : one,
    ),
  })

test('a task that fanned out is valid: its join was told what its branches came to', async () => {
  expect(failed(await bundleOf())).toEqual({ verdict: 'valid', wrong: [] })
  expect(verify(await bundleOf()).checks.find(({ id }) => id === 'JOINED')?.result).toBe('ok')
})

describe('who makes a bundle', () => {
  test('leaves the records of one branch out', async () => {
    const { verdict, wrong } = failed(await changed(withoutSeqs([FORKED.left, FORKED.leftEnd])))
    expect([verdict, wrong]).toEqual(['tampered', expect.arrayContaining(['TASK_LINK', 'JOINED'])])
  })

  test('leaves the join out, which stood last', async () => {
    const { verdict, wrong } = failed(await changed(withoutSeqs([FORKED.join, FORKED.joinEnd])))
    expect([verdict, wrong]).toEqual(['tampered', ['TASK_COMPLETE']])
  })

  test.each([
    ['what a branch came to', FORKED.leftEnd, '"forged"'],
    ['what the join was asked for', FORKED.join, '{"taskDescription":"forged"}'],
  ])('exchanges the text of %s', async (_, seq, words) => {
    const { verdict, wrong } = failed(await changed(retold(seq, words)))
    expect([verdict, wrong[0]]).toEqual(['tampered', 'PAYLOAD'])
  })

  test('makes up that the join joined one more', async () => {
    const edit = (bodies: Buffer[]) =>
      edited(bodies, FORKED.join, { joins: Object.values(HANDOFFS) })
    const { verdict } = failed(signed(await evidenceOf({ ...fannedOut(), edit })))
    expect(verdict).toBe('tampered')
  })
})

describe('who runs the log', () => {
  test('tells the join another result than a branch came to', async () => {
    const told = { left: outcomeOf('left', { result: 'forged' }) }
    expect(failed(await bundleOf({ told }))).toEqual({
      verdict: 'tampered',
      wrong: ['JOINED'],
      said: `it was told of another result than the handoff ${HANDOFFS.left} came to`,
    })
  })

  test('tells the join of a branch that never was', async () => {
    const told = { more: outcomeOf('forged', { result: 'forged' }) }
    expect(failed(await bundleOf({ told }))).toMatchObject({
      verdict: 'tampered',
      wrong: ['JOINED'],
      said: expect.stringContaining('which it does not join'),
    })
  })

  test('tells a result of a branch that came to none', async () => {
    const told = { bad: outcomeOf('bad', { outcome: 'COMPLETED', result: 'forged' }) }
    expect(failed(await bundleOf({ told })).wrong).toEqual(['JOINED'])
  })

  test('has the join name a branch that it never recorded: that is missing', async () => {
    expect(failed(await bundleOf({ joins: [...JOINED, HANDOFFS.forged] }))).toEqual({
      verdict: 'incomplete',
      wrong: ['JOINED'],
      said: `it joins the handoff ${HANDOFFS.forged}, of which there is no record`,
    })
  })
})

test.each(['HANDOFF_REVISED', 'HANDOFF_REDACTED'] as const)(
  'what a person changed of a join is theirs, as %s says',
  async (changedBy) => {
    const told = { left: outcomeOf('left', { result: 'without a name' }) }
    expect(failed(await bundleOf({ told, changedBy })).verdict).toBe('valid')
  },
)

describe('a result that the message of the join has no room for', () => {
  const cutTo = (sha256: string) => ({ result: null, cut: { bytes: 1, sha256, href: '/' } })
  const canonical = sha256Hex(encodeUtf8('{"all":[1,2.5,null],"of":"left"}'))

  test('is held to its digest', async () => {
    const told = { left: outcomeOf('left', cutTo(canonical)) }
    expect(failed(await bundleOf({ told }))).toEqual({ verdict: 'valid', wrong: [] })
    const other = { left: outcomeOf('left', cutTo(sha256Hex(encodeUtf8('"forged"')))) }
    expect(failed(await bundleOf({ told: other })).wrong).toEqual(['JOINED'])
  })

  test('says nothing where it was put together of branches within', async () => {
    const told = { wide: outcomeOf('wide', cutTo(canonical)) }
    expect(failed(await bundleOf({ told }))).toEqual({ verdict: 'valid', wrong: [] })
  })
})

test('what is erased or withheld says nothing', async () => {
  const withheld = { ...(await evidenceOf(fannedOut())), payloads: null }
  expect(failed(signed(withheld))).toEqual({ verdict: 'valid', wrong: [] })
})
