// A task through eight agents, as long as the longest chains that Baton is used for: one trace, one budget, one record for each decision, and
// its trace read back in seconds.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findTask, listTaskHandoffs } from '@baton/store'
import { eventually } from '@baton/testkit'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const LENGTH = 8
const TASKS = 3
/** Eight agents on a busy machine. */
const DEADLINE_MS = 60_000
/** What the longest trace may take to be shown. */
const TRACE_LIMIT_MS = 30_000

const names = Array.from({ length: LENGTH }, (_, index) => `agent-${index + 1}`)
const chain = names.map((name, index) => {
  const next = names[index + 1]
  const recorded = recordingAgent(name, {
    async execute(context) {
      recorded.executed.push(context)
      const state = { ...context.state, [name]: `what ${name} found` }
      return answer(context, {
        state,
        next: next === undefined ? [] : [{ to: next, taskDescription: `Go on as ${next}` }],
      })
    },
  })
  return recorded
})

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('long chain')
  await pipeline.start(chain.map(({ agent }) => agent))
})
afterAll(() => pipeline.close())

const ends = (taskId: string) =>
  eventually(
    async () => {
      const task = await findTask(pipeline.pool, taskId)
      return task?.status === 'COMPLETED' && task
    },
    { deadlineMs: DEADLINE_MS, describe: `task ${taskId} ends` },
  )

it('E34 is executed once at each agent, in order, with everything that was found before', async () => {
  const sent = await Promise.all(Array.from({ length: TASKS }, () => pipeline.send('agent-1')))
  for (const { taskId } of sent) {
    expect(await ends(taskId)).toMatchObject({ spentMicroUSD: 50_000 + LENGTH * 10_000 })
    const handoffs = await listTaskHandoffs(pipeline.pool, taskId)
    expect(handoffs.map(({ toAgent, state, attempt }) => [toAgent, state, attempt])).toEqual(
      names.map((name) => [name, 'COMPLETED', 1]),
    )
    const contexts = chain.map(({ executed }) => executed.filter((one) => one.taskId === taskId))
    expect(contexts.map(({ length }) => length)).toEqual(names.map(() => 1))
    const last = contexts.at(-1)?.[0]
    expect(last?.state).toMatchObject(
      Object.fromEntries(names.slice(0, -1).map((name) => [name, `what ${name} found`])),
    )
    expect(last?.message.completedSubtasks).toHaveLength(LENGTH)
    for (const [index, [context]] of contexts.entries())
      expect(context?.message.costTracking.costBudgetRemainingUSD).toBeCloseTo(
        0.95 - index * 0.01,
        6,
      )
  }
})

it('E34 stands in the log whole, in one trace, and is read back in time', async () => {
  const { taskId } = await pipeline.send('agent-1')
  await ends(taskId)
  const decisions = await pipeline.decisions(taskId)
  expect(decisions.map(({ toagent, status }) => [toagent, status])).toEqual(
    names.map((name) => [name, 'ACCEPTED']),
  )
  expect(new Set(decisions.map(({ traceparent }) => traceparent.split('-')[1])).size).toBe(1)
  const startedAt = performance.now()
  const response = await fetch(`${pipeline.system.auditorUrl}/v1/traces/${taskId}`, {
    headers: { authorization: `Bearer ${pipeline.system.tokens.read}` },
  })
  const trace = (await response.json()) as { verified: boolean; records: readonly unknown[] }
  expect(performance.now() - startedAt).toBeLessThan(TRACE_LIMIT_MS)
  expect(trace.verified).toBe(true)
  expect(trace.records.length).toBeGreaterThanOrEqual(LENGTH)
})
