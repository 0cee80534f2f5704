// A bundle proves that nothing is missing at the end of its tasks, until when, and what came later; and no other end passes.
import { describe, expect, test } from 'vitest'
import { mapped, plain, plainMapped, refiled, signed } from '../../fixtures/bundle-changes.ts'
import { OTHER_TASK, TASK } from '../../fixtures/evidence-task.ts'
import { evidenceOf, NOW, policyOf } from '../../fixtures/evidence.ts'
import { deepEnd, END_ATTACKS } from '../../fixtures/task-end-attacks.ts'
import { ABSENT_TASK } from '../../fixtures/task-ends.ts'
import type { MapOptions } from '../../fixtures/task-ends.ts'
import { FILES } from './format.ts'
import { formatReport } from './format-report.ts'
import { readTar } from './tar.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'

const verify = (bytes: Uint8Array, without?: Parameters<typeof policyOf>[0]) =>
  verifyBundle(bytes, { policy: policyOf(without), now: NOW, thorough: true })
const mappedBundle = async (map: MapOptions = {}, taskId: string | null = TASK) =>
  signed(await evidenceOf({ ...mapped, taskId, map }))

const fileOf = (bundle: Uint8Array, wanted: string) =>
  readTar(bundle).files.find(({ name }) => name === wanted)?.bytes ?? new Uint8Array(0)

describe('the end of a task', () => {
  test('is proven until the map was sealed, and nothing of the task is missing', async () => {
    const report = verify(await mappedBundle())
    expect(report).toMatchObject({ verdict: 'valid', notExcluded: [] })
    expect(report.end).toEqual({ until: '2023-11-14T22:13:20.000012Z', later: [], absent: [] })
    expect(formatReport(report)).toContain(
      'VALID: nothing was changed, added or taken away.\nCOMPLETE until 2023-11-14T22:13:20.000012Z: nothing of this task is missing.\n',
    )
  })

  test('is proven without an exporter; only what came after it is open', async () => {
    const report = verify(await mappedBundle(), ['exporter'])
    expect(report.end?.until).toBe('2023-11-14T22:13:20.000012Z')
    expect(report.notExcluded).toEqual([
      'records of the task that came after 2023-11-14T22:13:20.000012Z (your policy names no exporter who vouches that these are all)',
    ])
    expect(formatReport(report)).not.toContain('as far as it goes')
  })

  test('names each record that came later, and calls none of them missing', async () => {
    const report = verify(await mappedBundle({ size: 8 }))
    expect(report.verdict).toBe('valid')
    expect(report.end).toEqual({
      until: '2023-11-14T22:13:20.000008Z',
      later: [
        { origin: 'baton/test/1/s0', seq: 8, recordedAt: '2023-11-14T22:13:20.000008Z' },
        { origin: 'baton/test/1/s0', seq: 10, recordedAt: '2023-11-14T22:13:20.000010Z' },
      ],
      absent: [],
    })
    expect(formatReport(report).match(/^LATER: .*$/gm)).toEqual([
      'LATER: baton/test/1/s0 record 8, recorded 2023-11-14T22:13:20.000008Z; whether others came with it is not said',
      'LATER: baton/test/1/s0 record 10, recorded 2023-11-14T22:13:20.000010Z; whether others came with it is not said',
    ])
  })

  test('is proven where the map is older than every record of the task', async () => {
    const report = verify(await mappedBundle({ size: 1 }))
    expect([report.verdict, report.end?.later.length]).toEqual(['valid', 8])
    expect(report.end?.absent).toEqual([TASK])
  })

  test('is proven of each of several tasks, and of one that was asked for and is not there', async () => {
    const report = verify(await mappedBundle({ asked: [ABSENT_TASK] }, null))
    expect(report.verdict).toBe('valid')
    expect(report.end).toMatchObject({ later: [], absent: [ABSENT_TASK] })
    expect(formatReport(report)).toContain(
      `ABSENT until 2023-11-14T22:13:20.000012Z: there was no record of the task ${ABSENT_TASK}.`,
    )
    const one = verify(await mappedBundle({ asked: [ABSENT_TASK] }, OTHER_TASK))
    expect(one.end?.absent).toEqual([ABSENT_TASK])
  })

  test('is proven as deep as a map goes', async () => {
    const report = verify(writeBundle(await deepEnd(24)), ['exporter'])
    expect([report.verdict, report.end?.absent]).toEqual(['valid', [ABSENT_TASK]])
  })

  test('is not proven under a seal that too few witnesses saw, or of a wrong time', async () => {
    const unseen = verify(signed(await evidenceOf({ ...mapped, isCosigned: false })))
    expect([unseen.verdict, unseen.end]).toEqual(['incomplete', null])
    const early = { ...mapped, sealedInstant: '2023-11-14T22:13:20.000012Z', map: { size: 2 } }
    const policy = policyOf(['witness', 'quorum'])
    const wrong = verifyBundle(signed(await evidenceOf(early)), { policy, now: 1, thorough: true })
    expect([wrong.verdict, wrong.end]).toEqual(['clock', null])
  })

  test.each(END_ATTACKS)('%s is tampering', async (_, make) => {
    const report = verify(await make(), ['exporter'])
    expect([report.verdict, report.end]).toEqual(['tampered', null])
  })
})

describe('a log that commits to no map', () => {
  test('has bundles of version 1, in the words of version 1', async () => {
    const bundle = signed(await evidenceOf(plain))
    expect(Buffer.from(fileOf(bundle, FILES.manifest)).toString()).toContain('"baton-evidence/1"')
    const report = verify(bundle)
    expect([report.verdict, report.end, report.notExcluded]).toEqual(['valid', null, []])
    const text = formatReport(report)
    expect(text).toMatch(/\nVALID: nothing was changed, added or taken away\.\n$/)
    expect(text).toContain('its end rests on the exporter')
    expect(formatReport(verify(bundle, ['exporter']))).toMatch(
      /\nVALID as far as it goes: .*\nNOT EXCLUDED: records of the task after the last one here \(.*\)\n$/,
    )
  })
})

test('the exporter signs the version too', async () => {
  const bytes = await refiled(
    FILES.manifest,
    (json) => Buffer.from(json.toString().replace('evidence/2', 'evidence/1')),
    plainMapped,
  )
  const failed = verify(bytes).checks.filter(({ result }) => result === 'failed')
  expect(failed.map(({ id }) => id)).toContain('EXPORTER_SIGNATURE')
})

test('what a task adds to a bundle is its way through the map', async () => {
  const [without, with_] = [await evidenceOf(plain), await evidenceOf(plainMapped)]
  const proof = (parts: typeof without) => fileOf(signed(parts), FILES.proof).length
  // A node of children and a list, in base64.
  expect(proof(with_) - proof(without)).toBeLessThan(2_000)
})
