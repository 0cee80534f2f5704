// The list of what operators did: who, to what, by what right, from where.
import { expect, it } from 'vitest'
import { show } from './admin.ts'
import type { Hit } from './search.ts'

const HIT: Hit = {
  recordedAt: '2026-11-25T10:00:00.000001Z',
  event: 'TEXT_READ',
  taskId: '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
  handoffId: '7c9e6679-7425-40de-944b-e07fc1f90ae7',
  attempt: 0,
  fromAgent: 'gateway',
  fromVersion: '1.0.0',
  toAgent: 'gateway',
  toVersion: null,
  reason: null,
  decidedBy: 'eve',
  byPerson: true,
  releaseId: null,
  tenant: 'acme',
  operation: {
    subject: 'quarantined-message',
    right: 'api-key:3f2a9c1b7d40',
    address: '192.0.2.7',
    details: [
      { code: 'SCOPE', value: 'handoffs:send', sha256: null },
      { code: 'AGENT', value: null, sha256: 'ab'.repeat(32) },
    ],
  },
  cost: null,
  origin: 'baton/test/1/s0',
  seq: 7,
  recordHash: 'cd'.repeat(32),
  assurance: 'sealed',
  tier: 'hot',
  findings: [],
}

it('says who did what to what, by what right and from where', () => {
  const [, row = ''] = show([HIT]).split('\n')
  for (const word of [
    'eve',
    'TEXT_READ',
    'quarantined-message',
    'acme',
    'api-key:3f2a9c1b7d40',
    '192.0.2.7',
    'SCOPE handoffs:send, AGENT abababab',
    'sealed',
  ])
    expect(row).toContain(word)
})

it('shows what stands under no operation by its task, and says what is not proven', () => {
  const finding = { origin: 'x', seq: 1, rule: 'RECORD_HASH', message: 'm' } as const
  const shown = show([{ ...HIT, event: 'EVIDENCE_EXPORTED', operation: null, findings: [finding] }])
  expect(shown).toContain('3f2504e0')
  expect(shown).toContain('NOT PROVEN')
})
