// Every reason at every attempt goes where the routing table sends it, with the alert and escalation that belong to it.
import type { AuditEntry } from '@baton/ledger'
import { checkEntry } from '@baton/ledger'
import { ROUTES } from '@baton/protocol'
import type { RejectionReason } from '@baton/protocol'
import { describe, expect, it } from 'vitest'
import {
  claimedFrom,
  messageOf,
  sampleAgent,
  sampleHandoff,
  sampleOptions,
} from '../../fixtures/sample-delivery.ts'
import { decideExecuted, decideFailed, decideQuarantined, decideRejected } from './outcome.ts'
import type { Outcome, Refusal } from './outcome.ts'

const OPTIONS = { ...sampleOptions, backoff: { baseMs: 100, capMs: 1_000 } }
const REASONS = Object.keys(ROUTES) as RejectionReason[]
const handoff = sampleHandoff()
const at = (attempt: number) => claimedFrom(handoff, { attempt, fencingToken: attempt })

const refusal = (reason: RejectionReason): Refusal => ({
  valid: false,
  reason,
  details: [{ pointer: '/a', rule: 'r', message: 'what', fix: 'how' }],
  checks: {
    size: 'passed',
    signature: 'passed',
    schema: 'failed',
    completeness: 'skipped',
    budget: 'skipped',
    safety: 'skipped',
    scan: null,
  },
})

const eventsOf = ({ events }: Outcome): string[] =>
  events.map((event) => (JSON.parse(event.entry) as AuditEntry).event)

/** What happens, in one line. */
function outcome(decided: Outcome): string {
  if (decided.kind === 'complete') return 'completed'
  const { change } = decided
  if (!('state' in change)) return change.returned ? 'returned' : 'tried again'
  return [
    change.state,
    change.taskStatus,
    change.alert ? 'alert' : '',
    change.escalate ? 'escalate' : '',
  ]
    .filter((part) => part !== '')
    .join(' ')
}

const EXPECTED: Record<RejectionReason, readonly [string, string, string]> = {
  SCHEMA_INVALID: ['returned', 'returned', 'ROLLED_BACK PENDING_HANDOFF alert escalate'],
  INCOMPLETE_CONTEXT: ['returned', 'returned', 'ROLLED_BACK PENDING_HANDOFF alert escalate'],
  SIGNATURE_INVALID: [
    'DEAD_LETTERED AWAITING_HUMAN alert',
    'DEAD_LETTERED AWAITING_HUMAN alert',
    'DEAD_LETTERED AWAITING_HUMAN alert',
  ],
  SAFETY_VIOLATION: [
    'DEAD_LETTERED AWAITING_HUMAN alert',
    'DEAD_LETTERED AWAITING_HUMAN alert',
    'DEAD_LETTERED AWAITING_HUMAN alert',
  ],
  BUDGET_EXHAUSTED: [
    'REJECTED AWAITING_HUMAN alert',
    'REJECTED AWAITING_HUMAN alert',
    'REJECTED AWAITING_HUMAN alert',
  ],
}

describe('a refused handoff (E07 to E10)', () => {
  const table = REASONS.flatMap((reason) =>
    [1, 2, 3].map((attempt) => [reason, attempt, EXPECTED[reason][attempt - 1]] as const),
  )
  it.each(table)('%s at attempt %i: %s', (reason, attempt, expected) => {
    const decided = decideRejected(at(attempt), refusal(reason), OPTIONS)
    expect(outcome(decided)).toBe(expected)
    expect(decided.kind === 'complete').toBe(false)
    for (const event of decided.events) {
      expect(checkEntry(JSON.parse(event.entry))).toMatchObject({ ok: true })
    }
  })

  it('is told of each time it is returned', () => {
    expect(eventsOf(decideRejected(at(1), refusal('SCHEMA_INVALID'), OPTIONS))).toEqual([
      'HANDOFF_RETURNED',
    ])
  })

  it('rolls back at the last attempt allowed, and escalates only from the third failure on', () => {
    const claimed = claimedFrom(handoff, { attempt: 2, attemptsMax: 2 })
    const decided = decideRejected(claimed, refusal('SCHEMA_INVALID'), OPTIONS)
    expect(outcome(decided)).toBe('ROLLED_BACK PENDING_HANDOFF alert')
  })

  it('waits within its bounds before the next attempt', () => {
    for (let attempt = 1; attempt < 3; attempt += 1) {
      const decided = decideRejected(at(attempt), refusal('SCHEMA_INVALID'), OPTIONS)
      const change = decided.kind === 'retry' ? decided.change : undefined
      expect(change?.delayMs).toBeGreaterThanOrEqual(0)
      expect(change?.delayMs).toBeLessThan(100 * 2 ** (attempt - 1))
    }
  })

  it('for safety names places and rules, never the text', () => {
    const decided = decideRejected(
      at(1),
      {
        ...refusal('SAFETY_VIOLATION'),
        checks: {
          ...refusal('SAFETY_VIOLATION').checks,
          scan: {
            decision: 'reject',
            score: 9,
            rulesetVersion: 'a',
            views: 1,
            bytes: 1,
            elapsedUs: 1,
            findings: Array.from({ length: 50 }, () => ({
              ruleId: 'override-1',
              category: 'override',
              jsonPointer: '/currentState/note',
              view: 'plain',
              span: [3, 9],
              weight: 3,
              hash: 'ab',
              trust: 'data',
            })),
          },
        } as never,
      },
      OPTIONS,
    )
    const details = decided.kind === 'end' ? decided.change.details : ''
    expect(JSON.parse(details)).toHaveLength(20)
    expect(JSON.parse(details)[0]).toMatchObject({ pointer: '/currentState/note', span: [3, 9] })
  })

  it('says of a text that was not read whole what to do about it', () => {
    const verdict = refusal('SAFETY_VIOLATION')
    const finding = { ruleId: 'SCAN_INCOMPLETE', category: 'incomplete', jsonPointer: '' }
    const scan = { decision: 'reject', incomplete: true, findings: [finding] }
    const decided = decideRejected(
      at(1),
      { ...verdict, checks: { ...verdict.checks, scan } as never },
      OPTIONS,
    )
    const details = decided.kind === 'end' ? decided.change.details : ''
    expect(JSON.parse(details)).toEqual([
      {
        pointer: '',
        rule: 'SCAN_INCOMPLETE',
        category: 'incomplete',
        message: 'hides more text inside other text than the scanner reads of one message',
        fix: expect.stringContaining('reference instead of encoded bytes'),
      },
    ])
  })
})

describe('a failed execution (E15)', () => {
  const failed = (attempt: number, retry: boolean) =>
    decideFailed(at(attempt), { code: 'BATON_AGENT_FAILED', retry }, OPTIONS)

  it('is tried again, then rolled back with an alert and an escalation', () => {
    expect([1, 2, 3].map((attempt) => outcome(failed(attempt, true)))).toEqual([
      'tried again',
      'tried again',
      'ROLLED_BACK PENDING_HANDOFF alert escalate',
    ])
    expect(eventsOf(failed(1, true))).toEqual(['EXECUTION_FAILED'])
    expect(eventsOf(failed(3, true))).toEqual(['ROLLED_BACK', 'HUMAN_ESCALATED'])
  })

  it('names the version that ran, and none where nobody could run it', () => {
    const executor = (agent: typeof sampleAgent | undefined, attempt: number) => {
      const failure = { code: 'BATON_TEST', retry: true, agent }
      const { events } = decideFailed(at(attempt), failure, OPTIONS)
      return (JSON.parse(events[0]?.entry ?? '') as AuditEntry).toAgent
    }
    const ran = { agentType: handoff.toAgent, agentVersion: sampleAgent.version }
    expect([executor(sampleAgent, 1), executor(sampleAgent, 3)]).toEqual([ran, ran])
    expect(executor(undefined, 1)).toEqual({ ...ran, agentVersion: null })
  })

  it('rolls back at once where trying again cannot help', () => {
    expect(outcome(failed(1, false))).toBe('ROLLED_BACK PENDING_HANDOFF alert')
  })

  it('escalates the third failed handoff of a task, whatever its attempt', () => {
    const of = (failedHandoffs: number) =>
      outcome(
        decideFailed(
          claimedFrom(handoff, { failedHandoffs }),
          { code: 'BATON_TEST', retry: false },
          OPTIONS,
        ),
      )
    expect(of(1)).toBe('ROLLED_BACK PENDING_HANDOFF alert')
    expect(of(2)).toBe('ROLLED_BACK PENDING_HANDOFF alert escalate')
  })

  it('that keeps killing its owners goes to a person, and its task back to the sender', () => {
    const poison = decideQuarantined(at(1), { reason: 'POISON', details: [] })
    expect(outcome(poison)).toBe('DEAD_LETTERED PENDING_HANDOFF alert escalate')
    expect(eventsOf(poison)).toEqual(['DEAD_LETTERED', 'HUMAN_ESCALATED'])
  })
})

describe('a finished execution (I5)', () => {
  const result = {
    subtask: { subtaskId: 'read', description: 'read it', result: { fine: true } },
    state: {},
    costUSD: 0.1,
    tokens: { prompt: 3, completion: 4 },
    next: [],
  }
  const finished = (changes: object) =>
    decideExecuted(
      at(1),
      {
        message: messageOf(handoff),
        execution: {
          kind: 'done',
          agent: sampleAgent,
          traceparent: handoff.traceparent,
          result: { ...result, ...changes },
        },
      },
      OPTIONS,
    )

  it('ends the task with its result where nothing is passed on, and books the cost', () => {
    const decided = finished({ result: 'the end' })
    const step = decided.kind === 'complete' ? decided : undefined
    expect(step?.completion).toMatchObject({
      costMicroUSD: 100_000,
      result: '{"fine":true}',
      taskResult: '"the end"',
    })
    expect(JSON.parse(step?.events[0]?.entry ?? '')).toMatchObject({
      event: 'EXECUTION_COMPLETED',
      toAgent: { agentType: handoff.toAgent, agentVersion: sampleAgent.version },
      cost: { spentMicroUSD: 150_000, remainingMicroUSD: 850_000 },
      segments: [
        { kind: 'result', subject: null, text: '{"fine":true}' },
        { kind: 'task-result', subject: null, text: '"the end"' },
      ],
    })
  })

  it('E24 is recorded with its answer and model, the answer beside the record alone', () => {
    const decided = finished({
      model: 'lexis-7b',
      next: [{ to: 'writer', taskDescription: 'write' }],
    })
    const entry = JSON.parse(decided.events[0]?.entry ?? '') as AuditEntry
    expect(checkEntry(entry)).toMatchObject({ ok: true })
    const { segments, ...record } = entry
    expect(record.model).toBe('lexis-7b')
    expect(JSON.stringify(record)).not.toContain('fine')
    expect(segments.map(({ kind }) => kind)).toEqual(['result'])
  })

  it('whose answer is longer than the log takes is the agent’s failure', () => {
    const decided = finished({ result: 'x'.repeat(5 * 1024 * 1024) })
    expect(outcome(decided)).toBe('ROLLED_BACK PENDING_HANDOFF alert')
    expect(JSON.parse(decided.events[0]?.entry ?? '')).toMatchObject({
      reason: 'BATON_AGENT_RESULT_TOO_LARGE',
    })
  })

  it('leaves the task open where it is passed on', () => {
    const decided = finished({ next: [{ to: 'writer', taskDescription: 'write' }] })
    const step = decided.kind === 'complete' ? decided : undefined
    expect(step?.completion.taskResult).toBeNull()
    expect(step?.next).toHaveLength(1)
  })

  it('that cannot be sent on is the agent’s failure, at once', () => {
    const decided = finished({ next: [{ to: '', taskDescription: '' }] })
    expect(outcome(decided)).toBe('ROLLED_BACK PENDING_HANDOFF alert')
  })
})
