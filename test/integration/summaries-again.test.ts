// Corrections, resumptions and what agents outside hand on get the same summaries as first sends; what was paid stays spent (E03, I8).
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createModelSummariser, createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender, SenderOptions } from '@baton/sdk'
import { createLogger } from '@baton/runtime'
import { startModelServer } from '@baton/summarise/fixtures/model-server'
import type { ModelServer } from '@baton/summarise/fixtures/model-server'
import { newTask } from '../fault/driver.ts'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'
import { openPullWorld } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'

const NARRATIVE = 'They went through the file together and found little to object to.'
const USAGE = { prompt: 2_000, completion: 100 }
/** 2,000 tokens at $1 and 100 at $4 for a million. */
const SUMMARY_MICRO_USD = 2_400
/** So many US dollars, and so many summaries. */
const usd = (own: number, summaries: number) =>
  (Math.round(own * 1e6) + summaries * SUMMARY_MICRO_USD) / 1e6

const reader = recordingAgent('reader', { contextWindowTokens: 2_000, requires: ['text'] })

let model: ModelServer
let pipeline: Pipeline
let world: PullWorld
const senders: Sender[] = []
beforeAll(async () => {
  model = await startModelServer()
  model.answer = () => ({ text: NARRATIVE, usage: USAGE })
  pipeline = await openPipeline('summaries-again')
  await pipeline.start([reader.agent])
  world = await openPullWorld('summaries-again')
  await world.startGateway({
    BATON_SUMMARISER_BASE_URL: model.baseUrl,
    BATON_SUMMARISER_PROMPT_PRICE: '1000000',
    BATON_SUMMARISER_COMPLETION_PRICE: '4000000',
  })
})
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.close()))
  await Promise.all([pipeline.close(), world.close()])
  model.close()
})

function senderWith(hooks: Pick<SenderOptions, 'onReturn' | 'onRollback'>) {
  const agentId = `sender-${randomUUID().slice(0, 8)}`
  const sender = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    agents: [agentId],
    logger: createLogger({ service: 'sender', level: 'silent' }),
    summariser: createModelSummariser({
      baseUrl: model.baseUrl,
      model: 'stand-in',
      promptUSDPerMillion: 1,
      completionUSDPerMillion: 4,
      timeoutMs: 5_000,
    }),
    ...hooks,
  })
  senders.push(sender)
  return { sender, state: longTask({ agent: { agentId, agentVersion: '1.0.0' } }) }
}

const talk = { role: 'user', content: 'That sounds good to me, please go on with it. '.repeat(20) }

function longTask(changes: Partial<AgentState> = {}): AgentState {
  const task = newTask()
  return {
    ...task,
    cost: { ...task.cost, ownCostUSD: 0.2 },
    conversationHistory: [
      { role: 'assistant', content: 'The loan is 240,000 EUR.' },
      ...Array.from({ length: 20 }, () => talk),
    ],
    ...changes,
  }
}

const mended = { text: 'now it is there' }

function messageOf(taskId: string) {
  const executed = reader.executed.filter((context) => context.taskId === taskId)
  expect(executed).toHaveLength(1)
  return executed[0]?.message
}

it('E03 writes the summary of a correction anew, and what the first one cost stays spent', async () => {
  const { sender, state } = senderWith({
    onReturn: async () => ({ agentState: { ...state, currentState: mended } }),
  })
  const asked = model.asked.length
  const sent = await sender.send({ ...state, currentState: {} }, 'reader')
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  expect(model.asked).toHaveLength(asked + 2)
  expect(messageOf(sent.taskId)).toMatchObject({
    conversationHistorySummary: expect.stringContaining(NARRATIVE),
    costTracking: { costSpentSoFarUSD: usd(0.2, 2), tokenSpent: { prompt: 4_010 } },
  })
  const { spentMicroUSD } = await pipeline.taskEnds(sent.taskId)
  expect(spentMicroUSD).toBe(usd(0.21, 2) * 1e6)
})

it('corrects by the extract without being refused for what the first summary cost', async () => {
  const { sender, state } = senderWith({
    onReturn: async () => {
      model.answer = () => ({ status: 503 })
      return { agentState: { ...state, currentState: mended } }
    },
  })
  const sent = await sender.send({ ...state, currentState: {} }, 'reader')
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  model.answer = () => ({ text: NARRATIVE, usage: USAGE })
  expect(messageOf(sent.taskId)).toMatchObject({
    costTracking: { costSpentSoFarUSD: usd(0.2, 1) },
  })
})

it('E03 writes the summary of a resumption anew, once, and shows a model nothing that was confidential', async () => {
  const { sender, state } = senderWith({
    onRollback: async ({ resume }) =>
      void (await resume({ agentState: { ...state, currentState: mended } })),
  })
  const asked = model.asked.length
  const sent = await sender.send({ ...state, currentState: {} }, 'reader')
  await pipeline.reaches(sent.handoffId, 'ROLLED_BACK')
  const { spentMicroUSD } = await pipeline.taskEnds(sent.taskId)
  expect(spentMicroUSD).toBe(usd(0.21, 2) * 1e6)
  expect(messageOf(sent.taskId)).toMatchObject({
    conversationHistorySummary: expect.stringContaining(NARRATIVE),
    costTracking: { costSpentSoFarUSD: usd(0.2, 2) },
  })
  expect(model.asked).toHaveLength(asked + 2)
  const secret = senderWith({
    onRollback: async ({ resume }) =>
      void (await resume({ agentState: { ...secret.state, currentState: mended } })),
  })
  const labelled = { ...secret.state, currentState: {}, dataClassification: 'restricted' as const }
  const { taskId } = await secret.sender.send(labelled, 'reader')
  await pipeline.taskEnds(taskId)
  expect(messageOf(taskId)?.conversationHistorySummary).toContain('240,000 EUR')
  expect(model.asked).toHaveLength(asked + 2)
})

it('E03 has the summary written of what an agent outside hands on, and settles it once', async () => {
  const asked = model.asked.length
  const { conversationHistory } = longTask()
  const { handoffId, taskId } = await world.send('intake', {
    state: { conversationHistory: conversationHistory ?? [] },
  })
  const [one] = await world.claim('intake')
  const next = [{ to: 'scoring', taskDescription: 'score it', receiverContextWindowTokens: 2_000 }]
  const done = { outcome: 'complete', costUSD: 0.3, next }
  const claimed = one ?? { handoffId, fencingToken: 0 }
  expect(await world.settle(claimed, done)).toMatchObject({ settled: true, state: 'COMPLETED' })
  expect(await world.settle(claimed, done)).toMatchObject({ settled: true, repeated: true })
  const [scoring] = await world.claim('scoring')
  expect(scoring).toMatchObject({
    taskId,
    message: {
      conversationHistorySummary: expect.stringContaining(NARRATIVE),
      costTracking: { costSpentSoFarUSD: usd(0.35, 1) },
    },
  })
  expect(model.asked).toHaveLength(asked + 1)
})
