// What an alert is about are words that a sender chose: they are shown, and do nothing.
import { expect, it } from 'vitest'
import { alertLines } from './alerts.ts'

it('shows names that would move the cursor or turn the text as text alone', () => {
  const lines = alertLines({
    alertId: '7f3c91de-5a0e-4b5e-9a57-0c3b7f0a1c11',
    kind: 'handoff.rolled_back',
    severity: 'ticket',
    reason: 'SCHEMA_INVALID',
    subject: { fromAgent: 'a\u009b2J', toAgent: '\u202eb\u001b[31m' },
    state: 'open',
    occurrences: 1,
    escalations: 0,
    handoffIds: [],
    firstAt: '2026-11-23T01:02:03.000Z',
    lastAt: '2026-11-23T01:02:03.000Z',
    acknowledgedBy: null,
    closedBy: null,
    closedWhy: null,
    history: [],
  })
  expect(lines.join('\n')).toContain('a 2J →  b [31m')
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})
