// Every alert leads to a runbook of the rules, and a message carries nothing but what the delivery names.
import { expect, it } from 'vitest'
import { ALERTS, runbookOf as runbookOfRule } from '@baton/telemetry'
import { ROUTES } from '@baton/protocol'
import { alertMessage, runbookOf } from './alert-message.ts'

const KINDS = ['dead_lettered', 'rolled_back', 'rejected', 'blocked', 'expired']

it('names a runbook that a rule has, of each kind and reason', () => {
  const known = new Set(ALERTS.map(runbookOfRule))
  for (const reason of [...Object.keys(ROUTES), 'EXPIRED', 'BATON_AGENT_FAILED']) {
    for (const kind of [...KINDS.map((one) => `handoff.${one}`), 'latency.pair', 'other'])
      for (const escalations of [0, 1])
        expect(known).toContain(runbookOf({ kind, reason, escalations }))
  }
})

it('says what changed, when, who did it and where to read on', () => {
  const changedAt = new Date('2026-11-23T01:02:03.456Z')
  const alert = {
    alertId: 'a',
    kind: 'handoff.rolled_back',
    severity: 'ticket',
    reason: 'SCHEMA_INVALID',
    subject: { fromAgent: 'intake', toAgent: 'reviewer' },
    state: 'acknowledged',
    occurrences: 12,
    escalations: 0,
    handoffIds: ['h'],
    firstAt: '2026-11-23T01:00:00Z',
    lastAt: '2026-11-23T01:01:00Z',
  } as const
  const delivery = { changeId: 'c', webhook: 'pager', attempts: 1, changedAt, alert } as const
  expect(
    alertMessage({ ...delivery, change: 'acknowledged', actor: 'ann' }, 'https://x.example/books/'),
  ).toEqual({
    type: 'alert.acknowledged',
    timestamp: '2026-11-23T01:02:03.456Z',
    data: { alert, actor: 'ann', runbook: 'https://x.example/books/rollbacks.md' },
  })
  expect(
    alertMessage({ ...delivery, alert: null, change: 'test', actor: 'ann' }, 'x').data,
  ).toEqual({ alert: null, actor: 'ann', runbook: null })
})
