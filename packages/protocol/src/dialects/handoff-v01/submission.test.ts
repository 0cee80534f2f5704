// A v0.1 handoff on its way into Baton: the same offer is always the same submission, and it builds a valid message.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildHandoffMessage } from '../../build-handoff.ts'
import type { JsonObject } from '../../json.ts'
import type { OfferedHandoff } from './handoff.ts'
import { extensionProblem, offerHandoffId, offerSubmission } from './submission.ts'

const OFFER: OfferedHandoff = {
  task_id: '0b61caa3-a02e-4abd-a6f7-450e49b68fad',
  from_agent: 'scanner',
  to_agent: 'reviewer',
  status: 'offered',
  description: 'Review the auth module',
  context: { file: 'src/auth.py', line: 42 },
  created_at: '2026-02-18T14:55:00.123456+00:00',
  updated_at: '2026-02-18T14:55:00.123456+00:00',
}

const submit = (change: Partial<OfferedHandoff> = {}, budgetUSD = 1) =>
  offerSubmission({ ...OFFER, ...change }, { budgetUSD })
const withContext = (context: JsonObject) => submit({ context })

function built(change: Partial<OfferedHandoff> = {}) {
  const { agentState, targetAgentType, constraints } = submit(change)
  return buildHandoffMessage(agentState, targetAgentType, constraints)
}

describe('P19 an offer becomes the first handoff of a task', () => {
  it('with its description, its context and its ids', () => {
    expect(built()).toMatchObject({
      schemaVersion: '2.1',
      taskId: OFFER.task_id,
      handoffId: offerHandoffId(OFFER),
      parentHandoffId: null,
      fromAgent: { agentId: 'scanner' },
      toAgent: { agentType: 'reviewer' },
      timestamp: '2026-02-18T14:55:00.123Z',
      taskDescription: 'INITIAL',
      currentState: { description: 'Review the auth module', file: 'src/auth.py', line: 42 },
      costTracking: { costSpentSoFarUSD: 0, costBudgetRemainingUSD: 1 },
      externalRef: { protocol: 'handoff-v01', id: OFFER.task_id },
    })
  })
  it('of which a name in the context that is taken makes room', () => {
    expect(
      built({ context: { description: 'theirs', context_description: 'also' } }).currentState,
    ).toEqual({
      description: 'Review the auth module',
      context_description: 'theirs',
      context_context_description: 'also',
    })
  })
  it('with an id of its own where the id is no UUID, and the id in its reference', () => {
    const { taskId, externalRef } = built({ task_id: '../x' })
    expect(taskId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/)
    expect(externalRef).toEqual({ protocol: 'handoff-v01', id: '../x' })
  })
  it('always the same one, also after Baton has noted its id', () => {
    const noted = { ...OFFER.context, baton_handoff_id: offerHandoffId(OFFER) }
    expect(submit({ context: noted })).toEqual(submit())
    expect(submit()).toEqual(submit())
  })
  it('and another one, in another task, after it failed and is offered again', () => {
    const first = submit()
    const again = submit({
      updated_at: '2026-02-18T15:00:00+00:00',
      context: { ...OFFER.context, baton_earlier_handoff_id: offerHandoffId(OFFER) },
    })
    expect(again.agentState.handoffId).not.toBe(first.agentState.handoffId)
    expect(again.agentState.taskId).not.toBe(first.agentState.taskId)
    expect(again.agentState.parentHandoffId).toBe(first.agentState.handoffId)
    expect(again.agentState.externalRef).toEqual(first.agentState.externalRef)
    const sameTime = submit({ context: { baton_earlier_handoff_id: offerHandoffId(OFFER) } })
    expect(sameTime.agentState.handoffId).not.toBe(first.agentState.handoffId)
  })
  it('that builds a valid message, whatever its texts', () => {
    const words = fc
      .string({ minLength: 1, maxLength: 60 })
      .filter((text) => !/[\u0000-\u001f\u007f]/.test(text))
    fc.assert(
      fc.property(words, fc.string(), (id, description) => {
        expect(built({ task_id: id, description }).currentState['description']).toBe(description)
      }),
    )
  })
})

describe('P18 the extensions', () => {
  it.each([
    [0, 0],
    ['3', 3],
    ['critical', 0],
    ['high', 1],
    ['normal', 2],
    ['low', 3],
    [9, undefined],
    ['later', undefined],
  ])('priority %j is %j', (given, priority) => {
    expect(withContext({ priority: given }).constraints.priority).toBe(priority)
    expect(extensionProblem({ priority: given }) === undefined).toBe(priority !== undefined)
  })
  it('deadline and tags are asked of the receiver', () => {
    const context = { deadline: '2026-03-01T12:00:00+02:00', tags: ['auth', 'urgent'] }
    expect(withContext(context).constraints).toEqual({
      deadline: '2026-03-01T10:00:00.000Z',
      list: ['tag:auth', 'tag:urgent'],
    })
    expect(withContext({ tags: 'auth, urgent' }).constraints.list).toEqual([
      'tag:auth',
      'tag:urgent',
    ])
    expect(withContext({ deadline: 'soon', tags: [1, ''] }).constraints).toEqual({})
  })
  it('requires_approval holds it until a person has approved, also where the word is neither yes nor no', () => {
    for (const yes of [true, 'true', 'yes', 1, {}]) {
      const { agentState, constraints } = withContext({ requires_approval: yes })
      expect(constraints).toEqual({ requiresApproval: true })
      expect(agentState.currentState).toEqual({ description: OFFER.description })
    }
    for (const no of [false, 'false', null, ''])
      expect(withContext({ requires_approval: no }).constraints).toEqual({})
    expect(extensionProblem({ requires_approval: 'true' })).toBeUndefined()
    expect(extensionProblem({ requires_approval: 'yes' })).toContain('true or false')
  })
  it('conversation_history is the conversation, as a list or as one text', () => {
    const turns = [
      { role: 'user', content: 'Is the token compared in constant time?' },
      { role: 'assistant', content: 'I will look.' },
    ]
    for (const given of [turns, JSON.stringify(turns)]) {
      const message = built({ context: { file: 'a', conversation_history: given } })
      expect(message.conversationHistoryVerbatim).toEqual(turns)
      expect(message.currentState).toEqual({ description: OFFER.description, file: 'a' })
    }
    for (const none of ['said', '{}', [], [1], [{ role: 'user' }], [{ ...turns[0], at: 1 }]]) {
      const message = built({ context: { conversation_history: none } })
      expect(message.conversationHistoryVerbatim).toEqual([])
      expect(message.currentState['conversation_history']).toEqual(none)
    }
    const personal = built({ context: { conversation_history: turns, data_subjects: ['s1'] } })
    expect(personal.conversationHistoryVerbatim).toEqual([])
    expect(personal.personalDataPayload).toMatchObject({
      '/currentState/conversation_history': turns,
    })
  })
  it('parent_task_id leads to the handoff that its offer became', () => {
    const parentHandoffId = '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11'
    expect(
      offerSubmission(OFFER, { budgetUSD: 1, parentHandoffId }).agentState.parentHandoffId,
    ).toBe(parentHandoffId)
  })
  it('traceparent continues a trace; a wrong one begins a new one', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
    const { agentState } = withContext({ traceparent, tracestate: 'a=b' })
    expect(agentState).toMatchObject({ traceparent, tracestate: 'a=b' })
    expect(agentState.currentState).toEqual({ description: OFFER.description })
    for (const wrong of [
      '',
      7,
      '00-0-0-0',
      traceparent.replace('4bf92f3577b34da6a3ce929d0e0e4736', '0'.repeat(32)),
    ])
      expect(withContext({ traceparent: wrong }).agentState.traceparent).toMatch(
        /^00-1[0-9a-f]{31}-1[0-9a-f]{15}-01$/,
      )
  })
  it('data_subjects make the text personal data, by pointer', () => {
    const one = built({ context: { name: 'Ada', 'a/b': 1, data_subjects: ['s1'] } })
    expect(one).toMatchObject({
      currentState: { name: null, 'a/b': null, description: null },
      dataSubjects: ['s1'],
      personalDataPayload: {
        '/currentState/name': 'Ada',
        '/currentState/a~1b': 1,
        '/currentState/description': OFFER.description,
      },
    })
    expect(JSON.stringify(one.currentState)).not.toContain('Ada')
    const two = built({ context: { data_subjects: ['s1', 's2'] } })
    expect(two.personalDataPayload).toEqual({
      '/currentState/description': { subject: 's1', value: OFFER.description },
    })
  })
})
