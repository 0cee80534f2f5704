// A resumed handoff says what the rolled-back one said last, under a new id, with the same checkpoint, budget and trace.
import type { ResumableHandoff } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { prepareHandoff } from './prepare-handoff.ts'
import { prepareResumption } from './resume-task.ts'
import { messageOf, sampleOptions, sampleState } from '../fixtures/sample-delivery.ts'

const constraints = {
  deadline: '2026-01-03T00:00:00Z',
  expiresAt: '2999-01-01T00:00:00Z',
  agentVersion: '^1.0.0',
}
const before = prepareHandoff(
  { agentState: sampleState(), targetAgentType: 'reader', constraints },
  sampleOptions,
)
const resumable: ResumableHandoff = {
  ...before,
  tenant: 'default',
  revision: 1,
  attempt: 3,
  fencingToken: 4,
  reason: 'BATON_AGENT_FAILED',
  sentBy: 'ann',
}
const checkpointOf = ({ checkpoint }: { readonly checkpoint: Uint8Array }) =>
  JSON.parse(Buffer.from(checkpoint).toString()) as Record<string, unknown>

describe('resumed for another receiver', () => {
  const talk = {
    role: 'user',
    content: 'That sounds good to me, please go on with it. '.repeat(20),
  }
  const fact = 'We decided to keep clause 9 because of case law.'
  const long = prepareHandoff(
    {
      agentState: sampleState({
        conversationHistory: [
          { role: 'assistant', content: fact },
          ...Array.from({ length: 20 }, () => talk),
        ],
      }),
      targetAgentType: 'reader',
      constraints: { receiverContextWindowTokens: 100_000 },
    },
    sampleOptions,
  )
  const bounds = { windowTokensOf: (type: string) => (type === 'small' ? 2_000 : undefined) }
  const resumed = (targetAgentType?: string) =>
    messageOf(
      prepareResumption(
        { ...resumable, ...long, tenant: 'default' },
        targetAgentType === undefined ? {} : { targetAgentType },
        { ...sampleOptions, bounds },
      ),
    )

  it('fits its window as a first send does, and says what had to be kept (E03)', () => {
    const { conversationHistorySummary, ...others } = resumed('small')
    expect(conversationHistorySummary).toContain(fact.slice(0, -1))
    expect(others).toMatchObject({ schemaVersion: '2.2', toAgent: { agentType: 'small' } })
    expect(others.conversationHistoryVerbatim.length).toBeLessThan(6)
    expect(others.pinnedFacts?.decisions).toHaveLength(1)
  })

  it.each([undefined, 'large'])('is as it stood where it fits: %s', (targetAgentType) => {
    const { conversationHistoryVerbatim, schemaVersion } = resumed(targetAgentType)
    expect(conversationHistoryVerbatim).toHaveLength(21)
    expect(schemaVersion).toBe(messageOf(long).schemaVersion)
  })
})

describe('resumed as it stood', () => {
  const after = prepareResumption(resumable, {}, { ...sampleOptions, sentBy: 'ben' })

  it('is the same message under a fresh id, timestamp and signature', () => {
    const [old, fresh] = [messageOf(before), messageOf(after)]
    expect(after.handoffId).not.toBe(before.handoffId)
    expect(after.signature).not.toBe(before.signature)
    const { handoffId, timestamp, deadline, ...same } = old
    expect(fresh).toMatchObject(same)
    expect(fresh.timestamp).not.toBe(timestamp)
    expect([handoffId, deadline]).toEqual([before.handoffId, constraints.deadline])
  })

  it('leaves out the deadline that has passed, and keeps the expiry that has not', () => {
    expect(messageOf(after).deadline).toBeUndefined()
    expect(after.expiresAt).toBe('2999-01-01T00:00:00.000Z')
  })

  it('keeps trace, parent, budget, attempts and who answers for what it says; it costs nothing', () => {
    const { traceparent, parentId, spentMicroUSD, remainingMicroUSD, attemptsMax } = before
    expect(after).toMatchObject({ traceparent, parentId, spentMicroUSD, remainingMicroUSD })
    expect(after).toMatchObject({ attemptsMax, sentBy: 'ann', addedCostMicroUSD: 0 })
  })

  it('saves what the sender had saved, for its own rollback', () => {
    const { state, request } = checkpointOf(before)
    expect(checkpointOf(after)).toMatchObject({ handoffId: after.handoffId, state, request })
  })
})

describe('resumed with changes', () => {
  it('is built anew for the same task and sender; whoever changes it answers for it', () => {
    const agentState = sampleState({
      handoffId: undefined as never,
      taskId: '00000000-0000-4000-8000-000000000000',
      agent: { agentId: 'somebody-else', agentVersion: '1.0.0' },
      currentState: { text: 'mended' },
      cost: { ...sampleState().cost, ownCostUSD: 0.25 },
    })
    const change = { agentState, targetAgentType: 'second-opinion' }
    const after = prepareResumption(resumable, change, { ...sampleOptions, sentBy: 'ben' })
    expect(after).toMatchObject({
      taskId: before.taskId,
      fromAgent: before.fromAgent,
      toAgent: 'second-opinion',
      sentBy: 'ben',
      addedCostMicroUSD: 200_000,
    })
    expect(messageOf(after).currentState).toEqual({ text: 'mended' })
    expect(after.traceparent).toBe(before.traceparent)
  })
})
