// A verification says what was checked, and a failure names record, rule and consequence.
import { describe, expect, it } from 'vitest'
import { checksOf, describeFinding, verdictOf } from './verification-checks.ts'

type Report = Parameters<typeof checksOf>[0]
type Finding = Report['findings'][number]

const report = (...findings: Finding[]): Report => ({
  ok: findings.length === 0,
  records: 12,
  chains: [{ origin: 'baton/s0', records: 12 }],
  findings,
  findingsTotal: findings.length,
})

const changed: Finding = {
  origin: 'baton/s0',
  seq: 3,
  rule: 'RECORD_HASH',
  message: 'the hash differs',
}
const keyless: Finding = { origin: 'baton/s0', seq: 4, rule: 'PAYLOAD_KEY', message: 'no key' }

describe('verification checks', () => {
  it('passes every check of a clean log', () => {
    expect(checksOf(report()).map(({ mark }) => mark)).toEqual(Array(6).fill('passed'))
    expect(verdictOf(report())).toBe('passed')
  })

  it('marks the check a finding belongs to', () => {
    const failed = checksOf(report(changed)).filter(({ mark }) => mark !== 'passed')
    expect(failed).toEqual([{ name: 'record hashes', mark: 'failed', text: '1 finding' }])
    expect(verdictOf(report(changed))).toBe('failed')
  })

  it('cannot say when only a key is missing, and fails when something was changed as well', () => {
    expect(verdictOf(report(keyless))).toBe('unknown')
    expect(verdictOf(report(keyless, changed))).toBe('failed')
  })

  it('names record, rule and consequence', () => {
    expect(describeFinding(changed)).toBe(
      'record 3 of baton/s0: the hash differs (RECORD_HASH). It means: its bytes were changed after it was recorded.',
    )
  })
})
