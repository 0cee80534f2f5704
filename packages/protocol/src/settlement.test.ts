// What an agent outside settles with is read as it is written, with every member that it may have.
import { describe, expect, it } from 'vitest'
import { readSettlement } from './settlement.ts'

const next = {
  to: 'reader',
  taskDescription: 'go on',
  tokenBudget: 500,
  replySchema: 'json',
  replySchemaRef: 'https://schemas.example/answer.json',
  dataClassification: 'restricted',
  residency: { jurisdiction: 'DE', transferMechanism: 'none' },
  externalRef: { protocol: 'partner', id: 'case-7' },
  extensions: { 'x-tenant': 'acme' },
  receiverContextWindowTokens: 8_000,
  compressionThreshold: 0.5,
  verbatimTurns: 2,
}
const settlement = {
  outcome: 'complete',
  conversation: [{ role: 'assistant', content: 'Read', metadata: { model: 'm' } }],
  toolCalls: [
    { tool: 'search', calledAt: '2026-01-02T03:04:06Z', inputHash: `sha256:${'0'.repeat(64)}` },
  ],
  personalData: { dataSubjects: ['s2'], payload: { '/currentState/name': 'Grace' } },
  next: [next],
}
const read = (document: object) => readSettlement(Buffer.from(JSON.stringify(document)))

describe('a settlement', () => {
  it('is read with all that an agent adds and asks for', () => {
    expect(read(settlement)).toMatchObject({ ok: true, document: settlement })
  })

  it.each([
    ['a field of its own without x-', { extensions: { tenant: 'acme' } }],
    ['a classification that is none', { dataClassification: 'secret' }],
    ['a threshold beyond the window', { compressionThreshold: 1.1 }],
  ])('is refused with %s', (_, wrong) => {
    expect(read({ ...settlement, next: [{ ...next, ...wrong }] })).toMatchObject({ ok: false })
  })
})
