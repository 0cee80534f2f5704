// The order of one delivery: claimed, judged, recorded, started, executed, settled; nothing after a step that failed.
import type { AuditEntry, Receipt } from '@baton/ledger'
import { createLogger, permanent, transient } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import { createMetrics } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import type { Execution } from './execute-handoff.ts'
import { receiveHandoff } from './receive-handoff.ts'
import type { ReceiveDeps } from './receive-handoff.ts'
import { prepareHandoff } from './prepare-handoff.ts'
import {
  claimedFrom,
  judgeSample,
  quietLogger,
  sampleAgent,
  sampleHandoff,
  sampleOptions,
  sampleState,
} from '../fixtures/sample-delivery.ts'

const RECEIPT: Receipt = {
  origin: 'test/0',
  seq: 1,
  recordHash: 'ab'.repeat(32),
  recordedAt: '2026-01-02T03:04:05Z',
  duplicate: false,
}

/** A receiver in memory that writes down what it is asked, in order. */
function receiver(changes: Partial<ReceiveDeps> = {}) {
  const steps: string[] = []
  const entries: AuditEntry[] = []
  const step =
    <Arguments extends unknown[], Result>(name: string, result: (...args: Arguments) => Result) =>
    async (...args: Arguments) => {
      steps.push(name)
      return result(...args)
    }
  const execution: Execution = { kind: 'failed', code: 'BATON_X', retry: true }
  const deps: ReceiveDeps = {
    claim: step('claim', () => claimedFrom(sampleHandoff())),
    judge: async (claimed) => {
      steps.push('judge')
      return judgeSample(claimed)
    },
    executorOf: () => ({ agent: sampleAgent, execute: step('execute', () => execution) }),
    leaseMs: 60_000,
    extend: step('extend', () => true),
    record: step('record', (entry: AuditEntry) => {
      entries.push(entry)
      return RECEIPT
    }),
    recordDecisions: step('decisions', () => undefined),
    start: step('start', () => 0.01),
    transport: 'queue',
    settle: {
      executed: step('executed', () => undefined),
      rejected: step('rejected', () => undefined),
      blocked: step('blocked', () => undefined),
      quarantined: step('quarantined', () => undefined),
      released: step('released', () => undefined),
      drain: async () => undefined,
    },
    metrics: createMetrics(),
    logger: quietLogger,
    ...changes,
  }
  const receive = () => receiveHandoff(deps, { handoffId: 'h', publishAttempt: 1 })
  return { receive, steps, entries, metrics: deps.metrics }
}

describe('a delivery', () => {
  it('is recorded before it executes (I3), and settled once', async () => {
    const { receive, steps, entries, metrics } = receiver()
    await receive()
    expect(steps).toEqual(['claim', 'judge', 'record', 'start', 'execute', 'executed'])
    expect(entries).toMatchObject([{ event: 'HANDOFF_ACCEPTED' }])
    expect((await metrics.expose()).body).toContain('baton_handoffs_total{outcome="ACCEPTED"')
  })

  it('that uses what is deprecated executes, and is told of by its places alone', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const old = { pointer: '/old', rule: 'deprecated', message: 'a text', fix: 'another' }
    const { receive, steps } = receiver({
      logger: createLogger({ service: 'test', destination }),
      judge: (claimed) => ({ ...judgeSample(claimed), warnings: [old] }) as never,
    })
    await receive()
    expect(steps.at(-1)).toBe('executed')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: 'handoff.deprecated', level: 'warn', pointers: ['/old'] },
    ])
  })

  it('that lost facts, where that is only flagged, executes, and is told of by their places alone (E23)', async () => {
    const lines: string[] = []
    const destination = { write: (line: string) => void lines.push(line) }
    const pointer = '/pinnedFacts/values/0'
    const lost = { pointer, rule: 'BATON_FACT_LOST', message: 'a text', fix: 'another' }
    const { receive, steps } = receiver({
      logger: createLogger({ service: 'test', destination }),
      judge: (claimed) => ({ ...judgeSample(claimed), warnings: [lost] }) as never,
    })
    await receive()
    expect(steps.at(-1)).toBe('executed')
    expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { event: 'handoff.facts_lost', level: 'warn', code: 'BATON_FACT_LOST', pointers: [pointer] },
    ])
  })

  it('that is refused at the claim ends there', async () => {
    const { receive, steps } = receiver({ claim: async () => ({ kind: 'refused' }) })
    await receive()
    expect(steps).toEqual([])
  })

  it('that nobody can judge now is recorded nowhere and released', async () => {
    const { receive, steps } = receiver({ judge: async () => undefined })
    await receive()
    expect(steps).toEqual(['claim', 'released'])
  })

  it('without a receipt executes nothing and is released (E12)', async () => {
    const down = () => Promise.reject(transient('BATON_AUDIT_UNAVAILABLE', 'down'))
    const { receive, steps } = receiver({ record: down })
    await receive()
    expect(steps).toEqual(['claim', 'judge', 'released'])
  })

  it('that took long to judge asks whether it is still its own before anything is recorded', async () => {
    const late = receiver({ leaseMs: 0 })
    await late.receive()
    expect(late.steps).toEqual([
      'claim',
      'judge',
      'extend',
      'record',
      'start',
      'execute',
      'executed',
    ])
    for (const handoff of [sampleHandoff(), sampleHandoff({ currentState: {} })]) {
      const { receive, steps, entries, metrics } = receiver({
        leaseMs: 0,
        claim: async () => claimedFrom(handoff),
        extend: async () => false,
      })
      await receive()
      expect(steps).toEqual(['judge'])
      expect(entries).toEqual([])
      expect((await metrics.expose()).body).toMatch(/^baton_fenced_commits_total 1$/m)
    }
  })

  it('that rests on what a person decided is recorded after the decision', async () => {
    const decided = async () => claimedFrom(sampleHandoff(), { decided: true })
    const { receive, steps } = receiver({ claim: decided })
    await receive()
    expect(steps).toEqual(['judge', 'decisions', 'record', 'start', 'execute', 'executed'])
  })

  it('whose decision cannot be recorded yet is released unrecorded', async () => {
    const { receive, steps } = receiver({
      claim: async () => claimedFrom(sampleHandoff(), { decided: true }),
      recordDecisions: () => Promise.reject(transient('BATON_DECISIONS_UNRECORDED', 'down')),
    })
    await receive()
    expect(steps).toEqual(['judge', 'released'])
  })

  it('that is rejected is recorded, returned and never started (I6)', async () => {
    const handoff = sampleHandoff({ currentState: {} })
    const { receive, steps, entries } = receiver({ claim: async () => claimedFrom(handoff) })
    await receive()
    expect(steps).toEqual(['judge', 'record', 'rejected'])
    expect(entries).toMatchObject([{ event: 'HANDOFF_REJECTED', reason: 'INCOMPLETE_CONTEXT' }])
  })

  it('whose receiver lacks what it requires is recorded as blocked and never started (S18)', async () => {
    const handoff = prepareHandoff(
      {
        agentState: sampleState(),
        targetAgentType: 'reader',
        constraints: { requirements: { mcp: ['github'], capabilities: ['translate'] } },
      },
      sampleOptions,
    )
    const { receive, steps, entries } = receiver({ claim: async () => claimedFrom(handoff) })
    await receive()
    expect(steps).toEqual(['judge', 'record', 'blocked'])
    expect(entries).toMatchObject([
      {
        event: 'HANDOFF_BLOCKED',
        reason: 'BLOCKED',
        verdicts: { schema: 'passed', completeness: 'passed', budget: 'passed' },
      },
    ])
  })

  it('whose fencing token was lost meanwhile executes nothing', async () => {
    const { receive, steps, metrics } = receiver({ start: async () => undefined })
    await receive()
    expect(steps).toEqual(['claim', 'judge', 'record'])
    expect((await metrics.expose()).body).toMatch(/^baton_fenced_commits_total 1$/m)
  })

  it('whose owners died five times goes to a person unjudged', async () => {
    const { receive, steps } = receiver({
      claim: async () => claimedFrom(sampleHandoff(), { leaseExpiries: 5 }),
    })
    await receive()
    expect(steps).toEqual(['quarantined'])
  })

  it('that the audit store will never record goes to a person; an outage only releases it', async () => {
    const refusedWith = async (code: ErrorCode) => {
      const record = () => Promise.reject(permanent(code, 'no'))
      const { receive, steps } = receiver({ record })
      await receive()
      return steps
    }
    expect(await refusedWith('BATON_AUDIT_ENTRY_INVALID')).toEqual([
      'claim',
      'judge',
      'quarantined',
    ])
    expect(await refusedWith('BATON_AUDIT_TOKEN_REFUSED')).toEqual(['claim', 'judge', 'released'])
  })

  it('whose settlement fails leaves the rest to the lease, without rejecting', async () => {
    const { receive } = receiver({
      start: () => Promise.reject(permanent('BATON_DATABASE_REFUSED', 'no')),
    })
    await expect(receive()).resolves.toBe(true)
  })
})

it('the sample agent is one that the sample handoff satisfies', () => {
  expect(judgeSample(claimedFrom(sampleHandoff())).valid).toBe(true)
  expect(sampleAgent.requires).toEqual(['text'])
})
