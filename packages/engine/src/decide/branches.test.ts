// Branches never get more than is left between them, have names that tell them apart, and are joined with their labels.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { microUSD, usdFromMicro } from '@baton/protocol'
import type { ReadyFanOut } from '@baton/store'
import { messageOf, sampleHandoff } from '../../fixtures/sample-delivery.ts'
import { branchNames, divideBudget, joinAfter, joinRequest } from './branches.ts'

const next = (budgetUSD: number | undefined) => ({
  to: 'worker',
  taskDescription: 'a part',
  ...(budgetUSD === undefined ? {} : { budgetUSD }),
})

/** Undefined where it throws. */
function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

const ENDED = {
  branchId: 'b',
  outcome: 'COMPLETED',
  reason: null,
  handoffId: null,
  result: '{"ok":true}',
  mac: null,
  keyId: null,
  signature: null,
  spentMicroUSD: 100_000,
  body: null,
  named: null,
}

describe('the budget of a task', () => {
  it('is divided so that branches and join together never get more than is left (I8)', () => {
    const asked = fc.option(
      fc.integer({ min: 0, max: 2_000_000 }).map((micro) => usdFromMicro(micro)),
      { nil: undefined },
    )
    const property = fc.property(
      fc.integer({ min: -10, max: 4_000_000 }),
      fc.array(asked, { minLength: 1, maxLength: 12 }),
      fc.option(asked, { nil: null }),
      (left, branches, join) => {
        const joined = join === null ? [] : [next(join)]
        const askedFor = [...branches, join]
          .map((one) => microUSD(one ?? 0))
          .reduce((sum, one) => sum + one, 0)
        const shares = attempt(() => divideBudget(left, branches.map(next), joined[0]))
        expect(shares === undefined).toBe(askedFor > Math.max(0, left))
        const given = [...(shares?.branches ?? []), shares?.join ?? 0]
        expect(given.every((one) => Number.isInteger(one) && one >= 0)).toBe(true)
        expect(given.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(Math.max(0, left))
      },
    )
    fc.assert(property, { numRuns: 10_000 })
  })

  it('goes in equal parts to those that ask for nothing', () => {
    expect(divideBudget(1_000_000, [next(undefined), next(0.4)], next(undefined))).toEqual({
      branches: [300_000, 400_000],
      join: 300_000,
    })
  })
})

describe('branches', () => {
  it('are told apart by a number where they would have one name', () => {
    const named = (to: string, branch?: string) => ({
      to,
      taskDescription: 'a part',
      ...(branch === undefined ? {} : { branch }),
    })
    expect(branchNames([named('a'), named('a'), named('b', 'a-2'), named('c')])).toEqual([
      'a',
      'a-2',
      'a-2-2',
      'c',
    ])
  })

  it('can be joined whatever they are called', () => {
    const wanted = ['__proto__', 'constructor', 'toString', '__proto__', 'hasOwnProperty']
    const names = branchNames(wanted.map((to) => ({ to })))
    const member = ['__proto__-2', 'constructor', 'toString', '__proto__-3', 'hasOwnProperty']
    expect(names).toEqual(member)
    const ended = names.map((name, position) => ({ ...ENDED, name, position }))
    const { agentState } = joinRequest(fanOutOf(ended), '2026-01-01T00:00:00.000Z')
    const told = messageOf(sampleHandoff({ currentState: agentState.currentState })).currentState[
      'branches'
    ] as object
    expect(Object.keys(told).toSorted()).toEqual(member.toSorted())
  })

  it.each([
    ['all', 3],
    ['any', 1],
    [2, 2],
  ] as const)('are waited for: %s is %i of three', (waitFor, expected) => {
    const branches = Array.from({ length: 3 }, () => ({
      branchId: 'b',
      name: 'b',
      budgetMicroUSD: 0,
    }))
    expect(joinAfter({ ...next(undefined), waitFor }, branches)).toBe(expected)
  })

  it.each([0, 4, 1.5, Number.NaN])('cannot be waited for: %d of three', (waitFor) => {
    const branches = Array.from({ length: 3 }, () => ({
      branchId: 'b',
      name: 'b',
      budgetMicroUSD: 0,
    }))
    expect(() => joinAfter({ ...next(undefined), waitFor }, branches)).toThrow('join.waitFor')
  })
})

describe('a join', () => {
  it('has subtasks in the form of a message where nothing was completed before, however long a name is', () => {
    const now = '2026-01-01T00:00:00.000Z'
    const ended = (name: string, position: number) => ({
      ...ENDED,
      branchId: `b${position}`,
      name,
      position,
      result: 'null',
    })
    const { agentState } = joinRequest(fanOutOf(['a', 'n'.repeat(256)].map(ended)), now)
    expect(agentState.completedSubtasks).toEqual([
      { subtaskId: 'branch-a', description: 'branch a', completedAt: now, result: null },
      expect.objectContaining({ subtaskId: 'branch-1', completedAt: now }),
    ])
  })

  it('keeps the people, the strictest classification and the strictest residency of all branches (I11)', () => {
    const branch = (position: number, labels: Parameters<typeof sampleHandoff>[0]) => {
      const handoff = sampleHandoff(labels)
      return {
        branchId: `b${position}`,
        name: `b${position}`,
        position,
        outcome: 'COMPLETED',
        reason: null,
        handoffId: handoff.handoffId,
        result: '{"ok":true}',
        mac: null,
        keyId: null,
        signature: null,
        spentMicroUSD: 150_000 + position,
        body: Buffer.from(JSON.stringify(messageOf(handoff))),
        named: null,
      }
    }
    const residencyIn = (...jurisdictions: readonly string[]) =>
      joinRequest(
        fanOutOf(
          jurisdictions.map((jurisdiction, position) =>
            branch(position, { residency: { jurisdiction, transferMechanism: 'none' } }),
          ),
        ),
        '2026-01-01T00:00:00.000Z',
      ).agentState.residency
    expect(residencyIn('EU', 'DE')).toEqual({ jurisdiction: 'DE', transferMechanism: 'none' })
    expect(() => residencyIn('FR', 'DE')).toThrow('must stay in FR and DE')
    const person = (name: string) => ({ personalData: { dataSubjects: [name], payload: {} } })
    const { agentState } = joinRequest(
      fanOutOf([
        branch(0, { ...person('ada'), dataClassification: 'restricted' }),
        branch(1, { ...person('bob'), dataClassification: 'internal' }),
      ]),
      '2026-01-01T00:00:00.000Z',
    )
    expect(agentState).toMatchObject({
      dataClassification: 'restricted',
      personalData: { dataSubjects: ['carol', 'ada', 'bob'] },
      cost: { spentSoFarUSD: 0.200001, budgetRemainingUSD: 0.799999, ownCostUSD: 0 },
    })
  })
})

const fanOutOf = (branches: ReadyFanOut['branches']): ReadyFanOut => {
  const { agentState, targetAgentType, constraints } = {
    agentState: {
      taskId: 't',
      agent: { agentId: 'forker', agentVersion: '1.0.0' },
      taskDescription: 'join',
      completedSubtasks: [],
      remainingSubtasks: [],
      currentState: {},
      cost: {
        spentSoFarUSD: 0,
        budgetRemainingUSD: 1,
        ownCostUSD: 0,
        tokenSpent: { prompt: 0, completion: 0 },
      },
      traceparent: '',
      personalData: { dataSubjects: ['carol'], payload: {} },
    },
    targetAgentType: 'joiner',
    constraints: {},
  }
  return {
    fanOutId: 'f',
    taskId: 't',
    handoffId: 'h',
    branchId: null,
    sentBy: null,
    mac: null,
    within: [],
    onFailure: 'wait',
    joinAfter: branches.length,
    joinRequest: JSON.stringify({ agentState, targetAgentType, constraints }),
    budgetMicroUSD: 1_000_000,
    spentMicroUSD: 100_000,
    reservedMicroUSD: 0,
    branches,
  }
}
