// A handoff whose deadline or expiry has passed never executes, wherever it was waiting.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { transient } from '@baton/sdk'
import { countAlerts, findTask, findTaskCheckpoint, listAlerts } from '@baton/store'
import { eventually } from '@baton/testkit'
import { answer, gate, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('expiry')
})
afterAll(() => pipeline.close())

const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

describe('a handoff expires', () => {
  it.each([
    ['expiresAt', () => ({ expiresAt: inMs(-1_000) })],
    ['deadline', () => ({ deadline: inMs(-1_000), expiresAt: inMs(60_000) })],
  ])('by its %s before anybody takes it: alert, checkpoint, event', async (name, constraints) => {
    const type = `never-${name}`.toLowerCase()
    const { agent, executed } = recordingAgent(type)
    const { handoffId, taskId } = await pipeline.send(type, { constraints: constraints() })
    await pipeline.start([agent])
    await pipeline.reaches(handoffId, 'EXPIRED')
    expect(executed).toEqual([])
    expect((await findTask(pipeline.pool, taskId))?.status).toBe('PENDING_HANDOFF')
    expect(await findTaskCheckpoint(pipeline.pool, taskId)).toBeDefined()
    // A worker may be counting it at this moment: then it is there once that one has committed.
    await eventually(
      async () => {
        await countAlerts(pipeline.pool)
        const alerts = await listAlerts(pipeline.pool, { limit: 100 })
        return alerts.some(
          (one) => one.kind === 'handoff.expired' && one.handoffIds.includes(handoffId),
        )
      },
      { deadlineMs: 30_000, describe: 'the alert is counted' },
    )
    await eventually(
      async () => {
        const { rows } = await pipeline.audit.query<{ event: string }>({
          text: 'select event from handoff_events where handoffid = $1',
          values: [handoffId],
        })
        return rows.some((row) => row.event === 'HANDOFF_EXPIRED')
      },
      { deadlineMs: 30_000, describe: 'the expiry is recorded' },
    )
  })

  it('while it waits behind other work', async () => {
    const { opened, open } = gate()
    const { agent, executed } = recordingAgent('busy', {
      async execute(context) {
        executed.push(context)
        await opened
        return answer(context)
      },
    })
    await pipeline.start([agent], { concurrency: 1 })
    const first = await pipeline.send('busy')
    await pipeline.reaches(first.handoffId, 'EXECUTING')
    const second = await pipeline.send('busy', { constraints: { expiresAt: inMs(300) } })
    await pipeline.reaches(second.handoffId, 'EXPIRED')
    open()
    await pipeline.reaches(first.handoffId, 'COMPLETED')
    const third = await pipeline.send('busy')
    await pipeline.reaches(third.handoffId, 'COMPLETED')
    expect(executed.map((context) => context.handoffId)).toEqual([first.handoffId, third.handoffId])
  })

  it('between two attempts', async () => {
    const { agent, executed } = recordingAgent('late-again', {
      async execute(context) {
        executed.push(context)
        throw transient('BATON_TEST_LATER', 'not yet')
      },
    })
    await pipeline.start([agent], { backoff: { baseMs: 60_000, capMs: 60_000 }, attemptsMax: 3 })
    const { handoffId } = await pipeline.send('late-again', {
      constraints: { deadline: inMs(4_000) },
    })
    await pipeline.reaches(handoffId, 'EXPIRED')
    expect(executed.length).toBeGreaterThanOrEqual(1)
    expect(await pipeline.rows('select from retry where handoff_id = $1', [handoffId])).toEqual([])
  })
})

describe('what was accepted in time', () => {
  it('goes on after its expiresAt, until its deadline', async () => {
    const executed: string[] = []
    const { agent } = recordingAgent('accepted-in-time', {
      async execute(context) {
        executed.push(context.handoffId)
        const { expiresAt = '' } = context.message
        await eventually(() => Promise.resolve(Date.now() > Date.parse(expiresAt) + 1_500), {
          deadlineMs: 20_000,
          describe: 'the expiry has passed, and leases were looked at',
        })
        return answer(context)
      },
    })
    await pipeline.start([agent])
    const { handoffId } = await pipeline.send('accepted-in-time', {
      constraints: { expiresAt: inMs(1_500), deadline: inMs(60_000) },
    })
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(executed).toHaveLength(1)
  })
})
