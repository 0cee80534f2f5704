// Canceling work under way: the agent is told within two seconds, its result counts within the grace, nothing counts after it.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HandoffCanceled, transient } from '@baton/sdk'
import { requestCancel } from '@baton/engine'
import { findTask, listTaskHandoffs } from '@baton/store'
import { eventually } from '@baton/testkit'
import { answer, gate, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('cancellation')
})
afterAll(() => pipeline.close())

const cancel = (handoffId: string, graceMs: number) =>
  requestCancel(pipeline.pool, { handoffId, graceMs, actor: 'ann' })
const cancelTask = (taskId: string, graceMs: number) =>
  requestCancel(pipeline.pool, { taskId, graceMs, actor: 'ann' })
const eventsOf = async (handoffId: string) => {
  const { rows } = await pipeline.audit.query<{ event: string }>({
    text: 'select event from handoff_events where handoffid = $1 order by timestamp',
    values: [handoffId],
  })
  return rows.map((row) => row.event)
}
const statusOf = async (taskId: string) => (await findTask(pipeline.pool, taskId))?.status

/** An agent that works until it is told to stop, then does what `then` says. */
function worksUntilStopped(type: string, then: (reason: unknown) => 'answer' | 'throw' | 'ignore') {
  const reasons: unknown[] = []
  const recording = recordingAgent(type, {
    execute(context) {
      recording.executed.push(context)
      return new Promise((resolve, reject) => {
        context.signal.addEventListener('abort', () => {
          const { reason } = context.signal
          reasons.push(reason)
          const does = then(reason)
          if (does === 'throw') reject(transient('BATON_TEST_STOPPED', 'stopped'))
          if (does === 'answer') {
            resolve(answer(context, { next: [{ to: type, taskDescription: 'go on' }] }))
          }
        })
      })
    },
  })
  return { ...recording, reasons }
}

describe('a running execution that is canceled', () => {
  it('is told until when its result counts; one within the grace is kept and hands nothing on', async () => {
    const { agent, reasons } = worksUntilStopped('tidy', () => 'answer')
    await pipeline.start([agent], { leaseMs: 60_000 })
    const { handoffId, taskId } = await pipeline.send('tidy')
    await pipeline.reaches(handoffId, 'EXECUTING')
    const startedAt = performance.now()
    const answered = await cancel(handoffId, 30_000)
    expect(answered).toMatchObject({ kind: 'canceled', ended: [] })
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect(reasons[0]).toBeInstanceOf(HandoffCanceled)
    const { stopping } = answered as Extract<typeof answered, { kind: 'canceled' }>
    expect((reasons[0] as HandoffCanceled).graceUntil).toEqual(stopping[0]?.graceUntil)
    expect(await statusOf(taskId)).toBe('CANCELED')
    expect(await listTaskHandoffs(pipeline.pool, taskId)).toHaveLength(1)
  })

  it('that stops ends canceled long before its grace, is never tried again, and both events are recorded', async () => {
    const { agent, executed } = worksUntilStopped('obedient', () => 'throw')
    await pipeline.start([agent], { leaseMs: 60_000 })
    const { handoffId, taskId } = await pipeline.send('obedient')
    await pipeline.reaches(handoffId, 'EXECUTING')
    await cancel(handoffId, 60_000)
    await pipeline.reaches(handoffId, 'CANCELED')
    expect(await statusOf(taskId)).toBe('CANCELED')
    const both = ['CANCEL_REQUESTED', 'HANDOFF_CANCELED']
    await eventually(
      async () => {
        const events = await eventsOf(handoffId)
        return both.every((event) => events.includes(event))
      },
      { deadlineMs: 30_000, describe: 'request and end are recorded' },
    )
    expect(executed).toHaveLength(1)
  })

  it('that ignores its signal is shut out when the grace ends, and its worker takes other work', async () => {
    const { agent, executed } = worksUntilStopped('stubborn', () => 'ignore')
    await pipeline.start([agent], { leaseMs: 60_000, concurrency: 1 })
    const { handoffId } = await pipeline.send('stubborn')
    await pipeline.reaches(handoffId, 'EXECUTING')
    await cancel(handoffId, 500)
    await pipeline.reaches(handoffId, 'CANCELED')
    const next = await pipeline.send('stubborn')
    await pipeline.reaches(next.handoffId, 'EXECUTING')
    await cancel(next.handoffId, 0)
    await pipeline.reaches(next.handoffId, 'CANCELED')
    expect(executed).toHaveLength(2)
  })

  it('of an owner that died ends canceled and executes nowhere else', async () => {
    const silent = recordingAgent('dying', {
      execute: (context) => {
        silent.executed.push(context)
        return new Promise(() => undefined)
      },
    })
    await pipeline.start([silent.agent], { leaseMs: 60_000, drainMs: 0 })
    const { handoffId } = await pipeline.send('dying')
    await pipeline.reaches(handoffId, 'EXECUTING')
    await pipeline.rows(
      `update execution set fencing_token = fencing_token + 1, lease_until = now() - interval '1 s' where handoff_id = $1`,
      [handoffId],
    )
    await cancel(handoffId, 60_000)
    await pipeline.reaches(handoffId, 'CANCELED')
    expect(silent.executed).toHaveLength(1)
  })
})

describe('a task that is canceled', () => {
  it('ends with everything that waits in it, and starts nothing more', async () => {
    const { opened, open } = gate()
    const { agent } = recordingAgent('several', {
      async execute(context) {
        await opened
        return answer(context, { result: 'first' })
      },
    })
    await pipeline.start([agent], { leaseMs: 60_000 })
    const first = await pipeline.send('several')
    await pipeline.reaches(first.handoffId, 'EXECUTING')
    const second = await pipeline.send('several', { state: { taskId: first.taskId } })
    await cancelTask(first.taskId, 30_000)
    await pipeline.reaches(second.handoffId, 'CANCELED')
    await expect(
      pipeline.send('several', { state: { taskId: first.taskId } }),
    ).rejects.toMatchObject({ code: 'BATON_TASK_ENDED' })
    open()
    await pipeline.reaches(first.handoffId, 'COMPLETED')
    expect(await statusOf(first.taskId)).toBe('COMPLETED')
  })
})

it('a deadline that passes while an agent works ends the handoff, aborts the agent and commits nothing (S12)', async () => {
  const { opened, open } = gate()
  let signal: AbortSignal | undefined
  const late = recordingAgent('late', {
    async execute(context) {
      late.executed.push(context)
      signal = context.signal
      await opened
      return answer(context)
    },
  })
  await pipeline.start([late.agent], { leaseMs: 60_000 })
  const deadline = new Date(Date.now() + 4_000).toISOString()
  const { handoffId, taskId } = await pipeline.send('late', { constraints: { deadline } })
  await pipeline.reaches(handoffId, 'EXECUTING')
  await pipeline.reaches(handoffId, 'EXPIRED')
  // Far before the lease's next beat, which would tell it after 20 s.
  await eventually(() => signal?.aborted === true, {
    deadlineMs: 10_000,
    describe: 'the agent is told',
  })
  open()
  expect(await statusOf(taskId)).toBe('PENDING_HANDOFF')
  const [row] = await pipeline.rows<{ result: string | null; status: string }>(
    'select result, status from execution where handoff_id = $1',
    [handoffId],
  )
  expect(row).toEqual({ result: null, status: 'DONE' })
  expect(late.executed).toHaveLength(1)
})
