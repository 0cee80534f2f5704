// E09, E15: what is refused comes back to its sender, who corrects it; what is rolled back is taken up again from the checkpoint.
import { randomUUID } from 'node:crypto'
import { buildHandoffMessage, createSender, parseSigningKeys } from '@baton/sdk'
import type {
  AgentState,
  ReturnedHandoff,
  RolledBackHandoff,
  Sender,
  SenderOptions,
} from '@baton/sdk'
import { createLogger } from '@baton/runtime'
import { findHandoff, findTask, listTaskHandoffs } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, FAST_RETRIES, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'
import { traceWith } from './recorded-trace.ts'

let pipeline: Pipeline
const reader = recordingAgent('reader', { requires: ['text'] })
const senders: Sender[] = []
const quietLogger = createLogger({ service: 'sender', level: 'silent' })
beforeAll(async () => {
  pipeline = await openPipeline('returns')
  await pipeline.start([
    reader.agent,
    {
      type: 'forgetful',
      version: '1.0.0',
      requires: [],
      execute: async (context) =>
        answer(context, { state: {}, next: [{ to: 'reader', taskDescription: 'read it' }] }),
      onReturn: async (returned) => {
        const agentState = askedFor(returned)
        return { agentState: { ...agentState, currentState: { text: 'found again' } } }
      },
    },
  ])
})
afterAll(async () => {
  await Promise.all(senders.map((sender) => sender.close()))
  await pipeline.close()
})

function senderWith(hooks: Pick<SenderOptions, 'onReturn' | 'onRollback' | 'correctionMs'>) {
  const agentId = `sender-${randomUUID().slice(0, 8)}`
  const sender = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    agents: [agentId],
    logger: quietLogger,
    ...hooks,
  })
  senders.push(sender)
  const state = (changes: Partial<AgentState> = {}): AgentState => ({
    ...newTask(),
    agent: { agentId, agentVersion: '1.0.0', executionId: randomUUID() },
    ...changes,
  })
  return { sender, agentId, state }
}

/** The agent state that the sender had given. */
const askedFor = ({ saved }: Pick<ReturnedHandoff, 'saved'>): AgentState =>
  saved.request?.agentState as unknown as AgentState

describe('a returned handoff', () => {
  it('is corrected by the hook of its sender, and completes as revision 2 of the same handoff', async () => {
    const told: ReturnedHandoff[] = []
    const { sender, agentId, state } = senderWith({
      onReturn: async (returned) => {
        told.push(returned)
        const agentState = askedFor(returned)
        return { agentState: { ...agentState, currentState: { text: 'now it is there' } } }
      },
    })
    const { handoffId, taskId } = await sender.send(state({ currentState: {} }), 'reader')
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(told).toMatchObject([
      {
        handoffId,
        taskId,
        fromAgent: agentId,
        toAgent: 'reader',
        attempt: 1,
        attemptsMax: 3,
        revision: 1,
        reason: 'INCOMPLETE_CONTEXT',
        details: [{ pointer: '/currentState/text', fix: expect.any(String) }],
        message: { handoffId, currentState: {} },
      },
    ])
    const executed = reader.executed.find((context) => context.handoffId === handoffId)
    expect(executed).toMatchObject({ attempt: 2, state: { text: 'now it is there' } })
    expect(await listTaskHandoffs(pipeline.pool, taskId)).toHaveLength(1)
    const trace = await traceWith(
      pipeline,
      taskId,
      'HANDOFF_RETURNED',
      'HANDOFF_REVISED',
      'EXECUTION_COMPLETED',
    )
    expect(trace.verified).toBe(true)
    const revised = trace.records.find(({ body }) => body.event === 'HANDOFF_REVISED')
    expect(revised?.body).toMatchObject({ handoffId, act: { actor: agentId } })
  })

  it('is corrected as a message where its sender builds messages itself', async () => {
    const { sender, state } = senderWith({
      onReturn: async ({ message }) => ({ message: { ...message, taskDescription: 'Read it' } }),
    })
    const broken = builtMessage(state())
    const { handoffId } = await sender.sendMessage({
      message: { ...broken, taskDescription: 7 as unknown as string },
      checkpoint: { at: 'the beginning' },
      addedCostMicroUSD: 0,
    })
    await pipeline.reaches(handoffId, 'COMPLETED')
    const executed = reader.executed.find((context) => context.handoffId === handoffId)
    expect(executed?.message.taskDescription).toBe('Read it')
  })

  it('of a hosted agent is corrected by that agent', async () => {
    const { taskId } = await pipeline.send('forgetful')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
    const executed = reader.executed.find((context) => context.taskId === taskId)
    expect(executed).toMatchObject({ state: { text: 'found again' }, attempt: 2 })
  })

  it('that its sender cannot correct runs out of attempts and rolls back, with an escalation', async () => {
    const told: number[] = []
    const { sender, state } = senderWith({
      onReturn: async ({ attempt }) => void told.push(attempt) as undefined,
    })
    const { handoffId } = await sender.send(state({ currentState: {} }), 'reader')
    expect(await pipeline.reaches(handoffId, 'ROLLED_BACK')).toMatchObject({
      attempt: 3,
      reason: 'INCOMPLETE_CONTEXT',
    })
    expect(told).toEqual([1, 2])
  })

  it('that nobody answers for is tried again within the bounds of the jitter, then rolls back', async () => {
    const { handoffId } = await pipeline.send('reader', { state: { currentState: {} } })
    expect(await pipeline.reaches(handoffId, 'ROLLED_BACK')).toMatchObject({ attempt: 3 })
    const waits = await pipeline.rows<{ ms: number }>(
      `select extract(epoch from retry_at - created_at)::float8 * 1000 as ms from handoff_return
       where handoff_id = $1 order by attempt`,
      [handoffId],
    )
    // A wait may be nothing at all, and the row's own time is taken a moment later.
    const within = waits.map(({ ms }, index) => ms > -5 && ms <= FAST_RETRIES.baseMs * 2 ** index)
    expect(within).toEqual([true, true])
  })

  it('waits for a slow sender instead of using up its attempts', async () => {
    let answerIt: (state: AgentState) => void = () => undefined
    const answered = new Promise<AgentState>((resolve) => {
      answerIt = resolve
    })
    const { sender, state } = senderWith({
      onReturn: async () => ({ agentState: await answered }),
    })
    const own = state({ currentState: {} })
    const { handoffId } = await sender.send(own, 'reader')
    // Several sweeps of a second each would have tried it again by then.
    const since = Date.now()
    await eventually(() => Date.now() - since > 2_500, { deadlineMs: 30_000, describe: 'a while' })
    expect(await findHandoff(pipeline.pool, handoffId)).toMatchObject({ attempt: 2 })
    answerIt({ ...own, currentState: { text: 'late, but there' } })
    expect(await pipeline.reaches(handoffId, 'COMPLETED')).toMatchObject({ attempt: 2 })
  })

  it('is told again after a hook that failed, whose words are nowhere in the log', async () => {
    let calls = 0
    const { sender, state } = senderWith({
      correctionMs: 1_000,
      onReturn: async (returned) => {
        calls += 1
        if (calls === 1) throw new Error('words of the hook')
        const agentState = askedFor(returned)
        return { agentState: { ...agentState, currentState: { text: 'second try' } } }
      },
    })
    const { handoffId } = await sender.send(state({ currentState: {} }), 'reader')
    await pipeline.reaches(handoffId, 'COMPLETED', 'ROLLED_BACK')
    expect(calls).toBeGreaterThan(1)
    expect(pipeline.log()).not.toContain('words of the hook')
  })
})

describe('a rolled-back task', () => {
  it('is resumed by the hook of its sender from the exact bytes it saved, and completes', async () => {
    const told: RolledBackHandoff[] = []
    const { sender, agentId, state } = senderWith({
      onRollback: async (rolledBack) => {
        told.push(rolledBack)
        const agentState = askedFor(rolledBack)
        const change = { agentState: { ...agentState, currentState: { text: 'mended' } } }
        const first = await rolledBack.resume(change)
        const again = await rolledBack.resume(change)
        expect(again).toMatchObject({ handoffId: first.handoffId, duplicate: true })
      },
    })
    const { handoffId, taskId } = await sender.send(state({ currentState: {} }), 'reader')
    const [saved] = await pipeline.rows<{ body: Buffer }>(
      'select c.body from checkpoint c join handoff h on h.checkpoint_id = c.id where h.id = $1',
      [handoffId],
    )
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
    expect(told).toHaveLength(1)
    expect(Buffer.from(told[0]?.checkpoint ?? [])).toEqual(saved?.body)
    expect(told[0]).toMatchObject({ reason: 'INCOMPLETE_CONTEXT', attempt: 3, attemptsMax: 3 })
    const [rolledBack, resumed, ...others] = await listTaskHandoffs(pipeline.pool, taskId)
    expect(others).toEqual([])
    expect(rolledBack).toMatchObject({ handoffId, state: 'ROLLED_BACK' })
    expect(resumed).toMatchObject({ state: 'COMPLETED', fromAgent: agentId, attempt: 1 })
    const trace = await traceWith(
      pipeline,
      taskId,
      'ROLLED_BACK',
      'TASK_RESUMED',
      'EXECUTION_COMPLETED',
    )
    expect(trace.verified).toBe(true)
    const event = trace.records.find(({ body }) => body.event === 'TASK_RESUMED')
    expect(event?.body).toMatchObject({
      handoffId,
      act: { id: resumed?.handoffId, actor: agentId },
    })
    const returns = trace.records.filter(({ body }) => body.event === 'HANDOFF_RETURNED')
    expect(returns.map(({ body }) => body.attempt)).toEqual([1, 2])
    const [waiting] = await pipeline.rows<{ count: string }>(
      'select count(*) from escalation where task_id = $1 and resolved_at is null',
      [taskId],
    )
    expect(Number(waiting?.count)).toBe(0)
    expect((await findTask(pipeline.pool, taskId))?.failedHandoffs).toBe(1)
  })
})

const builtMessage = (state: AgentState) => buildHandoffMessage(state, 'reader')
