// A handoff in the words of the Handoffs API, in every state.
import { describe, expect, it } from 'vitest'
import { HANDOFF_STATES } from '../../states.ts'
import { asCreated, fromHandoff } from './message.ts'
import type { StoredHandoff } from './message.ts'

const at = (second: number) => new Date(Date.UTC(2026, 3, 3, 10, 45, second, 987))
const stored = (changes: Partial<StoredHandoff> = {}): StoredHandoff => ({
  id: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11',
  sender: 'analyst-agent',
  recipient: 'reviewer-agent',
  depth: 0,
  taskId: '0b54cf4c-55f1-4b17-9a4c-3f5d9c2f7a10',
  state: 'QUEUED',
  reason: null,
  priority: 2,
  createdAt: at(0),
  acceptedAt: null,
  endedAt: null,
  expiresAt: null,
  erasedAt: null,
  result: null,
  body: Buffer.from(
    '{"externalRef":{"protocol":"handoffs-api","id":"x"},"completedSubtasks":[],"currentState":{"subject":"s","body":"b"}}',
  ),
  approval: null,
  ...changes,
})
const decided = (decision: string | null) => ({
  decision,
  decidedBy: decision === null ? null : 'ann',
  decidedAs: null,
  decidedAt: decision === null ? null : at(5).getTime(),
})

describe('attachments', () => {
  it.each(HANDOFF_STATES)('R07 tell what came of a handoff that is %s', (state) => {
    const done = { result: { a: 1 }, remaining: [{ subtaskId: 'b', description: 'the rest' }] }
    const { attachments } = fromHandoff(stored({ state, reason: 'WHY', ...done }))
    const rejected = { error: 'WHY' }
    const expected: Readonly<Record<string, object>> = {
      COMPLETED: { result: { a: 1 } },
      PARTIAL: { ...done, partial: true },
      REJECTED: rejected,
      BLOCKED: rejected,
      CANCELED: rejected,
      DEAD_LETTERED: rejected,
      ROLLED_BACK: rejected,
    }
    expect(JSON.parse(attachments ?? 'null')).toEqual(expected[state] ?? null)
  })

  it('R07 have no error where a person rejected it, and a result where there is none', () => {
    const refused = stored({ state: 'REJECTED', reason: 'APPROVAL_REFUSED' })
    expect(fromHandoff(refused).attachments).toBeNull()
    expect(fromHandoff(stored({ state: 'COMPLETED' })).attachments).toBe('{"result":null}')
    expect(fromHandoff(stored({ state: 'CANCELED' })).attachments).toBe('{"error":"CANCELED"}')
  })
})

describe('respondedAt', () => {
  it.each([
    ['nobody has responded', {}, null],
    ['a person has decided', { approval: decided('approve') }, '05'],
    ['a person has yet to decide', { approval: decided(null) }, null],
    ['an agent has accepted', { acceptedAt: at(9), approval: decided('approve') }, '09'],
    ['it was refused', { state: 'REJECTED', endedAt: at(7) }, '07'],
    ['it has expired', { state: 'EXPIRED', endedAt: at(7) }, null],
  ])('R06 where %s', (_, changes, second) => {
    const { respondedAt } = fromHandoff(stored(changes))
    expect(respondedAt).toBe(second === null ? null : `2026-04-03T10:45:${second}.000Z`)
  })
})

it('R06 names the operator where an approver gave no name, and the task where no source task was given', () => {
  const message = fromHandoff(stored({ approval: decided('reject'), acceptedAt: at(1) }))
  const { taskId } = stored()
  expect(message).toMatchObject({ approvedBy: 'ann', taskId, targetTaskId: taskId })
  expect(fromHandoff(stored({ approval: decided(null) }))).toMatchObject({
    requiresApproval: true,
    approvedBy: null,
  })
})

it('R06 is shown as it was created, whatever has happened since', () => {
  const done = stored({
    state: 'COMPLETED',
    acceptedAt: at(2),
    endedAt: at(3),
    approval: decided('approve'),
  })
  expect(asCreated(fromHandoff(done))).toEqual(fromHandoff(stored({ approval: decided(null) })))
})

it('R18 shows nothing of a text that was erased', () => {
  const erased = stored({
    erasedAt: at(9),
    state: 'COMPLETED',
    body: Buffer.from('{"erased":true}'),
  })
  expect(fromHandoff(erased)).toMatchObject({
    subject: '[erased]',
    body: '[erased]',
    attachments: '{"erased":true}',
    parentMessageId: null,
  })
})

it('R14 names agents, and says no text, of a handoff that did not come in by this API', () => {
  const body = Buffer.from('{"currentState":{"subject":"secret","body":"secret"}}')
  expect(fromHandoff(stored({ body }))).toMatchObject({
    subject: 'Handoff from analyst-agent to reviewer-agent',
    body: '',
  })
})
