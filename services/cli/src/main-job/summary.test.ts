// The main job fails loudly: every broken expectation becomes one sentence.
import { describe, expect, it } from 'vitest'
import type { MainJobInput } from './contracts.ts'
import type { RunFigures } from './measure-run.ts'
import { findProblems, summarise } from './summary.ts'

const COMPLETED = 118
const taskIds = [
  'failing',
  'injected',
  ...Array.from({ length: COMPLETED }, (_, index) => `t${index}`),
]

const input: MainJobInput = {
  taskIds,
  names: new Map([['t0', 'pg@8.0.0']]),
  injectedTaskId: 'injected',
  claimTaskId: 'claim',
  failingTaskId: 'failing',
  isWhole: true,
  *requests() {
    // Nothing is sent here.
  },
}

const outcome = (taskId: string) => {
  const booked = { taskId, result: null, spentMicroUSD: 700, hopsMicroUSD: 700 }
  if (taskId === 'failing') {
    return { ...booked, status: 'PENDING_HANDOFF', state: 'ROLLED_BACK', reason: 'BATON_X' }
  }
  if (taskId === 'injected') {
    return {
      ...booked,
      status: 'AWAITING_HUMAN',
      state: 'DEAD_LETTERED',
      reason: 'SAFETY_VIOLATION',
    }
  }
  return { ...booked, status: 'COMPLETED', state: 'COMPLETED', reason: null }
}

const good: RunFigures = {
  handoffs: 356,
  accepted: 355,
  deadLettered: 1,
  rolledBack: 1,
  outcomes: taskIds.map(outcome),
  reasons: new Map([
    ['BATON_X', 1],
    ['SAFETY_VIOLATION', 1],
  ]),
  latencyMs: { p50: 20.04, p95: 40, p99: 60, max: 90 },
  audited: new Map(taskIds.map((taskId) => [taskId, { records: 6, spentMicroUSD: 700 }])),
  verification: {
    ok: true,
    verdict: 'verified',
    records: 720,
    chains: [],
    seals: null,
    decisions: null,
    compared: [],
    copies: 0,
    findings: [],
    findingsTotal: 0,
    findingsByRule: {},
    rotations: [],
    rotationsTotal: 0,
  },
  traceMs: 5,
}

const replace = (taskId: string, change: Partial<RunFigures['outcomes'][number]>): RunFigures => ({
  ...good,
  outcomes: good.outcomes.map((one) => (one.taskId === taskId ? { ...one, ...change } : one)),
})

describe('findProblems', () => {
  it('finds none in a good run', () => {
    expect(findProblems(good, input)).toEqual([])
  })

  it.each<[string, RunFigures, string]>([
    ['a lost task', { ...good, outcomes: good.outcomes.slice(1) }, '120 tasks were sent, 119 are'],
    ['few accepted', { ...good, accepted: 299 }, '299 handoffs were accepted'],
    [
      'slow acceptance',
      { ...good, latencyMs: { ...good.latencyMs, p99: 500 } },
      'p99 from dispatch',
    ],
    ['a slow trace', { ...good, traceMs: 10_001 }, 'a trace took 10001 ms'],
    [
      'an unfinished task',
      replace('t0', { status: 'RUNNING', state: 'QUEUED' }),
      'pg@8.0.0 (t0) is RUNNING',
    ],
    [
      'a passed injection',
      replace('injected', { status: 'COMPLETED', state: 'COMPLETED' }),
      'not dead-lettered',
    ],
    ['no rollback', replace('failing', { state: 'COMPLETED' }), 'was not rolled back'],
    ['an unbooked cost', replace('t0', { hopsMicroUSD: 701 }), 'task t0 booked 700 micro-USD'],
    ['an unaudited cost', { ...good, audited: new Map() }, 'the audit log says nothing'],
    [
      'a changed log',
      { ...good, verification: { ...good.verification, ok: false, findingsTotal: 2 } },
      'does not verify',
    ],
  ])('names %s', (_, figures, problem) => {
    expect(findProblems(figures, input)[0]).toContain(problem)
  })

  it('names at most ten tasks', () => {
    const outcomes = good.outcomes.map((one) => ({ ...one, status: 'RUNNING' }))
    expect(findProblems({ ...good, outcomes }, input)).toHaveLength(10)
  })
})

describe('summarise', () => {
  it('has exactly the promised fields, and counts only rejections as rejected', () => {
    const circumstances = { queue: 'redis', database: 'Postgres', elapsedMs: 1234.4 } as const
    expect(summarise(good, [], circumstances)).toEqual({
      ok: true,
      tasks: 120,
      handoffs: 356,
      accepted: 355,
      rejected: { SAFETY_VIOLATION: 1 },
      deadLettered: 1,
      rolledBack: 1,
      latencyMs: { p50: 20, p95: 40, p99: 60, max: 90 },
      costUSD: 0.084,
      auditRecords: 720,
      chainVerified: true,
      traceMs: 5,
      queue: 'redis',
      database: 'Postgres',
      elapsedMs: 1234,
    })
    expect(summarise(good, ['x'], circumstances).ok).toBe(false)
  })
})
