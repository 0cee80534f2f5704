// Costs of a task add up: chains, fan-outs, rebuilt handoffs, and the literal sum of the source.
import { describe, expect, test } from 'vitest'
import { chainOf } from '../fixtures/chain.ts'
import { entryOf } from '../fixtures/entry.ts'
import type { AuditEntry } from './audit-entry.ts'
import { readRecord, recordHash } from './record.ts'
import type { RecordBody } from './record.ts'
import { taskCharges, taskCost } from './task-cost.ts'
import { traceGaps } from './verify-task.ts'

const uuid = (digit: string) =>
  `${digit.repeat(8)}-${digit.repeat(4)}-4${digit.repeat(3)}-8${digit.repeat(3)}-${digit.repeat(12)}`
const TASK = uuid('a')

interface Hop {
  readonly id: string
  readonly parent?: string
  readonly from: string
  readonly to: string
  readonly spent: number
  readonly event?: AuditEntry['event']
  readonly execution?: string
  readonly tokens?: number
  readonly joins?: readonly string[]
}

const entryOfHop = (hop: Hop): AuditEntry =>
  entryOf({
    taskId: TASK,
    event: hop.event ?? 'HANDOFF_ACCEPTED',
    handoffId: uuid(hop.id),
    parentHandoffId: hop.parent === undefined ? null : uuid(hop.parent),
    fromAgent: {
      agentId: hop.from,
      agentVersion: '1.0.0',
      executionId: uuid(hop.execution ?? hop.id),
    },
    toAgent: { agentType: hop.to, agentVersion: null },
    cost: {
      spentMicroUSD: hop.spent,
      remainingMicroUSD: 0,
      promptTokens: hop.tokens ?? 0,
      completionTokens: 2 * (hop.tokens ?? 0),
    },
    ...(hop.joins === undefined ? {} : { joins: hop.joins.map(uuid) }),
  })

const bodiesOf = (hops: readonly Hop[]): RecordBody[] =>
  chainOf(hops.map(entryOfHop)).records.map(({ body }) => readRecord(body) as RecordBody)

const FOUR_AGENTS: readonly Hop[] = [
  { id: '1', from: 'intake', to: 'extraction', spent: 80_000 },
  { id: '2', parent: '1', from: 'extraction', to: 'analysis', spent: 180_000 },
  { id: '3', parent: '2', from: 'analysis', to: 'scoring', spent: 300_000 },
]

const FAN_OUT: readonly Hop[] = [
  { ...FOUR_AGENTS[0]!, tokens: 7 },
  { id: '4', parent: '1', from: 'b', to: 'x', spent: 180_000, execution: '9', tokens: 5 },
  { id: '5', parent: '1', from: 'b', to: 'y', spent: 180_000, execution: '9', tokens: 5 },
  { id: '6', parent: '4', from: 'x', to: 'z', spent: 190_000, tokens: 3 },
  { id: '6', from: 'x', to: 'z', spent: 250_000, event: 'EXECUTION_COMPLETED', tokens: 2 },
]

const JOINED: readonly Hop[] = [
  ...FAN_OUT.slice(0, 3),
  { id: '4', parent: '1', from: 'b', to: 'x', spent: 200_000, event: 'EXECUTION_COMPLETED' },
  { id: '5', parent: '1', from: 'b', to: 'y', spent: 190_000, event: 'EXECUTION_COMPLETED' },
  {
    id: '7',
    parent: '1',
    from: 'b',
    to: 'j',
    spent: 210_000,
    execution: '9',
    joins: ['4', '5'],
    tokens: 5,
  },
  { id: '7', parent: '1', from: 'b', to: 'j', spent: 215_000, event: 'EXECUTION_COMPLETED' },
]

describe('taskCost', () => {
  test('a join: what its branches spent counts in them, and once', () => {
    const bodies = bodiesOf(JOINED)
    expect(bodies.map(({ joins }) => joins?.length)).toContain(2)
    const cost = taskCost(bodies)
    expect(cost.totalSpentMicroUSD + cost.finalExecutionsMicroUSD).toBe(215_000)
    expect(cost.byAgentMicroUSD).toMatchObject({ b: 100_000, x: 20_000, y: 10_000, j: 5_000 })
    expect(cost.totalTokens.promptTokens).toBe(12)
  })

  test('a chain of four agents: differences, total and the literal sum', () => {
    const cost = taskCost(bodiesOf(FOUR_AGENTS))
    expect(cost.hops.map((hop) => hop.spentMicroUSD)).toEqual([80_000, 100_000, 120_000])
    expect(cost.totalSpentMicroUSD).toBe(300_000)
    expect(cost.sumOfSnapshotsMicroUSD).toBe(560_000)
    expect(cost.byAgentMicroUSD).toEqual({ intake: 80_000, extraction: 100_000, analysis: 120_000 })
  })

  test('the execution after the last handoff counts by its outcome', () => {
    const outcome = { ...FOUR_AGENTS[2]!, event: 'EXECUTION_COMPLETED' as const, spent: 350_000 }
    const middle = { ...FOUR_AGENTS[0]!, event: 'EXECUTION_COMPLETED' as const, spent: 180_000 }
    const cost = taskCost(bodiesOf([...FOUR_AGENTS, middle, outcome]))
    expect(cost.finalExecutionsMicroUSD).toBe(50_000)
    expect(cost.totalSpentMicroUSD).toBe(300_000)
    expect(cost.byAgentMicroUSD['scoring']).toBe(50_000)
    expect(cost.byPathMicroUSD).toEqual({ 'intake → extraction → analysis → scoring': 350_000 })
  })

  test('a fan-out counts the cost of the sender once', () => {
    const cost = taskCost(
      bodiesOf([
        FOUR_AGENTS[0]!,
        { id: '4', parent: '1', from: 'extraction', to: 'x', spent: 180_000, execution: '9' },
        { id: '5', parent: '1', from: 'extraction', to: 'y', spent: 180_000, execution: '9' },
        { id: '6', parent: '4', from: 'x', to: 'z', spent: 190_000 },
      ]),
    )
    expect(cost.hops.map((hop) => hop.spentMicroUSD)).toEqual([80_000, 100_000, 0, 10_000])
    expect(cost.totalSpentMicroUSD).toBe(190_000)
    expect(cost.byPathMicroUSD).toEqual({
      'intake → extraction → y': 180_000,
      'intake → extraction → x → z': 190_000,
    })
  })

  test('tokens add up by agent and path, those of an execution once however much it sent on', () => {
    const cost = taskCost(bodiesOf(FAN_OUT))
    const prompts = (totals: Readonly<Record<string, { promptTokens: number }>>) =>
      Object.fromEntries(Object.entries(totals).map(([name, one]) => [name, one.promptTokens]))
    expect(cost.hops.map(({ promptTokens }) => promptTokens)).toEqual([7, 5, 0, 3])
    expect(cost.totalTokens).toEqual({ promptTokens: 17, completionTokens: 34 })
    expect(prompts(cost.tokensByAgent)).toEqual({ intake: 7, b: 5, x: 3, z: 2 })
    expect(prompts(cost.tokensByPath)).toEqual({
      'intake → b → y': 12,
      'intake → b → x → z': 17,
    })
  })

  test('a handoff that is its own ancestor does not stop the sum', () => {
    const cost = taskCost(bodiesOf([{ ...FOUR_AGENTS[0]!, parent: '2' }, FOUR_AGENTS[1]!]))
    expect(cost.byPathMicroUSD).toEqual({})
    const own = { ...FOUR_AGENTS[0]!, id: '7', parent: '1' }
    const looped = bodiesOf([{ ...FOUR_AGENTS[0]!, parent: '2' }, FOUR_AGENTS[1]!, own])
    expect(Object.keys(taskCost(looped).byPathMicroUSD)).toHaveLength(1)
  })

  test('a handoff that was returned and accepted on a later attempt counts once', () => {
    const returned = { ...FOUR_AGENTS[0]!, event: 'HANDOFF_REJECTED' as const }
    expect(taskCost(bodiesOf([returned]).concat(bodiesOf(FOUR_AGENTS))).totalSpentMicroUSD).toBe(
      300_000,
    )
  })

  test('a running total that falls is flagged', () => {
    const cost = taskCost(bodiesOf([FOUR_AGENTS[0]!, { ...FOUR_AGENTS[1]!, spent: 70_000 }]))
    expect(cost.hops.map((hop) => hop.negative)).toEqual([false, true])
  })

  test('a task without records costs nothing', () => {
    expect(taskCost([])).toMatchObject({ hops: [], totalSpentMicroUSD: 0, byAgentMicroUSD: {} })
  })
})

describe('taskCharges', () => {
  test('the parts of a fan-out add up to its cost, and its tokens are counted once', () => {
    const bodies = bodiesOf(FAN_OUT)
    const charges = taskCharges(bodies)
    expect(charges.map((one) => [one.agent, one.toAgent, one.spentMicroUSD])).toEqual([
      ['intake', 'extraction', 80_000],
      ['b', 'x', 100_000],
      ['b', 'y', 0],
      ['x', 'z', 10_000],
      ['z', null, 60_000],
    ])
    expect(charges.map(({ promptTokens }) => promptTokens)).toEqual([7, 5, 0, 3, 2])
    const { totalSpentMicroUSD, finalExecutionsMicroUSD } = taskCost(bodies)
    const sum = charges.reduce((total, { spentMicroUSD }) => total + spentMicroUSD, 0)
    expect(sum).toBe(totalSpentMicroUSD + finalExecutionsMicroUSD)
  })

  test('a handoff that was judged twice is charged once, where it was judged first', () => {
    const returned = { ...FOUR_AGENTS[0]!, event: 'HANDOFF_REJECTED' as const }
    const charges = taskCharges(bodiesOf([returned, ...FOUR_AGENTS]))
    expect(charges.map(({ record }) => record.seq)).toEqual([0, 2, 3])
    expect(charges.map(({ spentMicroUSD }) => spentMicroUSD)).toEqual([80_000, 100_000, 120_000])
  })
})

describe('traceGaps', () => {
  const traceOf = (hops: readonly Hop[]) =>
    chainOf(hops.map(entryOfHop)).records.map(({ body }) => ({
      body: readRecord(body) as RecordBody,
      recordHash: recordHash(body).toString('hex'),
    }))

  test('a whole trace has none', () => expect(traceGaps(traceOf(FOUR_AGENTS))).toEqual([]))

  test('T27 a removed hop shows by number and by parent', () => {
    const gaps = traceGaps(traceOf(FOUR_AGENTS).toSpliced(1, 1))
    expect(gaps.map((gap) => gap.kind)).toEqual(['TASK_SEQ', 'PARENT_MISSING'])
  })

  test('an edited hop shows by the link of the next one', () => {
    const trace = traceOf(FOUR_AGENTS)
    trace[0] = { ...trace[0]!, recordHash: 'ff'.repeat(32) }
    expect(traceGaps(trace).map((gap) => gap.kind)).toEqual(['TASK_LINK'])
  })
})
