// A verification says what was checked, and a failure names record, rule and consequence.
import { describe, expect, it } from 'vitest'
import { FINDING_RULES, LOG_VERDICTS, verdictOf as worstOf } from '@baton/ledger'
import type { FindingRule } from '@baton/ledger'
import { checksOf, describeFinding, isAlone, markOf } from './verification-checks.ts'

type Report = Parameters<typeof checksOf>[0]
type Finding = Report['findings'][number]

const verdictOf = ({ verdict }: Report) => markOf(verdict)

const FILE: Report['compared'][number] = {
  name: 'file',
  outside: true,
  seals: 2,
  at: '2026-11-20T10:00:00.000Z',
  outcome: 'agreed',
}

const report = (...findings: Finding[]): Report => ({
  ok: findings.length === 0,
  verdict: worstOf(findings.map(({ rule }) => rule)),
  records: 12,
  compared: [FILE],
  chains: [{ origin: 'baton/s0', records: 12, sealed: 10 }],
  seals: {
    entries: 3,
    sealedAt: '2026-11-20T10:00:00.000000Z',
    witnessed: 2,
    anchorsAgreed: 1,
    anchorsUnasked: 0,
    handovers: [],
    isKeyInForce: true,
  },
  decisions: { decisions: 0, judged: null },
  copies: 2,
  rotations: [],
  rotationsTotal: 0,
  findings,
  findingsTotal: findings.length,
  findingsByRule: Object.fromEntries(
    [...Map.groupBy(findings, ({ rule }) => rule)].map(([rule, { length }]) => [rule, length]),
  ),
})

const changed: Finding = {
  origin: 'baton/s0',
  seq: 3,
  rule: 'RECORD_HASH',
  message: 'the hash differs',
}
const unsigned: Finding = { origin: 'baton/s0', seq: 5, rule: 'BATCH_KEY', message: 'unknown key' }
const keyless: Finding = { origin: 'baton/s0', seq: 4, rule: 'PAYLOAD_KEY', message: 'no key' }

describe('verification checks', () => {
  it('passes every check of a clean log', () => {
    expect(checksOf(report()).map(({ mark }) => mark)).toEqual(Array(12).fill('passed'))
    expect(verdictOf(report())).toBe('passed')
  })

  it('says of the seals to which key the log was handed, and whether that one is trusted here', () => {
    const handover = {
      seal: 2,
      at: '2026-11-20T10:00:00.000000Z',
      from: '00112233',
      to: '1f2e3d4c',
    }
    const sealed = report()
    const of = (isKeyInForce: boolean) => {
      const seals = { ...(sealed.seals as NonNullable<Report['seals']>), isKeyInForce }
      const checks = checksOf({ ...sealed, seals: { ...seals, handovers: [handover] } })
      return checks.find(({ name }) => name === 'seals')?.text
    }
    expect(of(true)).toMatch(/; key handed over 1 time, to 1f2e3d4c with seal 2$/)
    expect(of(false)).toMatch(/with seal 2, and the key that is trusted here is one of before$/)
  })

  it('marks the check a finding belongs to', () => {
    const failed = checksOf(report(changed)).filter(({ mark }) => mark !== 'passed')
    expect(failed).toEqual([{ name: 'record hashes', mark: 'failed', text: '1 finding' }])
    expect(verdictOf(report(changed))).toBe('failed')
  })

  it('cannot say when only a public key is missing, and fails when a vault key is gone or something was changed as well', () => {
    expect(verdictOf(report(unsigned))).toBe('unknown')
    expect(verdictOf(report(unsigned, keyless))).toBe('failed')
    expect(verdictOf(report(keyless, unsigned, changed))).toBe('failed')
    expect(checksOf(report(unsigned)).find(({ name }) => name === 'signatures')).toEqual({
      name: 'signatures',
      mark: 'unknown',
      text: '1 finding',
    })
  })

  it('is incomplete where nothing outside the database was there to compare with', () => {
    const alone: Report = { ...report(), verdict: 'incomplete', compared: [] }
    expect([isAlone(alone), isAlone(report()), isAlone(report(unsigned))]).toEqual([
      true,
      false,
      false,
    ])
    expect(checksOf(alone).find(({ name }) => name === 'anchors')?.mark).toBe('unknown')
    expect(checksOf({ ...alone, seals: null }).find(({ name }) => name === 'seals')).toEqual({
      name: 'seals',
      mark: 'unknown',
      text: 'not compared: nobody is named who seals',
    })
  })

  it.each([
    ['agreed', 'passed', 'file: 2 seals, 2026-11-20T10:00:00.000Z, agreed'],
    ['nothing', 'unknown', 'file: 2 seals, 2026-11-20T10:00:00.000Z, knows of no seal yet'],
    ['differs', 'failed', 'file: 2 seals, 2026-11-20T10:00:00.000Z, differs'],
    ['missing', 'failed', expect.stringContaining('missing, although it has acknowledged seals')],
    ['cut', 'failed', expect.stringContaining('cut or older than what it has acknowledged')],
    ['not reachable', 'unknown', expect.stringContaining('not reachable')],
  ] as const)('lists what it was compared with: %s', (outcome, mark, text) => {
    const compared = [{ ...FILE, outcome }]
    const rows = checksOf({ ...report(), compared }).filter(({ name }) => name === 'compared')
    expect(rows).toEqual([{ name: 'compared', mark, text }])
  })

  it.each(Object.keys(FINDING_RULES) as FindingRule[])('says of %s what the table says', (rule) => {
    const { severity, check, consequence } = FINDING_RULES[rule]
    const found: Finding = { origin: 'baton/s0', seq: 3, rule, message: 'm' }
    const mark = LOG_VERDICTS[severity].exitCode === 3 ? 'failed' : 'unknown'
    const broken = checksOf(report(found)).filter((one) => one.mark !== 'passed')
    expect(broken).toEqual([{ name: check, mark, text: '1 finding' }])
    expect(describeFinding(found)).toContain(consequence)
  })

  it('fails for a change that is past the findings which are kept', () => {
    const kept = report(...Array<Finding>(1000).fill(unsigned))
    const cut = { ...kept, findingsByRule: { ...kept.findingsByRule, RECORD_HASH: 1 } }
    expect(
      verdictOf({ ...cut, verdict: worstOf(Object.keys(cut.findingsByRule) as FindingRule[]) }),
    ).toBe('failed')
    expect(checksOf(cut).find(({ name }) => name === 'record hashes')?.mark).toBe('failed')
  })

  it('says plainly that a chain has no record', () => {
    const chain = (origin: string, records: number) => ({ origin, records, sealed: 0 })
    const links = (chains: Report['chains']) =>
      checksOf({ ...report(), chains }).find(({ name }) => name === 'links')?.text
    expect(links([chain('baton/s0', 3), chain('baton/s1', 0), chain('baton/s2', 1)])).toBe(
      '0→2, 0 unbroken; 1 chain without records',
    )
    expect(links([chain('baton/s0', 0)])).toBe('no record yet')
    const empty = checksOf({ ...report(), records: 0 })
    expect(empty.find(({ name }) => name === 'record hashes')?.text).toBe('no record yet')
  })

  it('says what seals cover, and that nothing is known without one', () => {
    const texts = (of: Report) => checksOf(of).filter(({ name }) => /seals|anchors/.test(name))
    expect(texts(report())).toEqual([
      {
        name: 'seals',
        mark: 'passed',
        text: '3 seals over 10 records, every root recomputed; 2 records not sealed yet',
      },
      { name: 'anchors', mark: 'passed', text: '2 of 3 seals kept outside the database' },
    ])
    expect(texts({ ...report(), seals: null, compared: [] }).map(({ mark }) => mark)).toEqual([
      'unknown',
      'unknown',
    ])
  })

  it('names record, rule and consequence', () => {
    expect(describeFinding(changed)).toBe(
      'record 3 of baton/s0: the hash differs (RECORD_HASH). It means: its bytes were changed after it was recorded.',
    )
  })
})
