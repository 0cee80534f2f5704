// The Handoffs API's statuses: every lifecycle state has one, and a filter by status finds what shows it.
import { expect, it } from 'vitest'
import { HANDOFF_STATES } from '../../states.ts'
import { statesOf, STATUSES, statusOf } from './words.ts'

it('R07 shows every lifecycle state as the mapping has it', () => {
  expect(
    Object.fromEntries(HANDOFF_STATES.map((state) => [state, statusOf(state, false)])),
  ).toEqual({
    QUEUED: 'pending',
    AWAITING_APPROVAL: 'pending',
    DISPATCHED: 'pending',
    EXECUTING: 'in_progress',
    COMPLETED: 'completed',
    PARTIAL: 'completed',
    REJECTED: 'rejected',
    BLOCKED: 'rejected',
    EXPIRED: 'expired',
    CANCELED: 'rejected',
    DEAD_LETTERED: 'rejected',
    ROLLED_BACK: 'rejected',
  })
})

it('R07 shows what a person has approved as accepted until an agent has it', () => {
  expect(statusOf('QUEUED', true)).toBe('accepted')
  expect(statusOf('DISPATCHED', true)).toBe('accepted')
  expect(statusOf('EXECUTING', true)).toBe('in_progress')
  expect(statusOf('ROLLED_BACK', true)).toBe('rejected')
})

it('R02 filters by exactly the states that show a status', () => {
  for (const isApproved of [false, true])
    for (const state of HANDOFF_STATES)
      for (const status of STATUSES) {
        const { states, approvedStates } = statesOf(status)
        const isFound = (isApproved ? approvedStates : states).includes(state)
        expect(isFound).toBe(statusOf(state, isApproved) === status)
      }
})
