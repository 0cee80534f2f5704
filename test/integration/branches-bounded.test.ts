// How far a task fans out is bounded (I12): how deep fan-outs stand within one another, and how many branches go on at once.
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentContext, AgentResult } from '@baton/sdk'
import { findTask } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, gate, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const BOUNDS = { depthMax: 2, openMax: 4 }

let pipeline: Pipeline
let working: (context: AgentContext) => Promise<Partial<AgentResult>>

beforeAll(async () => {
  pipeline = await openPipeline('branches bounded')
  const worker = recordingAgent('worker', {
    execute: async (context) => answer(context, await working(context)),
  })
  await pipeline.start([worker.agent, recordingAgent('joiner').agent], { fanOuts: BOUNDS })
})
afterAll(() => pipeline.close())

const join = { to: 'joiner', taskDescription: 'join', onFailure: 'skip' } as const
const branches = (...names: readonly string[]) =>
  names.map((taskDescription) => ({ to: 'worker', taskDescription }))

const endsOf = (taskId: string) =>
  pipeline.rows<{ to_agent: string; state: string; reason: string | null }>(
    'select to_agent, state, reason from handoff where task_id = $1 order by task_seq',
    [taskId],
  )

it('takes fan-outs within one another as deep as may be, and rolls back what goes deeper', async () => {
  working = async ({ message: { taskDescription: name } }) =>
    name.length < 4 ? { next: branches(`${name}.`), join } : { result: name }
  const { taskId } = await pipeline.send('worker', { state: { taskDescription: 'x' } })
  await pipeline.taskEnds(taskId)
  expect(await endsOf(taskId)).toEqual([
    { to_agent: 'worker', state: 'COMPLETED', reason: null },
    { to_agent: 'worker', state: 'COMPLETED', reason: null },
    { to_agent: 'worker', state: 'ROLLED_BACK', reason: 'BATON_FAN_OUT_TOO_DEEP' },
  ])
})

it('counts the branches of a task that go on, those of its other fan-outs too', async () => {
  const refused = gate()
  working = async ({ message: { taskDescription: name } }) => {
    if (name === 'all') return { next: branches('wide', 'narrow'), join }
    if (name === 'wide') return { next: branches('a', 'b', 'c'), join }
    await refused.opened
    return { result: name }
  }
  const { taskId } = await pipeline.send('worker', { state: { taskDescription: 'all' } })
  const wide = () => endsOf(taskId).then((ends) => ends.some(({ reason }) => reason !== null))
  await eventually(wide, { deadlineMs: 15_000, describe: 'what is too wide is rolled back' })
  refused.open()
  expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
  const reasons = (await endsOf(taskId)).map(({ reason }) => reason)
  expect(reasons).toEqual([null, 'BATON_BRANCHES_OPEN', null, null])
})

it('lets a task fan out as often as it will where each fan-out is over before the next', async () => {
  working = async ({ message: { taskDescription: name } }) =>
    /^x{1,3}$/.test(name)
      ? {
          next: branches('a', 'b', 'c', 'd'),
          join: { ...join, to: 'worker', taskDescription: `${name}x` },
        }
      : { result: name }
  const { taskId } = await pipeline.send('worker', { state: { taskDescription: 'x' } })
  expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED', result: 'xxxx' })
  expect(await endsOf(taskId)).toHaveLength(16)
})

it('refuses a sender’s receiver list of more, and stores nothing of it', async () => {
  const sender = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    fanOuts: { depthMax: 1, openMax: 1 },
  })
  const state = newTask()
  const receiverList = ['worker', 'joiner'].map((agentType) => ({ agentType }))
  await expect(sender.send(state, 'worker', { receiverList })).rejects.toMatchObject({
    code: 'BATON_BRANCHES_OPEN',
  })
  expect(await findTask(pipeline.pool, state.taskId)).toBeUndefined()
  await sender.close()
})
