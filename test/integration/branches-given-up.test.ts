// A join that waits for a person goes on as they decide: what came back is given up.
import { requestCancel } from '@baton/engine'
import { permanent } from '@baton/runtime'
import type { AgentContext, NextHandoff } from '@baton/sdk'
import { findTask, listTaskHandoffs } from '@baton/store'
import type { HandoffView } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'
import { traceWith } from './recorded-trace.ts'

let pipeline: Pipeline

const branch = (name: string): NextHandoff => ({
  to: 'worker',
  branch: name,
  taskDescription: name,
})
const isBad = ({ message }: AgentContext) => message.taskDescription.startsWith('bad')

beforeAll(async () => {
  pipeline = await openPipeline('branches given up')
  const forker = recordingAgent('forker', {
    execute: async (context) =>
      answer(context, {
        next: [branch('bad'), branch('good'), branch('bad too')],
        join: { to: 'joiner', taskDescription: 'join' },
      }),
  })
  const worker = recordingAgent('worker', {
    async execute(context) {
      if (isBad(context)) throw permanent('BATON_WORKER_CANNOT', 'no')
      return answer(context, { result: 'done' })
    },
  })
  const joiner = recordingAgent('joiner', {
    execute: async (context) => answer(context, { result: context.state['branches'] ?? null }),
  })
  await pipeline.start([forker.agent, worker.agent, joiner.agent])
})
afterAll(() => pipeline.close())

/** A task whose join waits for two branches that came back, in the order in which they were begun. */
async function waiting(): Promise<{ taskId: string; back: readonly HandoffView[] }> {
  const { taskId } = await pipeline.send('forker')
  const back = await eventually(
    async () => {
      const all = await listTaskHandoffs(pipeline.pool, taskId)
      const ended = all.filter(({ state }) => state === 'ROLLED_BACK')
      return ended.length === 2 && all.every(({ endedAt }) => endedAt !== null) && ended
    },
    { deadlineMs: 15_000, describe: () => 'two branches have come back' },
  )
  return { taskId, back }
}

const giveUp = (handoffId: string) =>
  requestCancel(pipeline.pool, { handoffId, graceMs: 0, actor: 'someone' })

it('is joined without what a person has given up, which is on record', async () => {
  const { taskId, back } = await waiting()
  const [first = '', second = ''] = back.map(({ handoffId }) => handoffId)
  expect(await giveUp(first)).toMatchObject({ kind: 'canceled', ended: [first], repeated: false })
  expect((await findTask(pipeline.pool, taskId))?.status).toBe('PENDING_HANDOFF')
  expect(await giveUp(first)).toMatchObject({ kind: 'canceled', ended: [], repeated: true })
  await giveUp(second)
  const task = await pipeline.taskEnds(taskId)
  const outcome = { outcome: 'ROLLED_BACK', reason: 'BATON_WORKER_CANNOT', result: null }
  expect(task).toMatchObject({
    status: 'COMPLETED',
    result: { bad: outcome, good: { outcome: 'COMPLETED', result: 'done' }, 'bad too': outcome },
  })
  const asked = await eventually(
    async () => {
      const { records } = await traceWith(pipeline, taskId, 'CANCEL_REQUESTED')
      const found = records.filter(({ body }) => body.event === 'CANCEL_REQUESTED')
      return found.length === 2 && found
    },
    { deadlineMs: 15_000, describe: () => 'both are recorded' },
  )
  expect(asked.map(({ body }) => [body.handoffId, body.act?.actor])).toEqual([
    [first, 'someone'],
    [second, 'someone'],
  ])
  const open = await pipeline.rows(
    'select handoff_id from escalation where task_id = $1 and resolved_at is null',
    [taskId],
  )
  expect(open).toEqual([])
})

it('lets nobody give up what has come to a result', async () => {
  const { taskId, back } = await waiting()
  const good = (await listTaskHandoffs(pipeline.pool, taskId)).find(
    ({ state, toAgent }) => state === 'COMPLETED' && toAgent === 'worker',
  )
  expect(await giveUp(good?.handoffId ?? '')).toEqual({ kind: 'ended', state: 'COMPLETED' })
  await Promise.all(back.map(({ handoffId }) => giveUp(handoffId)))
  expect((await pipeline.taskEnds(taskId)).status).toBe('COMPLETED')
})
