// An audit entry holds ids, verdicts and amounts; words stand in its segments only, each person's apart.
import { checkEntry } from '@baton/ledger'
import { describe, expect, it } from 'vitest'
import {
  completedEntry,
  decisionEntry,
  lifecycleEntry,
  startedEntry,
  toOutboxEvent,
} from './audit-entries.ts'
import {
  claimedFrom,
  judgeSample,
  messageOf,
  sampleHandoff,
} from '../../fixtures/sample-delivery.ts'

const CANARY = 'canary-words'
const wordy = sampleHandoff({
  taskDescription: CANARY,
  currentState: { text: CANARY, [CANARY]: CANARY },
  conversationHistory: [{ role: 'user', content: CANARY }],
  conversationHistorySummary: CANARY,
  personalData: {
    dataSubjects: ['s1', 's2'],
    payload: {
      '/currentState/name': { subject: 's1', value: `${CANARY} Ada` },
      '/currentState/mail': { subject: 's2', value: `${CANARY} Grace` },
    },
  },
})

describe('a decision entry (E11)', () => {
  const claimed = claimedFrom(wordy)
  const entry = decisionEntry(claimed, judgeSample(claimed))

  it('is one that the ledger takes, with every verdict and the cost', () => {
    expect(checkEntry(entry)).toMatchObject({ ok: true })
    expect(entry).toMatchObject({
      event: 'HANDOFF_ACCEPTED',
      reason: null,
      verdicts: { size: 'passed', signature: 'passed', budget: 'passed' },
      cost: { spentMicroUSD: 50_000, remainingMicroUSD: 950_000 },
    })
  })

  it('holds no words of the message outside its segments', () => {
    const { segments, ...rest } = entry
    expect(JSON.stringify(rest)).not.toContain(CANARY)
    expect(JSON.stringify(segments)).toContain(CANARY)
  })

  it('keeps each person’s data in a segment of its own, and out of the message’s', () => {
    expect(entry.segments.map((segment) => [segment.kind, segment.subject])).toEqual([
      ['message', null],
      ['personal', 's2'],
      ['personal', 's1'],
    ])
    const [message, grace, ada] = entry.segments.map((segment) => segment.text)
    expect(message).not.toMatch(/Ada|Grace/)
    expect(ada).toContain('Ada')
    expect(ada).not.toContain('Grace')
    expect(grace).toContain('Grace')
  })

  it('W16 keeps the digest of another protocol’s opaque bytes, and not the bytes', () => {
    const sha256 = '0'.repeat(64)
    const bytes = Buffer.from(CANARY).toString('base64')
    const snapshot = { encoding: 'base64', mediaType: 'application/json', bytes, sha256 } as const
    const opaque = claimedFrom(sampleHandoff({ contextSnapshot: snapshot }))
    const [segment] = decisionEntry(opaque, judgeSample(opaque)).segments
    expect(segment?.text).not.toContain(bytes)
    expect(JSON.parse(segment?.text ?? '')).toMatchObject({
      contextSnapshot: { ...snapshot, bytes: '' },
    })
    expect(Buffer.from(opaque.body).toString()).toContain(bytes)
  })

  it('keeps the exact signed bytes as the segment where there is no personal data', () => {
    const plain = claimedFrom(sampleHandoff())
    const [segment] = decisionEntry(plain, judgeSample(plain)).segments
    expect(segment?.text).toBe(Buffer.from(plain.body).toString('utf8'))
  })

  it('of bytes that cannot be trusted has the reason and no segment', () => {
    const tampered = claimedFrom(sampleHandoff(), { body: Buffer.from('{"not":"it"}') })
    const refused = decisionEntry(tampered, judgeSample(tampered))
    expect(checkEntry(refused)).toMatchObject({ ok: true })
    expect(refused).toMatchObject({
      event: 'HANDOFF_REJECTED',
      reason: 'SIGNATURE_INVALID',
      segments: [],
      cost: null,
    })
  })
})

it('I11 what came out belongs to the people whom the message names', () => {
  const answered = { message: messageOf(wordy), result: '"Ada may"', taskResult: '"done"' }
  const { segments } = completedEntry(claimedFrom(wordy), answered)
  expect(segments).toEqual([
    { kind: 'result', subject: null, subjects: ['s1', 's2'], text: '"Ada may"' },
    { kind: 'task-result', subject: null, subjects: ['s1', 's2'], text: '"done"' },
  ])
})

it('I11 what came out belongs to the people whom the answer names too, with or without any in the message', () => {
  const answer = { named: ['s3'], result: '"Linus"', taskResult: null }
  const of = (handoff: typeof wordy) =>
    completedEntry(claimedFrom(handoff), { message: messageOf(handoff), ...answer }).segments
  expect(of(wordy)).toEqual([
    { kind: 'result', subject: null, subjects: ['s1', 's2', 's3'], text: '"Linus"' },
  ])
  expect(of(sampleHandoff())).toEqual([{ kind: 'result', subject: 's3', text: '"Linus"' }])
})

it('S23 who began outside is named, and what was announced stands in a segment', () => {
  const agent = { type: 'coder', version: '1.0.0' }
  const act = { id: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11', actor: 'session:haiku' }
  const entry = startedEntry(claimedFrom(wordy), { agent, act, announced: CANARY })
  expect(checkEntry(entry)).toMatchObject({ ok: true })
  const { segments, ...rest } = entry
  expect(segments).toEqual([{ kind: 'message', subject: null, text: CANARY }])
  expect(JSON.stringify(rest)).not.toContain(CANARY)
  expect(rest).toMatchObject({
    event: 'EXECUTION_STARTED',
    act,
    toAgent: { agentVersion: '1.0.0' },
  })
  const unannounced = startedEntry(claimedFrom(wordy), { agent, act, announced: undefined })
  expect(unannounced.segments).toEqual([])
})

it('a lifecycle entry has no words at all and commits as JSON', () => {
  const entry = lifecycleEntry(claimedFrom(wordy), 'ROLLED_BACK', 'BATON_AGENT_FAILED')
  expect(checkEntry(entry)).toMatchObject({ ok: true })
  expect(JSON.stringify(entry)).not.toContain(CANARY)
  expect(JSON.parse(toOutboxEvent(entry).entry)).toEqual(entry)
})
