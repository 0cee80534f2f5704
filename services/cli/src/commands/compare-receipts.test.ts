// A receipt that the log does not have makes the whole verification fail, whatever the log says of itself.
import { expect, test } from 'vitest'
import { withReceipts } from './compare-receipts.ts'

const clean: Parameters<typeof withReceipts>[0] = {
  ok: true,
  verdict: 'verified',
  records: 12,
  compared: [],
  chains: [],
  seals: null,
  decisions: null,
  copies: null,
  findings: [],
  findingsTotal: 0,
  findingsByRule: {},
  rotations: [],
  rotationsTotal: 0,
}

test('receipts that are in the log change nothing', () => {
  expect(withReceipts(clean, [])).toBe(clean)
})

test('each that is not is a finding, and the log is not verified', () => {
  for (const verdict of ['verified', 'incomplete'] as const) {
    const report = withReceipts({ ...clean, verdict }, ['0001d56c', '486c14a0'])
    expect(report).toMatchObject({
      ok: false,
      verdict: 'altered',
      findingsTotal: 2,
      findingsByRule: { RECEIPT: 2 },
    })
    expect(report.findings.map(({ message }) => message)[1]).toContain('486c14a0')
  }
})
