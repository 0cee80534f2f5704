// The source's own tests of section 13, by row of the feature list, through real databases and a real auditor.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createHash } from 'node:crypto'
import { countTokens } from '@baton/protocol'
import {
  countAlerts,
  findTask,
  findTaskCheckpoint,
  listAlerts,
  listEscalations,
  listTaskHandoffs,
} from '@baton/store'
import { permanent } from '@baton/sdk'
import type { Agent } from '@baton/sdk'
import { eventually } from '@baton/testkit'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const passOn = (type: string, to: string | undefined, costUSD: number): Agent => ({
  type,
  version: '1.0.0',
  requires: ['text'],
  execute: async (context) =>
    answer(context, {
      costUSD,
      next: to === undefined ? [] : [{ to, taskDescription: `go on with ${to}` }],
    }),
})

let pipeline: Pipeline
const received = recordingAgent('reader')
const attempts: number[] = []
beforeAll(async () => {
  pipeline = await openPipeline('source tests')
  await pipeline.start([
    passOn('clause-extraction', 'legal-analysis', 0.08),
    passOn('legal-analysis', 'risk-scoring', 0.12),
    passOn('risk-scoring', undefined, 0.05),
    received.agent,
    {
      type: 'unreliable',
      version: '1.0.0',
      requires: [],
      execute: async (context) => {
        attempts.push(context.attempt)
        throw new Error('fails right after accepting')
      },
    },
    {
      type: 'hopeless',
      version: '1.0.0',
      requires: [],
      execute: async () => {
        throw permanent('BATON_TEST_HOPELESS', 'no second try can help')
      },
    },
  ])
})
afterAll(() => pipeline.close())

describe('13.2 and 13.3: the chain', () => {
  it('E33, E32a: four agents leave exactly three decision rows, from and to the right agents, with the total cost', async () => {
    const { taskId } = await pipeline.send('clause-extraction')
    const task = await pipeline.taskEnds(taskId)
    expect(task).toMatchObject({ status: 'COMPLETED', spentMicroUSD: 300_000 })
    const rows = await pipeline.decisions(taskId)
    expect(rows.map((row) => [row.fromagent, row.toagent, row.status])).toEqual([
      ['driver', 'clause-extraction', 'ACCEPTED'],
      ['clause-extraction', 'legal-analysis', 'ACCEPTED'],
      ['legal-analysis', 'risk-scoring', 'ACCEPTED'],
    ])
    expect(new Set(rows.map((row) => row.taskid))).toEqual(new Set([taskId]))
    expect(rows.map((row) => Number(row.costathandoff))).toEqual([0.05, 0.13, 0.25])
  })

  it('E32d, E20: every hop deducts, spent + remaining is the budget, and the trace adds up', async () => {
    const { taskId } = await pipeline.send('clause-extraction')
    await pipeline.taskEnds(taskId)
    const hops = await listTaskHandoffs(pipeline.pool, taskId)
    expect(hops.map((hop) => [hop.spentMicroUSD, hop.remainingMicroUSD, hop.costMicroUSD])).toEqual(
      [
        [50_000, 950_000, 80_000],
        [130_000, 870_000, 120_000],
        [250_000, 750_000, 50_000],
      ],
    )
    const trace = await eventually(
      async () => {
        const response = await fetch(new URL(`/v1/traces/${taskId}`, pipeline.system.auditorUrl), {
          headers: { authorization: `Bearer ${pipeline.system.tokens.read}` },
        })
        const body = (await response.json()) as { records: object[]; verified: boolean }
        return body.records.length === 6 && body
      },
      { deadlineMs: 30_000, describe: 'three decisions and three completions are recorded' },
    )
    expect(trace.verified).toBe(true)
  })

  it('E32c: a 50K-token conversation is compressed below the window, with a summary', async () => {
    const turn = 'The parties agree that clause nine limits liability, because the insurer asked. '
    const conversationHistory = Array.from({ length: 125 }, (_, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content: `${index}: ${turn.repeat(28)}`,
    }))
    expect(countTokens(JSON.stringify(conversationHistory))).toBeGreaterThan(50_000)
    const windowTokens = 32_000
    const { handoffId } = await pipeline.send('reader', {
      state: { conversationHistory },
      constraints: { receiverContextWindowTokens: windowTokens },
    })
    await pipeline.reaches(handoffId, 'COMPLETED')
    const message = received.executed.find((one) => one.handoffId === handoffId)?.message
    expect(message?.conversationHistorySummary).not.toBe('')
    expect(message?.conversationHistoryVerbatim.length).toBeGreaterThanOrEqual(5)
    expect(message?.conversationHistoryVerbatim.at(-1)).toEqual(conversationHistory.at(-1))
    expect(countTokens(JSON.stringify(message))).toBeLessThan(windowTokens * 0.8)
  })
})

describe('E15, E32b: rollback', () => {
  it('after three failed attempts restores the checkpoint byte for byte, alerts and escalates', async () => {
    const { handoffId, taskId } = await pipeline.send('unreliable', {
      state: { currentState: { text: 'what the sender knew' } },
    })
    const [saved] = await pipeline.rows<{ body: Buffer; id: string }>(
      'select c.id, c.body from checkpoint c join handoff h on h.checkpoint_id = c.id where h.id = $1',
      [handoffId],
    )
    const handoff = await pipeline.reaches(handoffId, 'ROLLED_BACK')
    expect(handoff).toMatchObject({ attempt: 3, reason: 'BATON_AGENT_FAILED' })
    expect(attempts).toEqual([1, 2, 3])
    expect(await findTask(pipeline.pool, taskId)).toMatchObject({
      status: 'PENDING_HANDOFF',
      checkpointId: saved?.id,
    })
    const checkpoint = await findTaskCheckpoint(pipeline.pool, taskId)
    expect(checkpoint?.body).toEqual(saved?.body)
    expect(
      createHash('sha256')
        .update(checkpoint?.body ?? '')
        .digest(),
    ).toEqual(checkpoint?.sha256)
    expect(JSON.parse(checkpoint?.body.toString() ?? '{}')).toMatchObject({
      handoffId,
      request: {
        targetAgentType: 'unreliable',
        agentState: { currentState: { text: 'what the sender knew' } },
      },
    })
    await countAlerts(pipeline.pool)
    expect(await listAlerts(pipeline.pool, { limit: 100 })).toContainEqual(
      expect.objectContaining({
        kind: 'handoff.rolled_back',
        handoffIds: expect.arrayContaining([handoffId]),
        reason: 'BATON_AGENT_FAILED',
      }),
    )
    expect(await listEscalations(pipeline.pool, { limit: 100 })).toContainEqual(
      expect.objectContaining({ handoffId, attempts: 3 }),
    )
    expect(pipeline.log()).toContain('"event":"alert"')
  })

  it('at once where the agent says that trying again cannot help; the rebuilt handoff then goes on', async () => {
    const { handoffId, taskId } = await pipeline.send('hopeless')
    expect(await pipeline.reaches(handoffId, 'ROLLED_BACK')).toMatchObject({
      attempt: 1,
      reason: 'BATON_TEST_HOPELESS',
    })
    const checkpoint = await findTaskCheckpoint(pipeline.pool, taskId)
    const { request } = JSON.parse(checkpoint?.body.toString() ?? '{}')
    const { handoffId: _used, ...agentState } = request.agentState
    const again = await pipeline.sender.send(agentState, 'reader')
    expect(again).toMatchObject({ taskId, taskSeq: 2 })
    await pipeline.reaches(again.handoffId, 'COMPLETED')
    expect((await pipeline.taskEnds(taskId)).status).toBe('COMPLETED')
  })
})
