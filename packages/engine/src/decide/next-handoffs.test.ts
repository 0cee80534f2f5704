// What an agent passes on carries the budget, the trace and the person's data further, with ids that are derived.
import { describe, expect, it } from 'vitest'
import type { HandoffMessage } from '@baton/protocol'
import type { JoinHandoff } from '@baton/protocol/settlement'
import type { AgentResult } from '../agent.ts'
import { passOn } from './next-handoffs.ts'
import {
  claimedFrom,
  judgeSample,
  messageOf,
  sampleAgent,
  sampleHandoff,
  sampleOptions,
} from '../../fixtures/sample-delivery.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01'

const result: AgentResult = {
  subtask: { subtaskId: 'read', description: 'read it', result: 'fine' },
  state: { text: 'the contract', clauses: 9 },
  costUSD: 0.1,
  tokens: { prompt: 3, completion: 4 },
  next: [
    { to: 'reader', taskDescription: 'go on' },
    { to: 'reader', taskDescription: 'also this', priority: 3 },
  ],
}

interface Passed {
  readonly handoff?: ReturnType<typeof sampleHandoff>
  readonly message?: HandoffMessage
  readonly fencingToken?: number
  readonly join?: JoinHandoff
  readonly priority?: 0 | 1 | 2 | 3
}

const passedOn = (parts: Passed = {}) => {
  const { handoff = sampleHandoff(), fencingToken = 1, join, priority } = parts
  const next = result.next.map((one) => (priority === undefined ? one : { ...one, priority }))
  return passOn(
    {
      claimed: claimedFrom(handoff, { fencingToken }),
      message: parts.message ?? messageOf(handoff),
      execution: {
        kind: 'done',
        result: { ...result, next, ...(join && { join }) },
        agent: sampleAgent,
        traceparent: TRACEPARENT,
      },
    },
    sampleOptions,
  )
}

const pass = (parts: Passed = {}) => passedOn(parts).handoffs

describe('the next handoffs', () => {
  it('are none where no message could be built of what shall join them', () => {
    const join = { taskDescription: 'join' }
    expect(pass({ join: { ...join, to: 'joiner' } })).toHaveLength(2)
    expect(() => pass({ join: { ...join, to: 'a\nb' } })).toThrow('/join/to')
    expect(() => pass({ join: { ...join, to: 'a', agentVersion: 'one or two' } })).toThrow(
      '/join/agentVersion',
    )
  })

  it('deduct the agent’s cost and divide what is left (E20, I8); nothing is charged twice', () => {
    for (const next of pass()) {
      expect(next).toMatchObject({
        spentMicroUSD: 150_000,
        remainingMicroUSD: 425_000,
        addedCostMicroUSD: 0,
      })
      expect(messageOf(next).costTracking).toEqual({
        costSpentSoFarUSD: 0.15,
        costBudgetRemainingUSD: 0.425,
        tokenSpent: { prompt: 3, completion: 4 },
      })
    }
  })

  it('have ids of version 4 that are the same when derived again and new with each fencing token and branch', () => {
    const ids = (fencingToken: number) => pass({ fencingToken }).map((next) => next.handoffId)
    expect(ids(1)).toEqual(ids(1))
    const all = [...ids(1), ...ids(2), ...pass().map((next) => next.fromExecution)]
    for (const id of all) expect(id).toMatch(UUID)
    expect(new Set([...ids(1), ...ids(2)]).size).toBe(4)
  })

  it('are accepted by the next receiver, with the work done moved to the completed subtasks', () => {
    const [next] = pass()
    if (next === undefined) throw new Error('nothing was passed on')
    const verdict = judgeSample(
      claimedFrom(next, { budgetMicroUSD: 575_000, parentRemainingMicroUSD: 950_000 }),
    )
    expect(verdict).toMatchObject({ valid: true })
    const message = messageOf(next)
    expect(message.completedSubtasks.map((one) => one.subtaskId)).toEqual(['start', 'read'])
    expect(message.remainingSubtasks).toEqual([])
    expect(message).toMatchObject({
      parentHandoffId: sampleHandoff().handoffId,
      traceparent: TRACEPARENT,
      fromAgent: { agentId: 'reader', agentVersion: '1.2.3' },
      currentState: { clauses: 9 },
    })
  })

  it('carry tracestate and personal data on, and take their own priority', () => {
    const handoff = sampleHandoff({
      tracestate: 'a=b',
      personalData: { dataSubjects: ['s1'], payload: { '/currentState/name': 'Ada' } },
    })
    const [first, second] = pass({ handoff }).map(messageOf)
    expect(first).toMatchObject({
      tracestate: 'a=b',
      dataSubjects: ['s1'],
      personalDataPayload: { '/currentState/name': 'Ada' },
    })
    expect(second?.priority).toBe(3)
  })

  it.each([
    { received: 0, asked: 0, passed: 0 },
    { received: 0, asked: 2, passed: 2 },
    { received: 1, asked: 0, passed: 1 },
    { received: 3, asked: 0, passed: 1 },
    { received: 3, asked: 1, passed: 1 },
    { received: undefined, asked: 0, passed: 1 },
  ] as const)(
    'of $received that ask for $asked, and their join, have $passed: only who sends may be allowed 0',
    ({ received, asked, passed }) => {
      const message = { ...messageOf(sampleHandoff()) }
      if (received !== undefined) message.priority = received
      const join = { to: 'joiner', taskDescription: 'join', priority: asked }
      const { handoffs, fanOut } = passedOn({ message, join, priority: asked })
      for (const next of handoffs) {
        expect(next.priority).toBe(passed)
        expect(messageOf(next).priority).toBe(passed)
      }
      const joined: unknown = JSON.parse(fanOut?.joinRequest ?? '{}')
      expect(joined).toMatchObject({ constraints: { priority: passed } })
    },
  )

  it('keep whose data it is, how sensitive and where it may be, also without personal data apart', () => {
    const residency = { jurisdiction: 'EU', transferMechanism: 'none' } as const
    const labels = { dataClassification: 'confidential', residency } as const
    const handoff = sampleHandoff({
      ...labels,
      personalData: { dataSubjects: ['s1'], payload: {} },
    })
    const { personalDataPayload: _, ...message } = messageOf(handoff)
    for (const next of pass({ handoff, message }).map(messageOf))
      expect(next).toMatchObject({ ...labels, dataSubjects: ['s1'] })
  })
})
