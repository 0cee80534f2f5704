// A sender that names several receivers: each gets a full copy as a branch of its own, within one budget, and what joins them (E28).
import { randomUUID } from 'node:crypto'
import type { AgentContext, AgentResult, HandoffConstraints, JoinHandoff } from '@baton/sdk'
import { createKnownReceivers, resumeTask } from '@baton/engine'
import { createLogger, permanent } from '@baton/runtime'
import { buildHandoffMessage, parseSigningKeys } from '@baton/sdk'
import { findTask, inTransaction, listTaskHandoffs, storeInvariants } from '@baton/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const WORKERS = ['north', 'south', 'west'] as const
const LIST = WORKERS.map((agentType) => ({ agentType }))

let pipeline: Pipeline
let working: (context: AgentContext) => Partial<AgentResult>
const got = new Map<string, AgentContext>()
const workers = WORKERS.map(
  (type) =>
    recordingAgent(type, {
      execute: async (context) => {
        got.set(type, context)
        return answer(context, { costUSD: 0.1, ...working(context) })
      },
    }).agent,
)
const joined: AgentContext[] = []
const joiner = recordingAgent('joiner', {
  execute: async (context) => {
    joined.push(context)
    return answer(context, { result: context.state['branches'] ?? null })
  },
})

beforeAll(async () => {
  pipeline = await openPipeline('receiver_list')
  working = ({ message }) => ({ result: `of ${message.toAgent.agentType}` })
  await pipeline.start([...workers, joiner.agent])
})
afterAll(() => pipeline.close())

const join = (changes: Partial<JoinHandoff> = {}): JoinHandoff => ({
  to: 'joiner',
  taskDescription: 'bring it together',
  ...changes,
})
const toAll = (changes: HandoffConstraints = {}): HandoffConstraints => ({
  receiverList: LIST,
  join: join(),
  ...changes,
})
const nothingOf = async (taskId: string) => {
  expect(await findTask(pipeline.pool, taskId)).toBeUndefined()
  expect(await listTaskHandoffs(pipeline.pool, taskId)).toEqual([])
}

describe('E28 a receiver list', () => {
  it('gives each receiver a full copy, part of the budget, and the join what came of all', async () => {
    const state = { ...newTask(), dataClassification: 'confidential' as const }
    const sent = await pipeline.sender.send(state, 'south', toAll({ priority: 1 }))
    expect(sent).toMatchObject({ handoffId: state.handoffId, taskId: state.taskId })
    expect(sent.branches?.map(({ branch, toAgent }) => [branch, toAgent])).toEqual(
      WORKERS.map((type) => [type, type]),
    )
    const task = await pipeline.taskEnds(sent.taskId)
    // 1 USD: the sender spent 0.05, each receiver 0.1, the join 0.01.
    expect(task).toMatchObject({ status: 'COMPLETED', spentMicroUSD: 360_000 })
    const outcome = { outcome: 'COMPLETED', reason: null, costUSD: 0.1 }
    expect(task.result).toEqual(
      Object.fromEntries(
        sent.branches?.map(({ branch, handoffId }) => [
          branch,
          { ...outcome, agent: branch, handoffId, result: `of ${branch}` },
        ]) ?? [],
      ),
    )
    for (const type of WORKERS) {
      const { toAgent, receiverList, currentState, priority, costTracking } =
        got.get(type)?.message ?? {}
      expect({ toAgent, receiverList, currentState, priority }).toEqual({
        toAgent: { agentType: type },
        receiverList: LIST,
        currentState: state.currentState,
        priority: 1,
      })
      // 0.95 are left for three receivers and the join.
      expect(costTracking).toMatchObject({
        costSpentSoFarUSD: 0.05,
        costBudgetRemainingUSD: 0.2375,
      })
    }
    expect(joined.at(-1)?.message).toMatchObject({
      taskDescription: 'bring it together',
      dataClassification: 'confidential',
      priority: 1,
      costTracking: { costSpentSoFarUSD: 0.35, costBudgetRemainingUSD: 0.65 },
    })
    const records = await pipeline.decisions(sent.taskId)
    expect(records.map(({ toagent }) => toagent).toSorted()).toEqual(['joiner', ...WORKERS])
  })

  it('is the same send when it is repeated, and another with another join', async () => {
    const { agent, ...given } = newTask()
    const { executionId: _, ...anonymous } = agent
    const state = { ...given, agent: anonymous }
    const together = await Promise.all([
      pipeline.sender.send(state, 'north', toAll()),
      pipeline.sender.send(state, 'north', toAll()),
    ])
    const [first] = together
    expect(together.map(({ duplicate }) => duplicate).toSorted()).toEqual([false, true])
    expect(await pipeline.sender.send(state, 'north', toAll())).toMatchObject({
      duplicate: true,
      branches: first.branches,
    })
    await expect(
      pipeline.sender.send(state, 'north', toAll({ join: join({ waitFor: 1 }) })),
    ).rejects.toMatchObject({ code: 'BATON_HANDOFF_CONFLICT' })
    await expect(pipeline.sender.send(state, 'north', {})).rejects.toMatchObject({
      code: 'BATON_HANDOFF_CONFLICT',
    })
    const { spentMicroUSD } = await pipeline.taskEnds(first.taskId)
    expect(spentMicroUSD).toBe(360_000)
    expect(await listTaskHandoffs(pipeline.pool, first.taskId)).toHaveLength(4)
  })

  it('is joined where its sender had completed nothing, and whatever its text is', async () => {
    const first = { ...newTask(), completedSubtasks: [], taskDescription: 'INITIAL' }
    const taskDescription = 'bring it\u0000together'
    const { taskId } = await pipeline.sender.send(
      first,
      'south',
      toAll({ join: join({ taskDescription }) }),
    )
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
    expect(joined.at(-1)?.message).toMatchObject({ taskId, taskDescription })
  })

  it('ends its task with the last of its branches where nothing joins them', async () => {
    const sent = await pipeline.sender.send(newTask(), 'west', { receiverList: LIST })
    const { status, result } = await pipeline.taskEnds(sent.taskId)
    expect({ status, result }).toMatchObject({
      status: 'COMPLETED',
      result: { branches: { north: { result: 'of north' }, west: { result: 'of west' } } },
    })
  })

  it('goes out for a ready message too, signed for each receiver', async () => {
    const message = buildHandoffMessage(newTask(), 'north', { receiverList: LIST })
    const ready = { message, checkpoint: { step: 3 }, addedCostMicroUSD: 50_000, join: join() }
    const sent = await pipeline.sender.sendMessage(ready)
    expect(await pipeline.sender.sendMessage(ready)).toMatchObject({
      duplicate: true,
      branches: sent.branches,
    })
    await expect(
      pipeline.sender.sendMessage({ ...ready, join: join({ to: 'north' }) }),
    ).rejects.toMatchObject({ code: 'BATON_HANDOFF_CONFLICT' })
    expect(await pipeline.taskEnds(sent.taskId)).toMatchObject({
      status: 'COMPLETED',
      spentMicroUSD: 360_000,
    })
  })

  it('goes on with a task that is there, within what it has left', async () => {
    const begun = newTask()
    working = () => ({ next: [] })
    const first = await pipeline.sender.send(
      { ...begun, cost: { ...begun.cost, ownCostUSD: 0.2 } },
      'north',
      { join: join({ to: 'south' }), requiresApproval: true },
    )
    const { taskId, traceparent } = begun
    const more = { ...newTask(), taskId, traceparent, parentHandoffId: first.handoffId }
    const cost = { ...more.cost, spentSoFarUSD: 0.2, budgetRemainingUSD: 0.8 }
    await expect(
      pipeline.sender.send({ ...more, cost }, 'north', { receiverList: LIST }),
    ).rejects.toMatchObject({ code: 'BATON_BUDGET_MISMATCH' })
    await expect(pipeline.sender.send(more, 'north', { receiverList: LIST })).rejects.toMatchObject(
      { code: 'BATON_BUDGET_MISMATCH' },
    )
    const given = { ...cost, spentSoFarUSD: 0.6, budgetRemainingUSD: 0.4 }
    const sent = await pipeline.sender.send({ ...more, cost: given }, 'north', {
      receiverList: LIST,
    })
    expect(sent.branches).toHaveLength(3)
    expect(await findTask(pipeline.pool, begun.taskId)).toMatchObject({ budgetMicroUSD: 1_000_000 })
    working = ({ message }) => ({ result: `of ${message.toAgent.agentType}` })
  })
})

it('waits for a person where a copy was rolled back; its resumption leaves the others alone', async () => {
  const { working: before } = { working }
  working = (context) => {
    if (context.message.toAgent.agentType === 'south') throw permanent('BATON_TEST', 'no')
    return before(context)
  }
  const sent = await pipeline.sender.send(newTask(), 'north', toAll())
  const copy = sent.branches?.[1]?.handoffId ?? ''
  await pipeline.reaches(copy, 'ROLLED_BACK')
  working = before
  const keyRing = parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? '')
  const logger = createLogger({ service: 'test', level: 'silent' })
  await resumeTask(
    {
      pool: pipeline.pool,
      keyRing,
      attemptsMax: 3,
      receivers: createKnownReceivers(pipeline),
      metrics: pipeline.metrics,
      logger,
    },
    { taskId: sent.taskId, handoffId: copy, actor: 'someone', sentBy: null },
  )
  const { result } = await pipeline.taskEnds(sent.taskId)
  expect(result).toMatchObject({
    north: { result: 'of north' },
    south: { outcome: 'COMPLETED', result: 'of south' },
  })
  expect(await listTaskHandoffs(pipeline.pool, sent.taskId)).toHaveLength(5)
})

it.each<[string, string, HandoffConstraints, object]>([
  ['a target that is not among them', 'joiner', toAll(), { code: 'BATON_RECEIVER_LIST_INVALID' }],
  [
    'a join that asks for more than is left',
    'north',
    toAll({ join: join({ budgetUSD: 2 }) }),
    { code: 'BATON_BUDGET_EXCEEDED' },
  ],
  [
    'a join that waits for more than there are',
    'north',
    toAll({ join: join({ waitFor: 4 }) }),
    { code: 'BATON_JOIN_IMPOSSIBLE' },
  ],
  [
    'a single receiver that is not the target',
    'joiner',
    { receiverList: [{ agentType: 'north' }] },
    { code: 'BATON_RECEIVER_LIST_INVALID' },
  ],
  ...[
    [{ to: 'join\ner' }, '/join/to'] as const,
    [{ agentVersion: 'one or two' }, '/join/agentVersion'] as const,
  ].map(([changes, pointer]): [string, string, HandoffConstraints, object] => [
    `a join whose message nobody would take for ${pointer}`,
    'north',
    toAll({ join: join(changes) }),
    { code: 'BATON_HANDOFF_INVALID', details: [{ pointer }] },
  ]),
  [
    'copies that are too much for one commit',
    'north',
    toAll({
      receiverList: Array.from({ length: 200 }, (_, nth) => ({
        agentType: nth === 0 ? 'north' : `r${nth}`,
      })),
      list: Array.from({ length: 400 }, (_, nth) => `${nth}:${'x'.repeat(200)}`),
    }),
    { code: 'BATON_FAN_OUT_TOO_LARGE' },
  ],
  [
    'a join that is none',
    'north',
    toAll({ join: { ...join(), onFailure: 'shrug' as 'fail' } }),
    { code: 'BATON_HANDOFF_INVALID', details: [{ pointer: '/join/onFailure' }] },
  ],
])('refuses %s, and stores nothing', async (_, target, constraints, problem) => {
  const state = newTask()
  await expect(pipeline.sender.send(state, target, constraints)).rejects.toMatchObject(problem)
  await nothingOf(state.taskId)
})

it('commits with the caller’s transaction or not at all', async () => {
  const state = newTask()
  const target = { agentType: 'north', constraints: toAll() }
  const failing = inTransaction(pipeline.pool, async (transaction) => {
    await pipeline.sender.sendIn(transaction, state, target)
    throw permanent('BATON_TEST', 'changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  await nothingOf(state.taskId)
  const sent = await inTransaction(pipeline.pool, (transaction) =>
    pipeline.sender.sendIn(transaction, { ...state, handoffId: randomUUID() }, target),
  )
  expect(await pipeline.taskEnds(sent.taskId)).toMatchObject({ status: 'COMPLETED' })
})

it('keeps the promises', async () => {
  const broken = await Promise.all(
    storeInvariants(pipeline.pool).map(async ({ rule, check }) => ({ rule, ids: await check() })),
  )
  expect(broken.filter(({ ids }) => ids.length > 0)).toEqual([])
})
