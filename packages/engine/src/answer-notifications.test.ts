// A notification is answered by its hook within its time, on bytes that are the saved ones; what fails is told again.
import type { SenderNotification } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { answerNotification } from './answer-notifications.ts'
import type { AnswerDeps, NotificationHooks } from './answer-notifications.ts'
import type { RevisionOutcome } from './decide/revision.ts'
import { sampleHandoff, sampleState } from '../fixtures/sample-delivery.ts'

const handoff = sampleHandoff()

const notification = (changes: Partial<SenderNotification> = {}): SenderNotification => ({
  ...handoff,
  noticeId: '5d0f2c8e-7d3c-4f0a-9d53-0a3f7a0a1c11',
  kind: 'return',
  attempt: 1,
  revision: 1,
  reason: 'INCOMPLETE_CONTEXT',
  details: [],
  leaseUntil: new Date(0),
  retryAt: null,
  ...changes,
})

async function answered(
  told: SenderNotification,
  hooks: NotificationHooks,
  outcome: RevisionOutcome = { kind: 'revised', state: 'QUEUED' },
) {
  const done: string[] = []
  const deps: AnswerDeps = {
    correctionMs: 20,
    revise: async () => {
      done.push('revised')
      return outcome
    },
    resume: async () => {
      done.push('resumed')
      const { handoffId, taskId, traceparent } = handoff
      return { handoffId, taskId, traceparent, taskSeq: 2, state: 'QUEUED', duplicate: false }
    },
    acknowledge: async () => void done.push('acknowledged'),
  }
  const failed = await answerNotification(deps, told, hooks).then(
    () => undefined,
    (error: Error & { code?: string }) => error.code ?? error.message,
  )
  return { done, failed }
}

const corrects: NotificationHooks = { onReturn: async () => ({ agentState: sampleState() }) }

describe('a return', () => {
  it('is corrected, or acknowledged where there is no correction', async () => {
    expect((await answered(notification(), corrects)).done).toEqual(['revised', 'acknowledged'])
    const nothing: NotificationHooks = { onReturn: async () => undefined }
    expect((await answered(notification(), nothing)).done).toEqual(['acknowledged'])
  })

  it.each(['stale', 'claimed', 'closed', 'unknown'] as const)(
    'that is %s meanwhile is done with',
    async (kind) => {
      const outcome = kind === 'stale' ? { kind, revision: 2 } : { kind }
      expect(await answered(notification(), corrects, outcome)).toEqual({
        done: ['revised', 'acknowledged'],
        failed: undefined,
      })
    },
  )

  it('is told again where the correction breaks the budget, the hook fails or is too slow', async () => {
    expect(await answered(notification(), corrects, { kind: 'budget' })).toEqual({
      done: ['revised'],
      failed: 'BATON_BUDGET_MISMATCH',
    })
    const failing: NotificationHooks = { onReturn: () => Promise.reject(new Error('no')) }
    expect(await answered(notification(), failing)).toEqual({ done: [], failed: 'no' })
    const silent: NotificationHooks = { onReturn: () => new Promise(() => undefined) }
    expect(await answered(notification(), silent)).toEqual({ done: [], failed: 'BATON_HOOK_SLOW' })
  })
})

describe('a rollback', () => {
  it('hands over the exact bytes and is acknowledged after the hook', async () => {
    const seen: Uint8Array[] = []
    const hooks: NotificationHooks = {
      onRollback: async ({ checkpoint, resume }) => {
        seen.push(checkpoint)
        await resume()
      },
    }
    const { done } = await answered(notification({ kind: 'rollback' }), hooks)
    expect(done).toEqual(['resumed', 'acknowledged'])
    expect(seen).toEqual([handoff.checkpoint])
  })

  it('from bytes that are not the saved ones reaches no hook (I7)', async () => {
    const checkpoint = Buffer.from(handoff.checkpoint)
    checkpoint[checkpoint.length - 2] = 0x20
    let called = false
    const hooks: NotificationHooks = { onRollback: async () => void (called = true) }
    expect(await answered(notification({ kind: 'rollback', checkpoint }), hooks)).toEqual({
      done: [],
      failed: 'BATON_CHECKPOINT_DAMAGED',
    })
    expect(called).toBe(false)
  })
})
