// A queue whose server does not answer is left out until it does, and asked once at a time.
import { expect, it } from 'vitest'
import { createAwayQueues } from './away-queues.ts'

it('a queue is away from a failure on until it has answered', async () => {
  const lines: object[] = []
  let answers = false
  let asked = 0
  const away = createAwayQueues({
    ask: async () => {
      asked += 1
      if (!answers) throw new Error('no answer')
    },
    logger: { warn: (line: object) => void lines.push(line) },
  })
  expect(away.has('risk')).toBe(false)
  const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
  away.left('risk', gone)
  away.left('legal', gone)
  expect([away.has('risk'), away.reasonOf('risk')]).toEqual([true, gone])
  // One line says it, however many are away.
  expect(lines).toEqual([
    { event: 'relay.queues_away', queue: 'risk', count: 1, code: 'ECONNREFUSED' },
  ])
  expect(await Promise.all([away.askAgain('risk'), away.askAgain('risk')])).toEqual([false, false])
  expect(asked).toBe(1)
  answers = true
  expect(await away.askAgain('risk')).toBe(true)
  expect([away.has('risk'), away.has('legal')]).toEqual([false, true])
})
