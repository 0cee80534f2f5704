// A model condenses what is sent and what is handed on; its cost is the task's, and repeating a send changes nothing (E03, I8).
import { afterAll, beforeAll, expect, it } from 'vitest'
import { inTransaction } from '@baton/store'
import { createModelSummariser, createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import { startModelServer } from '@baton/summarise/fixtures/model-server'
import type { ModelServer } from '@baton/summarise/fixtures/model-server'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const NARRATIVE = 'They went through the file together and found little to object to.'
const FACTS = ['The loan is 240,000 EUR.', 'The ratio must not exceed 80 percent.']
const USAGE = { prompt: 2_000, completion: 100 }
/** 2,000 tokens at $1 and 100 at $4 for a million. */
const SUMMARY_MICRO_USD = 2_400

const first = recordingAgent('first', {
  contextWindowTokens: 100_000,
  execute: async (context) =>
    answer(context, { costUSD: 0.2, next: [{ to: 'second', taskDescription: 'go on' }] }),
})
const second = recordingAgent('second', { contextWindowTokens: 2_000 })
const third = recordingAgent('third', { contextWindowTokens: 2_000 })

let model: ModelServer
let pipeline: Pipeline
let sender: Sender
beforeAll(async () => {
  model = await startModelServer()
  model.answer = () => ({ text: NARRATIVE, usage: USAGE })
  pipeline = await openPipeline('summaries')
  // Neither knows the other but by what it registered.
  await pipeline.start([second.agent, third.agent])
  await pipeline.start([first.agent], { summariser: summariser() })
  sender = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    summariser: summariser(),
    metrics: pipeline.metrics,
  })
})
afterAll(async () => {
  await sender.close()
  await pipeline.close()
  model.close()
})

const summariser = () =>
  createModelSummariser({
    baseUrl: model.baseUrl,
    model: 'stand-in',
    promptUSDPerMillion: 1,
    completionUSDPerMillion: 4,
    timeoutMs: 5_000,
  })

const talk = { role: 'user', content: 'That sounds good to me, please go on with it. '.repeat(20) }

function longTask(changes: Partial<AgentState> = {}): AgentState {
  const task = newTask()
  const said = FACTS.map((content) => ({ role: 'assistant', content }))
  return {
    ...task,
    cost: { ...task.cost, ownCostUSD: 0.2, tokenSpent: { prompt: 10, completion: 5 } },
    conversationHistory: [...said, ...Array.from({ length: 20 }, () => talk)],
    ...changes,
  }
}

it('E03 writes the summary of what is sent, and books it with what the sender spent', async () => {
  const asked = model.asked.length
  const state = longTask()
  const sent = await sender.send(state, 'second')
  expect(await sender.send(state, 'second')).toMatchObject({ duplicate: true })
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  const message = second.executed.at(-1)?.message
  for (const text of [NARRATIVE, ...FACTS.map((fact) => fact.slice(0, -1))])
    expect(message?.conversationHistorySummary).toContain(text)
  expect(message?.costTracking).toMatchObject({
    costSpentSoFarUSD: (state.cost.spentSoFarUSD * 1e6 + 200_000 + SUMMARY_MICRO_USD) / 1e6,
    tokenSpent: { prompt: 2_010, completion: 105 },
  })
  const { spentMicroUSD } = await pipeline.taskEnds(sent.taskId)
  expect(spentMicroUSD).toBe(state.cost.spentSoFarUSD * 1e6 + 210_000 + SUMMARY_MICRO_USD)
  // What stands is known: nobody is asked, or paid, again.
  expect(model.asked).toHaveLength(asked + 1)
})

it('E03 repeats a send to several receivers without asking again, whatever the model would cost by now', async () => {
  const { cost, ...rest } = longTask()
  const state = { ...rest, cost: { ...cost, ownCostUSD: 0.3 } }
  const receiverList = [{ agentType: 'second' }, { agentType: 'third' }]
  const asked = model.asked.length
  const sent = await sender.send(state, 'second', { receiverList })
  expect(model.asked).toHaveLength(asked + 2)
  model.answer = () => ({ text: NARRATIVE, usage: { prompt: 1, completion: 1 } })
  const repeated = await sender.send(state, 'second', { receiverList })
  model.answer = () => ({ text: NARRATIVE, usage: USAGE })
  expect(repeated).toMatchObject({
    duplicate: true,
    branches: sent.branches?.map(({ handoffId }) => ({ handoffId })),
  })
  expect(model.asked).toHaveLength(asked + 2)
  await expect(
    sender.send({ ...state, taskDescription: 'another' }, 'second', { receiverList }),
  ).rejects.toMatchObject({ code: 'BATON_HANDOFF_CONFLICT' })
})

it('compresses within the caller’s transaction too, and as far as the request wants', async () => {
  const sent = await inTransaction(pipeline.pool, (transaction) =>
    sender.sendIn(transaction, longTask(), {
      agentType: 'second',
      constraints: { verbatimTurns: 1 },
    }),
  )
  const whole = await sender.send(longTask(), 'second', { receiverContextWindowTokens: 100_000 })
  for (const { handoffId } of [sent, whole]) await pipeline.reaches(handoffId, 'COMPLETED')
  const turnsOf = (handoffId: string) =>
    second.executed.find((one) => one.handoffId === handoffId)?.message.conversationHistoryVerbatim
  expect(turnsOf(sent.handoffId)).toEqual([talk])
  expect(turnsOf(whole.handoffId)).toHaveLength(22)
})

it('E03 sends in the caller’s transaction what was written before it began', async () => {
  const state = longTask()
  const asked = model.asked.length
  const summary = await sender.summarise(state, { agentType: 'second' })
  expect(model.asked).toHaveLength(asked + 1)
  const sent = await inTransaction(pipeline.pool, (transaction) =>
    sender.sendIn(transaction, state, { agentType: 'second', summary }),
  )
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  expect(second.executed.at(-1)?.message).toMatchObject({
    handoffId: sent.handoffId,
    conversationHistorySummary: expect.stringContaining(NARRATIVE),
    pinnedFacts: { constraints: [expect.any(String)] },
  })
  const { spentMicroUSD } = await pipeline.taskEnds(sent.taskId)
  expect(spentMicroUSD).toBe(state.cost.spentSoFarUSD * 1e6 + 210_000 + SUMMARY_MICRO_USD)
  expect(await sender.summarise(state, { agentType: 'second' })).toBeUndefined()
  expect(model.asked).toHaveLength(asked + 1)
})

it('writes the summary of what an agent hands on, as a part of what its execution cost', async () => {
  const state = longTask()
  const sent = await sender.send(state, 'first')
  await pipeline.reaches(sent.handoffId, 'COMPLETED')
  const { spentMicroUSD } = await pipeline.taskEnds(sent.taskId)
  const message = second.executed.at(-1)?.message
  expect(message).toMatchObject({
    taskId: sent.taskId,
    conversationHistorySummary: expect.stringContaining(NARRATIVE),
    costTracking: { tokenSpent: { prompt: 2_001, completion: 101 } },
  })
  expect(spentMicroUSD).toBe(state.cost.spentSoFarUSD * 1e6 + 410_000 + SUMMARY_MICRO_USD)
})

it('shows a model nothing that must stay where it is, or is confidential', async () => {
  const asked = model.asked.length
  const state = longTask({ dataClassification: 'confidential' })
  const sent = await sender.send(state, 'first')
  await pipeline.taskEnds(sent.taskId)
  expect(second.executed.at(-1)?.message.conversationHistorySummary).toContain(
    FACTS[0]?.slice(0, -1),
  )
  expect(model.asked).toHaveLength(asked)
})
