// The builder: a valid message, the budget deducted, the lowest version in use.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentState, HandoffConstraints } from './agent-state.ts'
import { buildHandoffMessage } from './build-handoff.ts'
import { canonicalJson } from './canonical-json.ts'
import { ProtocolError } from './detail.ts'
import { judgeHandoff } from './judge-handoff.ts'
import { microUSD } from './money.ts'
import {
  sampleAgent,
  sampleKeyRing,
  sampleMessage,
  sampleScan,
  sampleState,
} from '../fixtures/sample-handoff.ts'
import { signHandoff } from './signature.ts'
import { judgeMessage } from './judge-message.ts'

const build = (changes: Partial<AgentState> = {}, constraints: HandoffConstraints = {}) =>
  buildHandoffMessage(sampleState(changes), 'risk-scoring-agent', constraints)

describe('buildHandoffMessage (E02)', () => {
  it('makes a message that a receiver accepts', () => {
    const signed = signHandoff(build({}, { agentVersion: '>=1.5.0' }), sampleKeyRing)
    const options = { agent: sampleAgent, keyRing: sampleKeyRing, scan: sampleScan }
    const task = { budgetMicroUSD: 400_000, remainingMicroUSDMax: 350_000 }
    expect(judgeHandoff(signed, { ...options, task })).toMatchObject({ valid: true })
  })

  it('carries over what it is given', () => {
    const { conversationHistorySummary: _, ...sample } = sampleMessage()
    const message = build(
      {
        relevantContext: sample.relevantContext,
        conversationHistory: sample.conversationHistoryVerbatim,
        toolCallHistory: sample.toolCallHistory,
      },
      { agentVersion: '>=1.5.0', list: sample.constraints },
    )
    expect(message).toEqual({ ...sample, conversationHistorySummary: '' })
  })

  it('is pure when ids and time are given', () => {
    expect(canonicalJson(build())).toBe(canonicalJson(build()))
  })

  it('makes fresh ids and the time otherwise', () => {
    const { handoffId: _, parentHandoffId: __, timestamp: ___, ...state } = sampleState()
    const anonymous = { ...state, agent: { agentId: 'a', agentVersion: '1.0.0' } }
    const [first, second] = [0, 1].map(() => buildHandoffMessage(anonymous, 'b'))
    expect(first?.handoffId).not.toBe(second?.handoffId)
    expect(first?.fromAgent.executionId).not.toBe(second?.fromAgent.executionId)
    expect(first?.parentHandoffId).toBeNull()
    expect(judgeMessage(first, { scan: sampleScan })).toMatchObject({ valid: true })
  })

  it('takes the constraints as a bare list, too', () => {
    const message = buildHandoffMessage(sampleState(), 'risk-scoring-agent', ['returnJSON:true'])
    expect(message.constraints).toEqual(['returnJSON:true'])
  })

  it('writes the lowest version that carries the fields', () => {
    expect(build().schemaVersion).toBe('2.0')
    expect(build({}, { schemaVersion: '2.1' }).schemaVersion).toBe('2.1')
    expect(build({ extensions: { 'x-team': 'legal' } })).toMatchObject({
      schemaVersion: '2.0',
      'x-team': 'legal',
    })
    for (const constraints of [
      { priority: 0 },
      { requiresApproval: false },
      { deadline: '2026-06-13T00:00:00Z' },
    ])
      expect(build({}, constraints)).toMatchObject({ schemaVersion: '2.1', ...constraints })
  })

  it('keeps personal data apart', () => {
    const personalData = {
      dataSubjects: ['subject-1'],
      payload: { '/currentState/name': 'A. Person' },
    }
    expect(build({ personalData })).toMatchObject({
      schemaVersion: '2.1',
      dataSubjects: ['subject-1'],
      personalDataPayload: { '/currentState/name': 'A. Person' },
    })
  })

  it.each<[string, Partial<AgentState>, HandoffConstraints, string]>([
    ['a task id that is none', { taskId: 'task-7' }, {}, '/taskId'],
    [
      'a version that is none',
      { agent: { agentId: 'a', agentVersion: 'v2' } },
      {},
      '/fromAgent/agentVersion',
    ],
    ['a priority out of range', {}, { priority: 4 }, '/priority'],
    ['a 2.1 field in 2.0', {}, { priority: 1, schemaVersion: '2.0' }, '/priority'],
    [
      'state that is not JSON',
      { currentState: { when: new Date(0) as never } },
      {},
      '/currentState/when',
    ],
    ['a trace that is none', { traceparent: '' }, {}, '/traceparent'],
    [
      'a cost below zero',
      { cost: { ...sampleState().cost, ownCostUSD: -1 } },
      {},
      '/cost/ownCostUSD',
    ],
    [
      'a cost that is no number',
      { cost: { ...sampleState().cost, ownCostUSD: Number.NaN } },
      {},
      '/cost/ownCostUSD',
    ],
    [
      'a budget that is no number',
      { cost: { ...sampleState().cost, budgetRemainingUSD: Number.NaN } },
      {},
      '/costTracking/costBudgetRemainingUSD',
    ],
  ])('refuses %s and says where', (_, changes, constraints, pointer) => {
    expect(() => build(changes, constraints)).toThrow(ProtocolError)
    expect(() => build(changes, constraints)).toThrow(
      expect.objectContaining({ code: 'BATON_HANDOFF_INVALID', pointer }),
    )
  })

  it('leaves exhausted handoffs to the receiver', () => {
    const spent = { ...sampleState().cost, ownCostUSD: 0.35 }
    expect(judgeMessage(build({ cost: spent }), { scan: sampleScan })).toMatchObject({
      reason: 'BUDGET_EXHAUSTED',
    })
  })
})

describe('budget relay (E20, E32 d)', () => {
  it('deducts the own cost from the budget and adds it to what was spent', () => {
    expect(build().costTracking).toMatchObject({
      costSpentSoFarUSD: 0.08,
      costBudgetRemainingUSD: 0.32,
    })
  })

  it('conserves the budget over any chain of agents', () => {
    const costs = fc.array(fc.double({ min: 0, max: 3, noNaN: true }), {
      minLength: 1,
      maxLength: 30,
    })
    fc.assert(
      fc.property(costs, fc.integer({ min: 0, max: 1e9 }), (ownCosts, budgetMicroUSD) => {
        let [spentSoFarUSD, budgetRemainingUSD] = [0, budgetMicroUSD / 1e6]
        for (const ownCostUSD of ownCosts) {
          const before = budgetRemainingUSD
          const { costTracking } = build({
            cost: { ...sampleState().cost, spentSoFarUSD, budgetRemainingUSD, ownCostUSD },
          })
          spentSoFarUSD = costTracking.costSpentSoFarUSD
          budgetRemainingUSD = costTracking.costBudgetRemainingUSD
          expect(microUSD(spentSoFarUSD) + microUSD(budgetRemainingUSD)).toBe(budgetMicroUSD)
          expect(budgetRemainingUSD).toBeLessThanOrEqual(before)
        }
      }),
      { numRuns: 50 },
    )
  })
})
