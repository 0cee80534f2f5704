// Stopping a worker: what is under way finishes, what takes too long is given back and executed elsewhere.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '@baton/testkit'
import { answer, gate, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('drain')
})
afterAll(() => pipeline.close())

describe('stopping a worker', () => {
  it('finishes the work under way, claims nothing new, and may be repeated', async () => {
    const { opened, open } = gate()
    const { agent, executed } = recordingAgent('patient', {
      async execute(context) {
        executed.push(context)
        await opened
        return answer(context)
      },
    })
    const worker = await pipeline.start([agent], { concurrency: 1 })
    const [first, second] = [await pipeline.send('patient'), await pipeline.send('patient')]
    await eventually(() => executed.length === 1, { deadlineMs: 30_000, describe: 'it executes' })
    const underWay = executed[0]?.handoffId ?? ''
    const stopping = Promise.all([worker.stop(), worker.stop()])
    open()
    await stopping
    await pipeline.reaches(underWay, 'COMPLETED')
    expect(executed).toHaveLength(1)
    const other = underWay === first.handoffId ? second : first
    await pipeline.start([agent])
    await pipeline.reaches(other.handoffId, 'COMPLETED')
  })

  it.each([
    ['heeds its signal', true],
    ['ignores its signal', false],
  ])(
    'aborts an agent that %s after drainMs; it executes elsewhere as the same attempt',
    async (name, heeds) => {
      const type = name.replaceAll(' ', '-')
      const stuck = recordingAgent(type, {
        execute(context) {
          stuck.executed.push(context)
          return new Promise((_, reject) => {
            if (heeds) context.signal.addEventListener('abort', () => reject(new Error('stopped')))
          })
        },
      })
      const doomed = await pipeline.start([stuck.agent], { drainMs: 50 })
      const { handoffId } = await pipeline.send(type)
      await eventually(() => stuck.executed.length === 1, {
        deadlineMs: 30_000,
        describe: 'it runs',
      })
      await doomed.stop()
      expect(stuck.executed[0]?.signal.aborted).toBe(true)
      const next = recordingAgent(type)
      await pipeline.start([next.agent])
      await pipeline.reaches(handoffId, 'COMPLETED')
      expect(next.executed[0]).toMatchObject({ attempt: 1, fencingToken: 2 })
      expect(next.executed[0]?.idempotencyKey('pay')).toBe(stuck.executed[0]?.idempotencyKey('pay'))
    },
  )
})

it('an execution that lost its lease is repeated, and its late result changes nothing (I4)', async () => {
  const { opened, open } = gate()
  const { agent, executed } = recordingAgent('fenced', {
    async execute(context) {
      executed.push(context)
      if (context.fencingToken === 1) await opened
      const { fencingToken } = context
      return answer(context, {
        subtask: { subtaskId: 's', description: 'd', result: fencingToken },
      })
    },
  })
  const worker = await pipeline.start([agent], { leaseMs: 60_000 })
  const { handoffId, taskId } = await pipeline.send('fenced')
  await pipeline.reaches(handoffId, 'EXECUTING')
  const expired = `update execution set lease_until = now() - interval '1 s' where handoff_id = $1`
  await pipeline.rows(expired, [handoffId])
  await pipeline.reaches(handoffId, 'COMPLETED')
  open()
  await worker.stop()
  expect(executed.map((context) => context.fencingToken)).toEqual([1, 2])
  const handoff = await pipeline.reaches(handoffId, 'COMPLETED')
  expect(handoff).toMatchObject({ result: 2, costMicroUSD: 10_000 })
  expect((await pipeline.taskEnds(taskId)).spentMicroUSD).toBe(60_000)
})
