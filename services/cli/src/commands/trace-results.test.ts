// The trace names who concluded what, with which version and model, and shows the result as one harmless line.
import { expect, test } from 'vitest'
import { resultLines } from './trace-results.ts'

const toAgent = { agentType: 'legal-analysis', agentVersion: '^2.0.0' }
const accepted = { taskSeq: 0, toAgent, payload: [{ kind: 'message', bytes: 9_000 }] } as const
const completed = {
  taskSeq: 1,
  toAgent: { ...toAgent, agentVersion: '2.1.0' },
  model: 'lexis-7b',
  payload: [
    { kind: 'result', bytes: 2_000 },
    { kind: 'task-result', bytes: 12 },
  ],
} as const

test('E24 says who answered, by which record, and what the task came to', () => {
  const { answers, result } = resultLines({
    records: [{ body: accepted }, { body: completed }],
    result: 'may go\u001b[2J\u202e',
  })
  expect(answers.split('\n')).toEqual([
    'ANSWER OF             MODEL     BYTES  RECORD',
    'legal-analysis 2.1.0  lexis-7b  2,000       1',
  ])
  expect(result).toBe('Result "may go\\u001b[2J "')
})

test('says nothing of what has not ended', () => {
  expect(resultLines({ records: [{ body: accepted }], result: null })).toEqual({
    answers: '',
    result: '',
  })
})
