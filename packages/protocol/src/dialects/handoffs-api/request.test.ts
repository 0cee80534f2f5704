// Any body: refused with a reason, or a handoff that a receiver takes and that is shown as it was asked for.
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildHandoffMessage } from '../../build-handoff.ts'
import type { JsonValue } from '../../json.ts'
import { sampleScan } from '../../../fixtures/sample-handoff.ts'
import { judgeMessage } from '../../judge-message.ts'
import { fromHandoff, toHandoff } from './message.ts'
import { readCreate, readDecision } from './request.ts'
import type { CreateRequest } from './request.ts'

const RUNS = 1_000
const NOW = new Date('2026-04-03T10:45:00.789Z')
const ID = '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11'
const TASK = '0b54cf4c-55f1-4b17-9a4c-3f5d9c2f7a10'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', '\0', '__proto__', 'a'.repeat(201), '😀'.repeat(200)),
)
const anything = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<JsonValue>)
const rarely = (value: fc.Arbitrary<unknown>) => fc.oneof({ weight: 9, arbitrary: value }, anything)
const body = fc.oneof(
  { weight: 1, arbitrary: anything },
  {
    weight: 9,
    arbitrary: fc.record(
      {
        fromProfileId: rarely(text),
        toProfileId: rarely(text),
        subject: rarely(text),
        body: rarely(text),
        sourceTaskId: rarely(text),
        priority: rarely(fc.integer({ min: 0, max: 3 })),
        requiresApproval: rarely(fc.boolean()),
        parentMessageId: rarely(fc.option(text)),
        dataSubjects: rarely(fc.array(fc.uuid(), { maxLength: 3 })),
        other: fc.constant(null),
      },
      { requiredKeys: ['fromProfileId', 'toProfileId', 'subject', 'body'] },
    ) as fc.Arbitrary<JsonValue>,
  },
)

const messageOf = (request: CreateRequest) => {
  const { agentState, targetAgentType, constraints } = toHandoff(request, {
    handoffId: ID,
    agentType: 'reviewer',
    requiresApproval: request.requiresApproval,
    placement: {
      taskId: TASK,
      parentHandoffId: null,
      spentMicroUSD: 0,
      remainingMicroUSD: 1_000_000,
      depth: 0,
    },
    now: NOW,
    expiryMs: 86_400_000,
    trace: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' },
  })
  return buildHandoffMessage(agentState, targetAgentType, constraints)
}

/** As the store would answer it a moment later. */
const shown = (request: CreateRequest) =>
  fromHandoff({
    id: ID,
    sender: request.fromProfileId,
    recipient: request.toProfileId,
    depth: 0,
    taskId: TASK,
    state: 'QUEUED',
    reason: null,
    priority: request.priority,
    createdAt: NOW,
    acceptedAt: null,
    endedAt: null,
    expiresAt: null,
    erasedAt: null,
    result: null,
    body: Buffer.from(JSON.stringify(messageOf(request))),
    approval: null,
  })

/** A request that was taken as its handoff and its message say it; what is wrong with the others. */
function outcomeOf(value: JsonValue) {
  const read = readCreate(value)
  if (!read.ok) return { error: read.refusal.error, fix: read.refusal.fix }
  const { subject, body: words, priority, parentMessageId, sourceTaskId } = read.value
  return {
    asked: { subject, body: words, priority, parentMessageId, taskId: sourceTaskId ?? TASK },
    shown: shown(read.value),
    verdict: judgeMessage(messageOf(read.value), { scan: sampleScan }),
  }
}

it('R05 R17 takes a body whose handoff is valid and shows what was asked, or says what is wrong', () => {
  let taken = 0
  fc.assert(
    fc.property(body, (value) => {
      const { asked, verdict, ...outcome } = outcomeOf(value)
      taken += asked === undefined ? 0 : 1
      expect([verdict, outcome]).toMatchObject(
        asked === undefined
          ? [undefined, { error: WORDS, fix: WORDS }]
          : [
              { valid: true },
              {
                shown: {
                  ...asked,
                  subject: asked.subject.trim(),
                  createdAt: '2026-04-03T10:45:00.000Z',
                },
              },
            ],
      )
    }),
    { numRuns: RUNS },
  )
  expect(taken).toBeGreaterThan(RUNS / 50)
})

const WORDS = expect.stringMatching(/^[\p{L}\d .,;:(){}]+$/u) as string

it('R15 R17 reads two actions, and refuses every other body', () => {
  const decision = fc.record(
    { action: rarely(fc.constantFrom('approve', 'reject')), approvedBy: rarely(text) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<JsonValue>
  fc.assert(
    fc.property(fc.oneof(decision, anything), (value) => {
      const read = readDecision(value)
      const { action } = (value ?? {}) as { action?: unknown }
      const isAction = action === 'approve' || action === 'reject'
      expect(read.ok && (!isAction || !/^\S/.test(read.value.approvedBy))).toBe(false)
    }),
    { numRuns: RUNS },
  )
})
