// What is for any agent goes to a live one that can take it, always by the same rule; where there is none it is refused, and nothing is stored.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildHandoffMessage } from '@baton/sdk'
import type { HandoffConstraints } from '@baton/sdk'
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

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('any agent')
  await pipeline.start([scanner.agent, reader.agent, picky.agent, stuck.agent])
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
