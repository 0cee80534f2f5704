// Agent state from the command line: what is missing is filled in, what is wrong is named.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readAgentState } from './agent-state.ts'

describe('readAgentState', () => {
  it('fills in everything a first handoff needs', async () => {
    const state = await readAgentState({ budget: 2, state: '{"a":1}' })
    expect(state).toMatchObject({
      taskDescription: 'INITIAL',
      currentState: { a: 1 },
      cost: { budgetRemainingUSD: 2, spentSoFarUSD: 0 },
    })
    expect(state.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-/)
  })

  it('takes a description where work is done, and says so where none is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'baton-state-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const file = join(folder, 'state.json')
    await writeFile(file, JSON.stringify({ completedSubtasks: [{ name: 'read' }] }))
    const description = 'Summarise it'
    expect(await readAgentState({ budget: 1, file, description })).toMatchObject({
      taskDescription: description,
    })
    await expect(readAgentState({ budget: 1, description })).rejects.toMatchObject({
      code: 'BATON_USAGE',
      message: expect.stringContaining('--description') as string,
    })
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
