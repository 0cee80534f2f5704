// The handoffs of one task execute one after the other, in the order they were sent, whatever else runs.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('order')
})
afterAll(() => pipeline.close())

it('keeps the order of every task, with one execution of a task at a time', async () => {
  const running = new Map<string, number>()
  const order = new Map<string, string[]>()
  let mostAtOnce = 0
  const { agent } = recordingAgent('ordered', {
    async execute(context) {
      const { taskId, handoffId } = context
      const now = (running.get(taskId) ?? 0) + 1
      running.set(taskId, now)
      mostAtOnce = Math.max(mostAtOnce, now)
      order.set(taskId, [...(order.get(taskId) ?? []), handoffId])
      await new Promise((resolve) => setImmediate(resolve))
      running.set(taskId, (running.get(taskId) ?? 1) - 1)
      return answer(context, { costUSD: 0, next: [] })
    },
  })
  const tasks = Array.from({ length: 6 }, () => newTask())
  const sent = new Map<string, string[]>()
  for (let step = 0; step < 4; step += 1) {
    const sends = tasks.map((task) =>
      pipeline.sender.send({ ...task, handoffId: randomUUID() }, 'ordered'),
    )
    for (const { taskId, handoffId } of await Promise.all(sends)) {
      sent.set(taskId, [...(sent.get(taskId) ?? []), handoffId])
    }
  }
  const worker = await pipeline.start([agent])
  await Promise.all([...sent.values()].flat().map((id) => pipeline.reaches(id, 'COMPLETED')))
  expect(order).toEqual(sent)
  expect(mostAtOnce).toBe(1)
  await worker.stop()
})
