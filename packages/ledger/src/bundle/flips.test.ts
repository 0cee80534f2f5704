// No byte of a bundle is idle: one turned bit anywhere is found, and a record that it hit is named.
// BATON_TEST_FLIPS=1 alters a small bundle at every place.
import { randomInt } from 'node:crypto'
import { describe, expect, test, vi } from 'vitest'
import { ENTRIES, ERASED, TASK } from '../../fixtures/evidence-task.ts'
import { evidenceOf, exporter, NOW, policyOf } from '../../fixtures/evidence.ts'
import type * as Ed25519 from '../ed25519.ts'
import { entryOf } from '../../fixtures/entry.ts'
import { flipsOf, recordsByByte, resummed, smallBundle } from '../../fixtures/small-evidence.ts'
import type { RecordPlace } from '../../fixtures/small-evidence.ts'
import { FILES, UNLISTED } from './format.ts'
import type { BundleReport } from './report.ts'
import { readTar } from './tar.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'

// Whether a signature is right is asked thousands of times in the same words: computed once.
vi.mock('../ed25519.ts', async (read) => {
  const { verifyEd25519 } = await read<typeof Ed25519>()
  const known = new Map<string, boolean>()
  return {
    verifyEd25519(...question: Parameters<typeof verifyEd25519>): boolean {
      const label = question.map((part) => Buffer.from(part).toString('base64')).join()
      const answer = known.get(label) ?? verifyEd25519(...question)
      known.set(label, answer)
      return answer
    },
  }
})

const options = { policy: policyOf(), now: NOW, thorough: false }
const parts = await evidenceOf({ entries: ENTRIES, taskId: TASK, erased: ERASED })
const page = '<!doctype html><title>Evidence</title><script>%BATON_EVIDENCE_BUNDLE%</script>'
const bundle = writeBundle(parts, { exporter, page })
/** A prime, so that every part of every block has its turn over the places and bits. */
const STEP = 97
const SEED = 20_261_120
/** One place of so many of a small bundle is altered, each run others: what is missed is printed with its place and its value. */
const EVERY = Number(
  process.env['BATON_TEST_FLIPS'] ?? (process.env['BATON_TEST_LONG'] === '1' ? 4 : 12),
)
const FIRST = randomInt(EVERY)

function flipped(at: number): Uint8Array {
  const copy = Uint8Array.from(bundle)
  copy[at] = (copy[at] as number) ^ (1 << (at % 8))
  return copy
}

/** Each finding has a rule and a place; what hit a record is named as this record, or as its line. */
function isCaught({ verdict, checks }: BundleReport, hit?: RecordPlace): boolean {
  const findings = checks.flatMap((check) => check.findings)
  const isPlaced = findings.every(({ rule, file, origin }) => rule && (file || origin))
  const isNamed = findings.some(
    ({ file, seq }) => seq === hit?.seq || file === `${hit?.file}:${hit?.line}`,
  )
  return verdict === 'tampered' && isPlaced && (hit === undefined || isNamed)
}

const textOf = (container: Uint8Array, wanted: string): string => {
  const file = readTar(container).files.find(({ name }) => name === wanted)
  return Buffer.from(file?.bytes ?? []).toString()
}

const checkpointText = (proof: string): string =>
  proof.slice(proof.indexOf('"checkpoint"'), proof.indexOf('\u2014'))

describe('one flipped byte', () => {
  test('at any place of a small bundle is tampering, named by its part and its rule', async () => {
    const small = await smallBundle()
    expect(readTar(small).files.map(({ name }) => name)).toEqual(Object.values(FILES))
    expect(verifyBundle(small, { ...options, thorough: true }).verdict).toBe('valid')
    const values = flipsOf(small.length, SEED)
    const records = recordsByByte(small)
    const missed = [...values].flatMap((value, at) => {
      if (at % EVERY !== FIRST) return []
      const copy = Uint8Array.from(small)
      copy[at] = (copy[at] as number) ^ value
      const report = verifyBundle(copy, { ...options, thorough: at % 3 === 0 })
      return isCaught(report, records.get(at)) ? [] : [{ at, value, report }]
    })
    expect(missed).toEqual([])
  }, 240_000)

  test('anywhere else is tampering too, whichever keys the auditor trusts', () => {
    expect(verifyBundle(bundle, options).verdict).toBe('valid')
    const modest = { ...options, policy: policyOf(['exporter', 'batch', 'witness', 'quorum']) }
    const records = recordsByByte(bundle)
    const missed: number[] = []
    for (let at = 0; at < bundle.length; at += STEP) {
      const report = verifyBundle(flipped(at), at % 2 === 0 ? options : modest)
      if (!isCaught(report, records.get(at))) missed.push(at)
    }
    expect(missed).toEqual([])
  }, 120_000)

  test('with every sum made anew, is accepted only in what no verifier trusts', async () => {
    const small = await smallBundle()
    const modest = { ...options, policy: policyOf(['exporter']), thorough: true }
    const accepted = readTar(small)
      .files.filter(({ name }) => !UNLISTED.includes(name))
      .flatMap(({ name, bytes }) =>
        [...flipsOf(bytes.length, SEED)].flatMap((value, at) => {
          if (at % 5 !== 0) return []
          const changed = Uint8Array.from(bytes)
          changed[at] = (changed[at] as number) ^ value
          const { verdict } = verifyBundle(resummed(small, name, changed), modest)
          return verdict === 'valid' ? [{ name, changed: Buffer.from(changed).toString() }] : []
        }),
      )
    // The seal has the root of a chain: who signs the chain's own checkpoint adds nothing to it.
    const trusted = accepted.filter(
      ({ name, changed }) =>
        name !== FILES.policy &&
        name !== FILES.page &&
        !(name === FILES.proof && checkpointText(changed) === checkpointText(textOf(small, name))),
    )
    expect(trusted).toEqual([])
  }, 60_000)

  test('more or less at the end is noticed too', () => {
    for (const bytes of [bundle.subarray(0, -1), Buffer.concat([bundle, Buffer.alloc(512)])]) {
      expect(isCaught(verifyBundle(bytes, options))).toBe(true)
    }
  })
})

describe('no false alarm', () => {
  test('on 1,000 untouched logs of every shape', async () => {
    const wrongly: number[] = []
    for (let number = 0; number < 1_000; number += 1) {
      const size = 1 + (number % 9)
      const entries = Array.from({ length: size }, (_, at) =>
        entryOf({
          taskId: at % 3 === number % 3 ? (ENTRIES[0]?.taskId as string) : TASK,
          event: at % 2 === 0 ? 'EXECUTION_STARTED' : 'EXECUTION_COMPLETED',
          segments:
            number % 4 === 0
              ? [{ kind: 'message', subject: null, text: `text ${at} \u20ac\u{1f600}` }]
              : [],
        }),
      )
      const taskId = number % 2 === 0 ? TASK : null
      const bytes = writeBundle(await evidenceOf({ entries, taskId }), { exporter })
      const hasRecords = entries.some((entry) => taskId === null || entry.taskId === taskId)
      const { verdict } = verifyBundle(bytes, { ...options, thorough: true })
      if (hasRecords && verdict !== 'valid') wrongly.push(number)
    }
    expect(wrongly).toEqual([])
  }, 120_000)

  test('the same parts make the same bytes', () => {
    expect(Buffer.compare(writeBundle(parts, { exporter, page }), bundle)).toBe(0)
    expect(bundle.length % 512).toBe(0)
  })
})
