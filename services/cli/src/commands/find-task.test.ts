// When a task has ended: also while the last branch is over and its join has not begun, it has not.
import { expect, it } from 'vitest'
import { hasEnded } from './find-task.ts'

const over = (state: 'COMPLETED' | 'ROLLED_BACK') => ({ state, endedAt: '2026-11-23T12:00:00Z' })

it.each([
  ['while a handoff is open', 'RUNNING', { state: 'EXECUTING', endedAt: null }, false],
  ['between the last branch and the join', 'PENDING_HANDOFF', over('COMPLETED'), false],
  ['when its result is there', 'COMPLETED', over('COMPLETED'), true],
  ['when it was rolled back', 'PENDING_HANDOFF', over('ROLLED_BACK'), true],
] as const)('%s', (_, status, last, ended) => {
  expect(hasEnded({ task: { status }, handoffs: [over('COMPLETED'), last] })).toBe(ended)
})
