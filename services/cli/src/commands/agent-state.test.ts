// Agent state from the command line: what is missing is filled in, what is wrong is named.
import { describe, expect, it } from 'vitest'
import { readAgentState } from './agent-state.ts'

describe('readAgentState', () => {
  it('fills in everything a first handoff needs', async () => {
    const state = await readAgentState({ budget: 2, state: '{"a":1}', description: 'Do it' })
    expect(state).toMatchObject({
      taskDescription: 'Do it',
      currentState: { a: 1 },
      cost: { budgetRemainingUSD: 2, spentSoFarUSD: 0 },
    })
    expect(state.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-/)
  })

  it.each([
    ['{"a":', '--state'],
    ['[]', '--state is not a JSON object'],
    ['{"a":1,"a":2}', '--state at /a'],
  ])('refuses the state %s', async (state, problem) => {
    await expect(readAgentState({ budget: 1, state })).rejects.toMatchObject({
      code: 'BATON_USAGE',
      message: expect.stringContaining(problem) as string,
    })
  })
})
