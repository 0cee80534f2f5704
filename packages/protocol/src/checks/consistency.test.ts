// What the schema cannot say: the budget of the task is conserved, and the receiver is the right one.
import { describe, expect, it } from 'vitest'
import type { HandoffMessage } from '../handoff-message.ts'
import { judgeHandoff } from '../judge-handoff.ts'
import {
  sampleAgent,
  sampleKeyRing,
  sampleMessage,
  sampleScan,
} from '../../fixtures/sample-handoff.ts'
import { signHandoff } from '../signature.ts'
import type { TaskBudget } from './consistency.ts'

const options = { agent: sampleAgent, keyRing: sampleKeyRing, scan: sampleScan }
const judge = (message: HandoffMessage, more: object = {}) =>
  judgeHandoff(signHandoff(message, sampleKeyRing), { ...options, ...more })

const costs = (costSpentSoFarUSD: number, costBudgetRemainingUSD: number) => ({
  costTracking: { ...sampleMessage().costTracking, costSpentSoFarUSD, costBudgetRemainingUSD },
})

describe('budget of the task', () => {
  const task: TaskBudget = { budgetMicroUSD: 400_000, remainingMicroUSDMax: 350_000 }

  it.each([
    [0.08, 0.32, undefined],
    [0.05, 0.35, undefined],
    [0.1 + 0.2, 0.1, undefined],
    [0.08, 0.33, 'budgetConserved'],
    [0.08, 0.319999, 'budgetConserved'],
    [0.04, 0.36, 'budgetRaised'],
    [0, 0.4, 'budgetRaised'],
  ])('spent %d, remaining %d: %s', (spent, remaining, rule) => {
    const verdict = judge(sampleMessage(costs(spent, remaining)), { task })
    const refused = { reason: 'SCHEMA_INVALID', details: [{ rule }] }
    expect(verdict).toMatchObject(rule === undefined ? { valid: true } : refused)
  })

  it('calls a lie about an exhausted budget a lie', () => {
    expect(judge(sampleMessage(costs(0.5, 0)), { task })).toMatchObject({
      reason: 'SCHEMA_INVALID',
    })
  })
})

describe('receiver', () => {
  it.each([
    [{ agentType: 'risk-scoring-agent' }, true],
    [{ agentType: '*', agentVersion: '^1.0.0' }, true],
    [{ agentType: '*', agentVersion: '^2.0.0' }, false],
    [{ agentType: 'risk-scoring-agent', agentVersion: '>=1.7.0' }, false],
    [{ agentType: 'other' }, false],
  ])('%j: %s', (toAgent, valid) => {
    expect(judge(sampleMessage({ toAgent }))).toMatchObject(
      valid ? { valid } : { reason: 'SCHEMA_INVALID' },
    )
  })

  it.each([
    [[{ agentType: 'risk-scoring-agent' }], true],
    [[{ agentType: 'risk-scoring-agent', agentVersion: '>=9.0.0' }], false],
    [[{ agentType: 'third' }], false],
  ])('of a fan-out %j: %s', (receiverList, valid) => {
    const message = sampleMessage({
      schemaVersion: '2.1',
      toAgent: { agentType: 'other' },
      receiverList,
    })
    expect(judge(message)).toMatchObject(valid ? { valid } : { reason: 'SCHEMA_INVALID' })
  })
})
