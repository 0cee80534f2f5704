// Only what is on the list passes, and no input of any shape is thrown at the caller.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkEntry } from './check-entry.ts'
import { entryOf } from '../fixtures/entry.ts'

const pointersOf = (value: unknown): readonly string[] => {
  const checked = checkEntry(value, '/entries/0')
  return checked.ok ? [] : checked.problems.map((problem) => problem.pointer)
}

describe('checkEntry', () => {
  test('accepts a complete entry', () => {
    const segments = [{ kind: 'personal' as const, subject: 'subject-1', text: 'Ünïcode 🎉' }]
    expect(pointersOf(entryOf({ segments }))).toEqual([])
    expect(pointersOf(entryOf({ verdicts: null, cost: null, reason: 'SCHEMA_INVALID' }))).toEqual(
      [],
    )
  })

  test.each(Object.keys(entryOf()))('names a missing %s', (member) => {
    const { [member as 'event']: _, ...rest } = entryOf()
    expect(pointersOf(rest)).toEqual([`/entries/0/${member}`])
  })

  test.each([
    ['an unknown event', { event: 'HANDOFF_MISLAID' }, '/entries/0/event'],
    ['an event named like a method', { event: 'toString' }, '/entries/0/event'],
    ['an upper-case id', { taskId: '3F2504E0-4F89-41D3-9A0C-0305E82C3301' }, '/entries/0/taskId'],
    ['a free-text reason', { reason: 'because I said so' }, '/entries/0/reason'],
    [
      'a fraction of a micro-dollar',
      { cost: { ...entryOf().cost, spentMicroUSD: 0.5 } },
      '/entries/0/cost/spentMicroUSD',
    ],
    [
      'an amount beyond 2^53',
      { cost: { ...entryOf().cost, spentMicroUSD: 2 ** 53 } },
      '/entries/0/cost/spentMicroUSD',
    ],
    [
      'a name with a line feed',
      { toAgent: { agentType: 'a\nb', agentVersion: null } },
      '/entries/0/toAgent/agentType',
    ],
    [
      'a name of 257 characters',
      { toAgent: { agentType: 'a'.repeat(257), agentVersion: null } },
      '/entries/0/toAgent/agentType',
    ],
    ['a member that is not listed', { note: 'hello' }, '/entries/0'],
    [
      'a lone surrogate',
      { segments: [{ kind: 'message', subject: null, text: '\ud800' }] },
      '/entries/0/segments/0/text',
    ],
    [
      '257 segments',
      { segments: Array(257).fill({ kind: 'message', subject: null, text: '' }) },
      '/entries/0/segments',
    ],
  ])('refuses %s', (_, changes, pointer) => {
    expect(pointersOf({ ...entryOf(), ...changes })).toContain(pointer)
  })

  test('refuses a __proto__ member', () => {
    const text = JSON.stringify(entryOf()).replace('{', '{"__proto__":{"admin":true},')
    expect(pointersOf(JSON.parse(text))).toEqual(['/entries/0'])
  })

  test('survives any input and quotes none of it', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        expect(checkEntry(value).ok).toBe(false)
      }),
    )
    const checked = checkEntry({ ...entryOf(), reason: 'a canary sentence' })
    expect(JSON.stringify(checked)).not.toContain('canary')
  })
})
