// What is for any agent goes to a live one that can take it, always by the same rule; where there is none it is refused, and nothing is stored.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildHandoffMessage } from '@baton/sdk'
import type { AgentContext, AgentResult, HandoffConstraints, JsonObject } from '@baton/sdk'
import { findTask, registerAgents, unregisterAgents } from '@baton/store'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const OCR = { requirements: { capabilities: ['ocr'] } }

const scanner = recordingAgent('scanner', {
  capabilities: ['ocr'],
  execute: async (context) =>
    answer(context, { next: [{ to: '*', taskDescription: 'go on', ...OCR }] }),
})
const reader = recordingAgent('a-reader', { capabilities: ['ocr'], version: '2.1.0' })
/** First by name, and needs state that no task here has. */
const picky = recordingAgent('a-picky', { capabilities: ['ocr'], requires: ['signature'] })
const stuck = recordingAgent('stuck', {
  execute: async (context) =>
    answer(context, {
      next: [{ to: '*', taskDescription: 'go on', requirements: { capabilities: ['unheard-of'] } }],
    }),
})
let spreading: Partial<AgentResult>
const spreader = recordingAgent('spreader', {
  capabilities: ['ocr', 'merge'],
  execute: async (context) => answer(context, spreading),
})
const merging: AgentContext[] = []
/** Takes nothing but what came out of branches. */
const merger = recordingAgent('merger', {
  capabilities: ['merge'],
  requires: ['branches'],
  execute: async (context) => {
    merging.push(context)
    return answer(context)
  },
})

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('any agent')
  const hosted = [scanner, reader, picky, stuck, spreader, merger]
  await pipeline.start(hosted.map(({ agent }) => agent))
})
afterAll(() => pipeline.close())

const storedOf = async (handoffId: string) => {
  const [row] = await pipeline.rows<{ to_agent: string; body: Buffer }>(
    'select h.to_agent, b.body from handoff h join handoff_body b on b.handoff_id = h.id where h.id = $1',
    [handoffId],
  )
  return { toAgent: row?.to_agent, message: JSON.parse(String(row?.body)) }
}

it('goes to the capable type with the most workers, then the first by name, and is sent once', async () => {
  const state = { ...newTask(), handoffId: randomUUID() }
  const sent = await pipeline.sender.send(state, '*', OCR)
  const { toAgent, message } = await storedOf(sent.handoffId)
  expect(toAgent).toBe('a-reader')
  expect(message.toAgent).toEqual({ agentType: 'a-reader' })
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  expect(pipeline.log()).not.toContain('BATON_AGENT_UNKNOWN')
  // By now another type would be chosen.
  const busy = { type: 'z-busy', version: '1.0.0', requires: [], capabilities: ['ocr', 'busy'] }
  const workers = [randomUUID(), randomUUID()]
  for (const worker of workers) await registerAgents(pipeline.pool, worker, [busy])
  const again = await pipeline.sender.send(state, '*', OCR)
  expect(again).toMatchObject({ handoffId: sent.handoffId, duplicate: true })
  const other = await pipeline.sender.send(newTask(), '*', {
    requirements: { capabilities: ['busy'] },
  })
  expect((await storedOf(other.handoffId)).toAgent).toBe('z-busy')
  for (const worker of workers) await unregisterAgents(pipeline.pool, worker)
})

it('keeps to the version range, also for a message that was built elsewhere', async () => {
  const ready = {
    message: buildHandoffMessage(newTask(), '*', { ...OCR, agentVersion: '^2.0.0' }),
    checkpoint: {},
    addedCostMicroUSD: 0,
  }
  const sent = await pipeline.sender.sendMessage(ready)
  expect((await storedOf(sent.handoffId)).message.toAgent).toEqual({
    agentType: 'a-reader',
    agentVersion: '^2.0.0',
  })
  expect(await pipeline.sender.sendMessage(ready)).toMatchObject({ duplicate: true })
})

it('is not handed back to the agent that hands it on', async () => {
  const sent = await pipeline.send('scanner')
  await pipeline.taskEnds(sent.taskId)
  expect(reader.executed.map(({ message }) => message.parentHandoffId)).toContain(sent.handoffId)
})

it.each<[string, HandoffConstraints]>([
  ['a capability', { requirements: { capabilities: ['unheard-of'] } }],
  ['an MCP server', { requirements: { mcp: ['unheard-of'] } }],
  ['a version', { ...OCR, agentVersion: '^9.0.0' }],
])('is refused where nobody has %s that it requires', async (_, constraints) => {
  const state = newTask()
  await expect(pipeline.sender.send(state, '*', constraints)).rejects.toMatchObject({
    code: 'BATON_NO_CAPABLE_AGENT',
  })
  expect(await findTask(pipeline.pool, state.taskId)).toBeUndefined()
})

it('is refused where it is one of several', async () => {
  const receiverList = [{ agentType: '*' }, { agentType: 'a-reader' }]
  const missing = expect.objectContaining({ code: 'BATON_RECEIVER_MISSING' })
  await expect(pipeline.sender.send(newTask(), 'a-reader', { receiverList })).rejects.toEqual(
    missing,
  )
  const join = { to: '*', taskDescription: 'join' }
  await expect(pipeline.sender.send(newTask(), 'a-reader', { join })).rejects.toEqual(missing)
})

it('rolls the handoff back of an agent that hands on what nobody can take', async () => {
  const sent = await pipeline.send('stuck')
  await pipeline.reaches(sent.handoffId, 'ROLLED_BACK')
  const [row] = await pipeline.rows<{ reason: string }>(
    'select reason from handoff where id = $1',
    [sent.handoffId],
  )
  expect(row?.reason).toBe('BATON_NO_CAPABLE_AGENT')
})

it('may be several of what an agent hands on, and what joins them', async () => {
  spreading = {
    next: [
      { to: '*', branch: 'any', taskDescription: 'read', ...OCR },
      { to: '*', taskDescription: 'read too', ...OCR },
      { to: 'a-reader', taskDescription: 'read as well' },
    ],
    join: { to: '*', taskDescription: 'merge', requirements: { capabilities: ['merge'] } },
  }
  const { taskId } = await pipeline.send('spreader')
  expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
  const rows = await pipeline.rows<{ to_agent: string }>(
    'select to_agent from handoff where task_id = $1 order by task_seq',
    [taskId],
  )
  const types = rows.map((row) => row.to_agent)
  expect(types.join(' ')).toBe('spreader a-reader a-reader a-reader merger')
  const [joined] = merging
  expect(joined?.message.toAgent).toEqual({ agentType: 'merger' })
  const branches = joined?.state['branches'] as JsonObject
  expect(Object.keys(branches)).toEqual(['a-reader', 'a-reader-2', 'any'])
})

it.each<[string, Partial<AgentResult>]>([
  [
    'one of several',
    {
      next: [
        { to: 'a-reader', taskDescription: 'read' },
        { to: '*', taskDescription: 'read', requirements: { capabilities: ['unheard-of'] } },
      ],
    },
  ],
  [
    'what joins them',
    {
      next: [{ to: 'a-reader', taskDescription: 'read' }],
      join: { to: '*', taskDescription: 'merge', requirements: { capabilities: ['unheard-of'] } },
    },
  ],
])('rolls all of it back where nobody can take %s that an agent hands on', async (_, result) => {
  spreading = result
  const sent = await pipeline.send('spreader')
  await pipeline.reaches(sent.handoffId, 'ROLLED_BACK')
  const rows = await pipeline.rows('select reason from handoff where task_id = $1', [sent.taskId])
  expect(rows).toEqual([{ reason: 'BATON_NO_CAPABLE_AGENT' }])
})
