// Each check of a bundle is guarded: some tampering is caught by it alone, and slips by without it.
import { describe, expect, test } from 'vitest'
import { ATTACKS, NO_EXPORTER, NO_SERVICES } from '../../fixtures/bundle-attacks.ts'
import type { Attack, Without } from '../../fixtures/bundle-attacks.ts'
import {
  changed,
  dishonest,
  edited,
  honest,
  mapped,
  signed,
  withChain,
} from '../../fixtures/bundle-changes.ts'
import { TASK } from '../../fixtures/evidence-task.ts'
import { evidenceOf, NOW, policyOf, readBody } from '../../fixtures/evidence.ts'
import { toHex } from '../bytes.ts'
import { CHECK_TITLES, CHECKS } from './checks.ts'
import type { CheckId } from './checks.ts'
import { verifyBundle, verifyWith } from './verify.ts'

const verify = (bytes: Uint8Array, without?: Without) =>
  verifyBundle(bytes, { policy: policyOf(without), now: NOW, thorough: true })

describe('an untouched bundle', () => {
  test('is valid, check by check, and says what became of every text', async () => {
    const report = verify(signed(await evidenceOf(mapped)))
    expect(report.checks.map(({ id, result, findings }) => [id, result, findings])).toEqual(
      Object.keys(CHECK_TITLES).map((id) => [id, 'ok', []]),
    )
    expect(report).toMatchObject({ verdict: 'valid', taskId: TASK, records: 8 })
    expect(
      report.segments.map(({ seq, segment, status }) => `${seq}/${segment} ${status}`),
    ).toEqual(['1/0 present', '1/1 erased', '3/0 present', '4/0 present', '7/0 present'])
  })

  test('of whole chains is valid too, and one without texts withholds them', async () => {
    expect(verify(signed(await evidenceOf({ ...honest, taskId: null }))).verdict).toBe('valid')
    const report = verify(signed({ ...(await evidenceOf(honest)), payloads: null }))
    expect(report.verdict).toBe('valid')
    expect(new Set(report.segments.map(({ status }) => status))).toEqual(
      new Set(['withheld', 'erased']),
    )
  })
})

describe.each(Object.entries(ATTACKS) as [CheckId, Attack][])('%s', (id, row) => {
  const { attack, make, verdict = 'tampered', without } = row
  test(`${attack}: caught, and by nothing else`, async () => {
    const bytes = await make()
    const report = verify(bytes, without)
    const found = report.checks.filter(
      ({ result }) => result === 'failed' || result === 'incomplete',
    )
    expect(found.map((check) => check.id)).toEqual([id])
    expect(report.verdict).toBe(verdict)
    expect(found[0]?.findings[0]).toMatchObject({ rule: id })
    const { [id]: _, ...others } = CHECKS
    const options = { policy: policyOf(without), now: NOW, thorough: true }
    expect(verifyWith(others, bytes, options).verdict).toBe('valid')
  })
})

describe('further rows', () => {
  test.each([0, 40])('T25 a text or a salt that was edited, at byte %i', async (place) => {
    const bytes = await changed((parts) => ({
      ...parts,
      payloads: (parts.payloads ?? []).map((one, at) => {
        const salted = Buffer.from(one.salted, 'base64')
        if (at === 0) salted[place] = (salted[place] as number) ^ 1
        return { ...one, salted: salted.toString('base64') }
      }),
    }))
    const report = verify(bytes, NO_EXPORTER)
    expect(report.verdict).toBe('tampered')
    expect(report.segments[0]).toMatchObject({ seq: 1, segment: 0, status: 'mismatch' })
  })

  test('T25 a commitment that was edited before everything was sealed', async () => {
    const bytes = await dishonest((bodies) => {
      const [first, ...rest] = readBody(bodies[7] as Buffer).payload
      edited(bodies, 7, { payload: [{ ...first, commitment: 'ab'.repeat(32) }, ...rest] })
    })
    const report = verify(bytes, NO_EXPORTER)
    expect(report.segments.find(({ seq }) => seq === 7)?.status).toBe('mismatch')
  })

  test('T31, T32 a proof that is too short, too long or for another size', async () => {
    const first = toHex(new Uint8Array(32))
    for (const change of [
      withChain(({ hashes }) => ({ hashes: hashes.slice(1) })),
      withChain(({ hashes }) => ({ hashes: [...hashes, hashes[0] as string] })),
      withChain(({ size }) => ({ size: size + 1 })),
      withChain(({ leaves }) => ({ leaves: leaves.slice(1) })),
      withChain(({ leaves }) => ({ leaves: [[0, first] as const, ...leaves.slice(1)] })),
    ]) {
      const report = verify(await changed(change), NO_SERVICES)
      expect(report.verdict).toBe('tampered')
    }
  })

  test('an unsealed bundle is incomplete, and records after the seal are too', async () => {
    const parts = await evidenceOf(honest)
    const unsealed = verify(signed({ ...parts, seal: null, chains: [] }))
    expect(unsealed.verdict).toBe('incomplete')
  })

  test('a chain that stands twice in the proof', async () => {
    const twice = await changed((parts) => ({
      ...parts,
      chains: [...parts.chains, ...parts.chains],
    }))
    expect(verify(twice, NO_EXPORTER).verdict).toBe('tampered')
  })

  test('a container whose lengths would never let the reading end', async () => {
    for (const length of ['-0000001000', '-1000\0', '77777777777', '0x1', '']) {
      const bytes = Buffer.from(signed(await evidenceOf(honest)))
      bytes.write(length.padEnd(11, '\0'), 124, 'latin1')
      expect(verify(bytes).verdict).toBe('tampered')
    }
  })

  test('a log that sealed nonsense is tampered, and nothing of it stops the verifier', async () => {
    const nonsense: readonly unknown[] = [null, [], {}, [null], [{}], 'x', -1, 0.5, true, [[[]]]]
    const members = Object.keys(readBody((await evidenceOf(honest)).records[0] as Uint8Array))
    const verdicts = new Set<string>()
    for (const [at, member] of [...members, 'erasure', 'act', 'release'].entries()) {
      const value = nonsense[at % nonsense.length]
      for (const wrong of [value, nonsense[(at + 3) % nonsense.length]]) {
        const bytes = await dishonest((bodies) => {
          // The fixture itself has to find the record again.
          if (!['origin', 'seq', 'taskId', 'event'].includes(member)) {
            edited(bodies, 10, { [member]: wrong ?? 'x' })
          }
          edited(bodies, 9, { erasure: wrong })
        })
        verdicts.add(verify(bytes, NO_SERVICES).verdict)
        const options = { policy: policyOf(), now: NOW, thorough: false }
        expect(() => verifyBundle(bytes, options)).not.toThrow()
      }
    }
    expect([...verdicts]).toEqual(['tampered'])
  })

  test('what is no bundle at all is no bundle, and no crash', () => {
    for (const bytes of [
      new Uint8Array(0),
      Buffer.from('{}'),
      new Uint8Array(2048),
      Buffer.alloc(5000, 255),
    ]) {
      expect(verify(bytes).verdict).toBe('not-a-bundle')
    }
  })
})
