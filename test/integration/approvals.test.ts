// A handoff that needs approval executes after it and never before; a refusal gives the task back to its sender.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readTrace } from '@baton/audit'
import { findHandoff, findTask, listTaskHandoffs } from '@baton/store'
import { eventually } from '@baton/testkit'
import { answerSigned } from '../contract/signed-fixture.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('approvals')
})
afterAll(() => pipeline.close())

const decide = (handoffId: string, decision: 'approve' | 'reject', actor = 'ann') =>
  answerSigned(pipeline.pool, { handoffId, decision, actor, reasonCode: null })
/** The recorded event of a task, once the audit store has it. */
const recorded = (taskId: string, event: string) =>
  eventually(
    async () => {
      const { records } = await readTrace(pipeline.audit, taskId)
      return records.map(({ body }) => body).find((body) => body.event === event)
    },
    { deadlineMs: 30_000, describe: `${event} is recorded` },
  )
const inMs = (ms: number) => new Date(Date.now() + ms).toISOString()

describe('a handoff that requires approval (R13)', () => {
  it('waits although an agent is free, executes once approved, and names who approved', async () => {
    const { agent, ids } = recordingAgent('careful')
    await pipeline.start([agent])
    const { handoffId, taskId } = await pipeline.send('careful', {
      constraints: { requiresApproval: true },
    })
    const other = await pipeline.send('careful')
    await pipeline.reaches(other.handoffId, 'COMPLETED')
    expect(await findHandoff(pipeline.pool, handoffId)).toMatchObject({
      state: 'AWAITING_APPROVAL',
    })
    expect(await decide(handoffId, 'approve')).toMatchObject({ kind: 'decided', repeated: false })
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(ids()).toEqual([other.handoffId, handoffId])
    expect(await decide(handoffId, 'approve', 'bob')).toMatchObject({
      kind: 'decided',
      repeated: true,
      approval: { decidedBy: 'ann' },
    })
    expect(await decide(handoffId, 'reject')).toMatchObject({ kind: 'closed' })
    expect(ids()).toHaveLength(2)
    expect(await recorded(taskId, 'HANDOFF_APPROVED')).toMatchObject({ act: { actor: 'ann' } })
  })

  it('never executes once refused, and the task stands at its sender’s checkpoint', async () => {
    const { agent, ids } = recordingAgent('refused')
    await pipeline.start([agent])
    const { handoffId, taskId } = await pipeline.send('refused', {
      constraints: { requiresApproval: true },
    })
    await decide(handoffId, 'reject')
    expect(await pipeline.reaches(handoffId, 'REJECTED')).toMatchObject({
      reason: 'APPROVAL_REFUSED',
    })
    expect((await findTask(pipeline.pool, taskId))?.status).toBe('PENDING_HANDOFF')
    expect(await recorded(taskId, 'APPROVAL_REFUSED')).toMatchObject({ act: { actor: 'ann' } })
    expect(ids()).toEqual([])
  })

  it('expires while it waits', async () => {
    const { agent, ids } = recordingAgent('waited')
    await pipeline.start([agent])
    const { handoffId } = await pipeline.send('waited', {
      constraints: { requiresApproval: true, expiresAt: inMs(300) },
    })
    await pipeline.reaches(handoffId, 'EXPIRED')
    expect(await decide(handoffId, 'approve')).toMatchObject({ kind: 'closed' })
    expect(ids()).toEqual([])
  })

  it('may be asked for by an agent that hands on', async () => {
    const second = recordingAgent('paying')
    const first = recordingAgent('preparing', {
      execute: async (context) =>
        answer(context, {
          next: [{ to: 'paying', taskDescription: 'pay it', requiresApproval: true }],
        }),
    })
    await pipeline.start([first.agent, second.agent])
    const { handoffId, taskId } = await pipeline.send('preparing')
    await pipeline.reaches(handoffId, 'COMPLETED')
    const [, next] = await listTaskHandoffs(pipeline.pool, taskId)
    expect(next?.state).toBe('AWAITING_APPROVAL')
    expect(second.ids()).toEqual([])
    await decide(next?.handoffId ?? '', 'approve')
    await pipeline.reaches(next?.handoffId ?? '', 'COMPLETED')
    expect(second.ids()).toEqual([next?.handoffId])
  })
})
