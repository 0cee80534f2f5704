// What a sender leaves out is filled in, the same every time; what would be guessed is left for the schema to refuse.
import { describe, expect, it } from 'vitest'
import { buildHandoffMessage } from './build-handoff.ts'
import { completeState } from './given-state.ts'
import type { GivenState } from './given-state.ts'

const given: GivenState = {
  taskId: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11',
  handoffId: '0f2c8e5d-7d3c-4f0a-9d53-0a3f7a0a1c11',
  agent: { agentId: 'intake', agentVersion: '1.0.0' },
  currentState: { text: 'one' },
  cost: {
    spentSoFarUSD: 0,
    budgetRemainingUSD: 1,
    ownCostUSD: 0,
    tokenSpent: { prompt: 0, completion: 0 },
  },
}
const done = { subtaskId: 'one', description: 'One', completedAt: '2026-11-28T05:00:00Z' }

describe('a state that a sender gives', () => {
  it('is a first handoff where nothing else is said', () => {
    const message = buildHandoffMessage(given, 'reader')
    expect(message).toMatchObject({
      taskDescription: 'INITIAL',
      completedSubtasks: [],
      remainingSubtasks: [],
    })
    expect(completeState(given)).toEqual(completeState(given))
  })

  it('has one trace for its task, and a span for each handoff', () => {
    const { handoffId: _, ...next } = given
    const traces = [given, next].map((state) => completeState(state).traceparent.split('-'))
    expect(traces[0]?.[1]).toBe(traces[1]?.[1])
    expect(traces[0]?.[2]).not.toBe(traces[1]?.[2])
  })

  it('keeps everything that was said', () => {
    const whole = completeState({ ...given, taskDescription: 'Go on', completedSubtasks: [done] })
    expect(completeState(whole)).toEqual(whole)
  })

  it.each<[string, Partial<GivenState>, string]>([
    ['something to do and nothing done', { taskDescription: 'Go on' }, '/completedSubtasks'],
    ['something done and nothing to do', { completedSubtasks: [done] }, '/taskDescription'],
    [
      'a handoff before it and nothing done',
      { parentHandoffId: '1f2c8e5d-7d3c-4f0a-9d53-0a3f7a0a1c11' },
      '/taskDescription',
    ],
  ])('is refused with %s', (_, changes, pointer) => {
    expect(() => buildHandoffMessage({ ...given, ...changes }, 'reader')).toThrow(
      expect.objectContaining({ code: 'BATON_HANDOFF_INVALID', pointer }),
    )
  })
})
