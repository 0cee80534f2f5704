// The row that one transaction commits: signed bytes, a checkpoint to resume from, and a digest that knows repeats.
import { createHash } from 'node:crypto'
import { buildHandoffMessage, verifySignature } from '@baton/protocol'
import type { HandoffConstraints, HandoffMessage } from '@baton/protocol'
import { describe, expect, it } from 'vitest'
import type { ReceiverBounds } from './known-receivers.ts'
import { prepareHandoff, prepareMessage, withBounds } from './prepare-handoff.ts'
import {
  messageOf,
  sampleHandoff,
  sampleOptions,
  sampleState,
} from '../fixtures/sample-delivery.ts'

const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest()
const prepare = (constraints = {}, state = {}) =>
  prepareHandoff(
    { agentState: sampleState(state), targetAgentType: 'reader', constraints },
    sampleOptions,
  )

describe('a prepared handoff', () => {
  it('is signed over exactly the bytes it stores, and its columns say what the bytes say', () => {
    const handoff = prepare({ priority: 1 })
    const { body, keyId, signature } = handoff
    expect(verifySignature(body, { keyId, signature }, sampleOptions.keyRing)).toMatchObject({
      ok: true,
    })
    expect(handoff.sha256).toEqual(sha256(body))
    const message = messageOf(handoff)
    expect(handoff).toMatchObject({
      handoffId: message.handoffId,
      taskId: message.taskId,
      priority: 1,
      spentMicroUSD: 50_000,
      remainingMicroUSD: 950_000,
      addedCostMicroUSD: 50_000,
      traceparent: message.traceparent,
    })
  })

  it('saves what was asked for in the checkpoint, so that a returned handoff can be rebuilt (E16)', () => {
    const handoff = prepare({ list: ['language:en'] })
    expect(handoff.checkpointSha256).toEqual(sha256(handoff.checkpoint))
    const checkpoint = JSON.parse(Buffer.from(handoff.checkpoint).toString('utf8'))
    expect(checkpoint).toEqual({
      checkpointVersion: 1,
      checkpointId: handoff.checkpointId,
      taskId: handoff.taskId,
      handoffId: handoff.handoffId,
      savedAt: '2026-01-02T03:04:05Z',
      agent: sampleState().agent,
      state: {},
      request: {
        agentState: sampleState(),
        targetAgentType: 'reader',
        constraints: { list: ['language:en'] },
      },
    })
    const { agentState, targetAgentType, constraints } = checkpoint.request
    expect(buildHandoffMessage(agentState, targetAgentType, constraints).handoffId).toBe(
      handoff.handoffId,
    )
  })

  it('has the digest of the request: the same request again is known, another is not', () => {
    expect(prepare().requestSha256).toEqual(prepare().requestSha256)
    expect(prepare().checkpointId).not.toBe(prepare().checkpointId)
    const other = prepare({}, { taskDescription: 'Read another one' })
    expect(other.requestSha256).not.toEqual(prepare().requestSha256)
  })

  it.each([
    [
      { expiresAt: '2026-01-03T00:00:00Z', deadline: '2026-01-02T00:00:00Z' },
      '2026-01-02T00:00:00Z',
    ],
    [
      { expiresAt: '2026-01-02T00:00:00+02:00', deadline: '2026-01-01T23:00:00Z' },
      '2026-01-02T00:00:00+02:00',
    ],
    [{ deadline: '2026-01-02T00:00:00Z' }, '2026-01-02T00:00:00Z'],
    [{}, null],
  ])('never executes after the earlier of %o', (constraints, expected) => {
    const { expiresAt } = prepare(constraints)
    expect(expiresAt === null ? null : Date.parse(expiresAt)).toBe(
      expected === null ? null : Date.parse(expected),
    )
  })

  it('says whose every piece of personal data is, or is refused with a fix', () => {
    const of = (payload: object) =>
      prepare({}, { personalData: { dataSubjects: ['s1', 's2'], payload: payload as never } })
    expect(() => of({ '/a': { subject: 's2', value: 'x' } })).not.toThrow()
    for (const payload of [{ '/a': 'x' }, { '/a': { subject: 's3', value: 'x' } }]) {
      expect(() => of(payload)).toThrow(
        expect.objectContaining({ code: 'BATON_PERSONAL_DATA_AMBIGUOUS', fix: expect.any(String) }),
      )
    }
  })
})

it('names no more people than a text of the audit log can be of', () => {
  const of = (people: number) => {
    const dataSubjects = Array.from({ length: people }, (_, nth) => `person-${nth}`)
    return prepare({}, { personalData: { dataSubjects, payload: {} } })
  }
  expect(() => of(256)).not.toThrow()
  expect(() => of(257)).toThrow(
    expect.objectContaining({ code: 'BATON_SUBJECTS_TOO_MANY', fix: expect.any(String) }),
  )
})

describe('names that the audit log does not take', () => {
  it.each([
    ['/toAgent/agentType', sampleState(), 'ünï'],
    ['/toAgent/agentType', sampleState(), 'reader '],
    [
      '/fromAgent/agentId',
      sampleState({ agent: { ...sampleState().agent, agentId: 'an\u202eent' } }),
      'reader',
    ],
  ])('are refused at %s before anything is stored', (pointer, agentState, targetAgentType) => {
    const request = { agentState, targetAgentType, constraints: {} }
    expect(() => prepareHandoff(request, sampleOptions)).toThrow(pointer)
  })
})

describe('a ready message', () => {
  const ready = (changes: object) => ({
    message: { ...messageOf(sampleHandoff()), ...changes } as HandoffMessage,
    addedCostMicroUSD: 7,
    checkpoint: { resume: 'here' },
  })

  it('is known again by its own digest and saves the given checkpoint', () => {
    const handoff = prepareMessage(ready({}), sampleOptions)
    expect(handoff.requestSha256).toEqual(handoff.sha256)
    expect(handoff.addedCostMicroUSD).toBe(7)
    expect(JSON.parse(Buffer.from(handoff.checkpoint).toString())).toMatchObject({
      state: { resume: 'here' },
    })
  })

  it('with a wrong traceparent travels under a right one, so that its refusal can be recorded', () => {
    const handoff = prepareMessage(ready({ traceparent: 'nonsense' }), sampleOptions)
    expect(handoff.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/)
    expect(messageOf(handoff).traceparent).toBe('nonsense')
  })
})

describe('context compression', () => {
  it('takes what a request leaves open from the receiver and the installation', () => {
    const known = { windowTokensOf: () => 4_000, threshold: 0.5, verbatimTurns: 2 }
    const of = (constraints: HandoffConstraints, bounds: ReceiverBounds | undefined = known) =>
      withBounds({ targetAgentType: 'reader', constraints }, { bounds })
    expect(of({})).toEqual({
      receiverContextWindowTokens: 4_000,
      compressionThreshold: 0.5,
      verbatimTurns: 2,
    })
    const own = { receiverContextWindowTokens: 9, compressionThreshold: 1, verbatimTurns: 0 }
    expect(of(own)).toEqual(own)
    expect(of({ verbatimTurns: 0 }, { windowTokensOf: () => undefined })).toEqual({
      verbatimTurns: 0,
    })
  })

  it('fits the window of an agent type that is known here, and counts', () => {
    let compressions = 0
    const turn = { role: 'user', content: 'The supplier must deliver by Friday. '.repeat(40) }
    const request = {
      agentState: sampleState({ conversationHistory: Array.from({ length: 30 }, () => turn) }),
      targetAgentType: 'reader',
      constraints: {},
    }
    const options = { ...sampleOptions, onCompressed: () => (compressions += 1) }
    const whole = prepareHandoff(request, options)
    const fitted = prepareHandoff(request, {
      ...options,
      bounds: { windowTokensOf: () => 4_000 },
    })
    expect(compressions).toBe(1)
    expect(fitted.body.byteLength).toBeLessThan(whole.body.byteLength / 2)
  })
})

it.each([undefined, null, 'text', 7, []])(
  'a sender that gives %j as its checkpoint cannot hand off (E16)',
  (checkpoint) => {
    const message = buildHandoffMessage(sampleState(), 'reader')
    const ready = { message, addedCostMicroUSD: 0, checkpoint: checkpoint as unknown as object }
    expect(() => prepareMessage(ready, sampleOptions)).toThrow(
      expect.objectContaining({ code: 'BATON_CHECKPOINT_MISSING' }),
    )
  },
)
