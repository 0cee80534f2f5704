// A notice is answered by its hook within its time, on bytes that are the saved ones; what fails is told again.
import type { SenderNotice } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { answerNotice } from './answer-notices.ts'
import type { AnswerDeps, NoticeHooks } from './answer-notices.ts'
import type { RevisionOutcome } from './decide/revision.ts'
import { sampleHandoff, sampleState } from '../fixtures/sample-delivery.ts'

const handoff = sampleHandoff()

const notice = (changes: Partial<SenderNotice> = {}): SenderNotice => ({
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
  told: SenderNotice,
  hooks: NoticeHooks,
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
  const failed = await answerNotice(deps, told, hooks).then(
    () => undefined,
    (error: Error & { code?: string }) => error.code ?? error.message,
  )
  return { done, failed }
}

const corrects: NoticeHooks = { onReturn: async () => ({ agentState: sampleState() }) }

describe('a return', () => {
  it('is corrected, or acknowledged where there is no correction', async () => {
    expect((await answered(notice(), corrects)).done).toEqual(['revised', 'acknowledged'])
    const nothing: NoticeHooks = { onReturn: async () => undefined }
    expect((await answered(notice(), nothing)).done).toEqual(['acknowledged'])
  })

  it.each(['stale', 'claimed', 'closed', 'unknown'] as const)(
    'that is %s meanwhile is done with',
    async (kind) => {
      const outcome = kind === 'stale' ? { kind, revision: 2 } : { kind }
      expect(await answered(notice(), corrects, outcome)).toEqual({
        done: ['revised', 'acknowledged'],
        failed: undefined,
      })
    },
  )

  it('is told again where the correction breaks the budget, the hook fails or is too slow', async () => {
    expect(await answered(notice(), corrects, { kind: 'budget' })).toEqual({
      done: ['revised'],
      failed: 'BATON_BUDGET_MISMATCH',
    })
    const failing: NoticeHooks = { onReturn: () => Promise.reject(new Error('no')) }
    expect(await answered(notice(), failing)).toEqual({ done: [], failed: 'no' })
    const silent: NoticeHooks = { onReturn: () => new Promise(() => undefined) }
    expect(await answered(notice(), silent)).toEqual({ done: [], failed: 'BATON_HOOK_SLOW' })
  })
})

describe('a rollback', () => {
  it('hands over the exact bytes and is acknowledged after the hook', async () => {
    const seen: Uint8Array[] = []
    const hooks: NoticeHooks = {
      onRollback: async ({ checkpoint, resume }) => {
        seen.push(checkpoint)
        await resume()
      },
    }
    const { done } = await answered(notice({ kind: 'rollback' }), hooks)
    expect(done).toEqual(['resumed', 'acknowledged'])
    expect(seen).toEqual([handoff.checkpoint])
  })

  it('from bytes that are not the saved ones reaches no hook (I7)', async () => {
    const checkpoint = Buffer.from(handoff.checkpoint)
    checkpoint[checkpoint.length - 2] = 0x20
    let called = false
    const hooks: NoticeHooks = { onRollback: async () => void (called = true) }
    expect(await answered(notice({ kind: 'rollback', checkpoint }), hooks)).toEqual({
      done: [],
      failed: 'BATON_CHECKPOINT_DAMAGED',
    })
    expect(called).toBe(false)
  })
})
