// No byte of a bundle is idle: one turned bit anywhere is found, and a record that it hit is named.
import { describe, expect, test } from 'vitest'
import { ENTRIES, ERASED, TASK } from '../fixtures/evidence-task.ts'
import { evidenceOf, exporter, NOW, policyOf } from '../fixtures/evidence.ts'
import { entryOf } from '../fixtures/chain.ts'
import { FILES } from './format.ts'
import { readTar } from './tar.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'

const options = { policy: policyOf(), now: NOW, thorough: false }
const parts = await evidenceOf({ entries: ENTRIES, taskId: TASK, erased: ERASED })
const page = '<!doctype html><title>Evidence</title><script>%BATON_EVIDENCE_BUNDLE%</script>'
const bundle = writeBundle(parts, { exporter, page })
/** A prime, so that every part of every block has its turn over the places and bits. */
const STEP = 97

function flipped(at: number): Uint8Array {
  const copy = Uint8Array.from(bundle)
  copy[at] = (copy[at] as number) ^ (1 << (at % 8))
  return copy
}

describe('one flipped byte', () => {
  test('anywhere is tampering, whichever keys the auditor trusts', () => {
    expect(verifyBundle(bundle, options).verdict).toBe('valid')
    const modest = { ...options, policy: policyOf(['exporter', 'batch', 'witness', 'quorum']) }
    const missed: number[] = []
    for (let at = 0; at < bundle.length; at += STEP) {
      const policy = at % 2 === 0 ? options : modest
      if (verifyBundle(flipped(at), policy).verdict !== 'tampered') missed.push(at)
    }
    expect(missed).toEqual([])
  }, 120_000)

  test('in a record names that record', () => {
    const { files } = readTar(bundle)
    const records = files.find(({ name }) => name === FILES.records)?.bytes as Uint8Array
    const start = records.byteOffset
    let line = 0
    for (let at = 0; at < records.length; at += 1) {
      if (records[at] === 10) line += 1
      if (at % STEP !== 0 || records[at] === 10) continue
      const report = verifyBundle(flipped(start + at), options)
      const findings = report.checks.flatMap((check) => check.findings)
      const seq = [1, 2, 3, 4, 6, 7, 8, 10][line] as number
      const named = findings.some(
        (finding) => finding.seq === seq || finding.file === `${FILES.records}:${line + 1}`,
      )
      expect([report.verdict, named]).toEqual(['tampered', true])
    }
  })

  test('more or less at the end is noticed too', () => {
    for (const bytes of [bundle.subarray(0, -1), Buffer.concat([bundle, Buffer.alloc(512)])]) {
      expect(verifyBundle(bytes, options).verdict).toBe('tampered')
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
