// What failed decides which mistake is named first, and never makes a verdict milder.
import type { BundleReport, CheckReport } from '@baton/ledger'
import { describe, expect, it } from 'vitest'
import { verdictWords } from './bundle-verdict.ts'

const REPORT = {
  taskId: 'a task',
  records: 6,
  sealedAt: null,
  segments: [],
  end: null,
  notExcluded: [],
}

function reportOf(failed: readonly string[], changes: object = {}): BundleReport {
  const checks = failed.map((id) => ({ id, result: 'failed' }) as CheckReport)
  return { ...REPORT, verdict: 'tampered', checks, ...changes } as unknown as BundleReport
}

describe('a bundle that does not verify', () => {
  const sentence = (report: BundleReport) => verdictWords(report, 'e.tar').sentence

  it('fits together, and is of somebody else than the policy says', () => {
    const failed = ['EXPORTER_SIGNATURE', 'SEAL_SIGNATURE', 'BATCH_SIGNATURE']
    expect(sentence(reportOf(failed))).toContain('no key of this policy signed it')
    expect(sentence(reportOf([...failed, 'RECORD_HASH']))).toContain('altered, added or removed')
    expect(sentence(reportOf(['BATCH_SIGNATURE']))).toContain('altered, added or removed')
  })

  it('is no bundle, or of a wrong clock, in words of their own', () => {
    expect(sentence(reportOf([], { verdict: 'not-a-bundle' }))).toBe(
      'This is no bundle of evidence',
    )
    const clock = sentence(reportOf([], { verdict: 'clock' }))
    expect(clock).toContain('A clock was wrong: nothing was altered')
  })
})

it('one whose decisions alone are unproven is told whom to ask', () => {
  const of = (...ids: readonly string[]) =>
    reportOf([], { verdict: 'incomplete', checks: ids.map((id) => ({ id, result: 'incomplete' })) })
  expect(verdictWords(of('DECISIONS'), 'e.tar').next).toContain('baton-person')
  expect(verdictWords(of('DECISIONS', 'TASK_END'), 'e.tar').next).toContain('once the task')
})

it('a sound one is opened as the file that was named', () => {
  const valid = reportOf([], { verdict: 'valid' })
  expect(verdictWords(valid, 'my evidence.tar').next).toContain(
    'tar -xf "my evidence.tar" index.html',
  )
})

it('a sound one whose policy names no exporter is not called whole', () => {
  const whole = reportOf([], { verdict: 'valid' })
  expect(verdictWords(whole, 'e.tar').sentence).toContain('nothing was altered, added or removed')
  const checks = [{ id: 'EXPORTER_SIGNATURE', result: 'skipped' }]
  const { sentence, next } = verdictWords(reportOf([], { verdict: 'valid', checks }), 'e.tar')
  expect(sentence).toContain('as far as it goes')
  expect(next).toContain('baton-key exporter')
  const end = { until: '2026-11-22T14:46:09.120000Z', later: [], absent: [] }
  const proven = verdictWords(reportOf([], { verdict: 'valid', checks, end }), 'e.tar')
  expect(proven.sentence).toContain('nothing was altered, added or removed')
})
