// Waiting handoffs of a smaller priority number start first, and the largest still moves.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('priorities')
})
afterAll(() => pipeline.close())

it('executes 0 before 1 before 2 before 3, whatever was sent first', async () => {
  const { agent, executed } = recordingAgent('ranked')
  const priorities = [3, 2, 1, 0].flatMap((priority) => [priority, priority, priority])
  const sent: string[] = []
  for (const priority of priorities) {
    sent.push((await pipeline.send('ranked', { constraints: { priority } })).handoffId)
  }
  await pipeline.start([agent], { concurrency: 1 })
  await Promise.all(sent.map((handoffId) => pipeline.reaches(handoffId, 'COMPLETED')))
  expect(executed.map((context) => context.message.priority)).toEqual(priorities.toReversed())
})
