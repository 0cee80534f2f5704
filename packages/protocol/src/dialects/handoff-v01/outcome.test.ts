// What became of a handoff, in the words of protocol v0.1: every state, by the table.
import { describe, expect, it } from 'vitest'
import { HANDOFF_STATES } from '../../states.ts'
import { outcomeOf, wayTo } from './outcome.ts'
import { STATUSES } from './transitions.ts'

const told = (state: string, accepted: boolean, reason: string | null = null) =>
  outcomeOf({ state, accepted, reason })

describe('P19 the status of a state', () => {
  it.each([
    ['QUEUED', 'offered', 'offered'],
    ['AWAITING_APPROVAL', 'offered', 'offered'],
    ['DISPATCHED', 'offered', 'offered'],
    ['EXECUTING', 'accepted', 'accepted'],
    ['COMPLETED', 'completed', 'completed'],
    ['PARTIAL', 'completed', 'completed'],
    ['REJECTED', 'rejected', 'rejected'],
    ['BLOCKED', 'rejected', 'rejected'],
    ['DEAD_LETTERED', 'rejected', 'rejected'],
    ['ROLLED_BACK', 'failed', 'failed'],
    ['EXPIRED', 'rejected', 'failed'],
    ['CANCELED', 'rejected', 'failed'],
  ])('%s is %s before it was accepted, %s afterwards', (state, before, after) => {
    expect(told(state, false)?.status).toBe(before)
    expect(told(state, true)?.status).toBe(after)
  })
  it('is said of every state, and of no other', () => {
    for (const state of HANDOFF_STATES) expect(STATUSES).toContain(told(state, false)?.status)
    for (const other of ['', 'completed', 'toString', '__proto__'])
      expect(told(other, true)).toBeUndefined()
  })
  it('comes with the reason, and says what was partial', () => {
    expect(told('PARTIAL', true)?.note).toEqual({ partial: true })
    expect(told('EXPIRED', false)?.note).toEqual({ reason: 'expired' })
    expect(told('CANCELED', true)?.note).toEqual({ reason: 'canceled' })
    expect(told('REJECTED', false, 'SCHEMA_INVALID')?.note).toEqual({ reason: 'SCHEMA_INVALID' })
    expect(told('QUEUED', false, 'BATON_AGENT_FAILED')?.note).toBeUndefined()
    expect(told('COMPLETED', true)?.note).toBeUndefined()
  })
})

it.each([
  ['offered', 'offered', []],
  ['offered', 'accepted', ['accepted']],
  ['offered', 'rejected', ['rejected']],
  ['offered', 'completed', ['accepted', 'completed']],
  ['offered', 'failed', ['accepted', 'failed']],
  ['accepted', 'failed', ['failed']],
  ['accepted', 'rejected', undefined],
  ['completed', 'failed', undefined],
  ['rejected', 'accepted', undefined],
  ['failed', 'completed', undefined],
] as const)('P03 P19 the way from %s to %s', (from, to, way) => {
  expect(wayTo(from, to)).toEqual(way)
})
