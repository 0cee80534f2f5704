// A handoff that requires what its agent lacks is blocked before any execution, at no cost; the policy decides what follows (S18, S20).
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listEscalations, listLiveAgents } from '@baton/store'
import { eventually } from '@baton/testkit'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await openPipeline('blocked')
})
afterAll(() => pipeline.close())

const eventsOf = async (handoffId: string) => {
  const { rows } = await pipeline.audit.query<{ event: string; toagent: string }>({
    text: `select event, toagent from handoff_events where handoffid = $1
      union all select 'decision ' || status, toagent from handoff_audit where handoffid = $1`,
    values: [handoffId],
  })
  return rows.map((row) => `${row.event} ${row.toagent}`)
}
const records = (handoffId: string, ...events: string[]) =>
  eventually(
    async () => {
      const found = await eventsOf(handoffId)
      return events.every((event) => found.includes(event)) && found
    },
    { deadlineMs: 30_000, describe: `${handoffId}: ${events.join(', ')}` },
  )

const needs = (capability: string) => ({
  constraints: { requirements: { capabilities: [capability], mcp: ['github'] } },
})

describe('an unmet requirement', () => {
  it('is met by another live agent type, which executes the handoff instead', async () => {
    const plain = recordingAgent('plain')
    const able = recordingAgent('able', { capabilities: ['fly', 'swim'], mcp: ['github'] })
    const demanding = recordingAgent('demanding', {
      capabilities: ['fly'],
      mcp: ['github'],
      requires: ['something else'],
    })
    await pipeline.start([plain.agent, able.agent, demanding.agent])
    const { handoffId } = await pipeline.send('plain', needs('fly'))
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect([plain.ids(), able.ids(), demanding.ids()]).toEqual([[], [handoffId], []])
    expect(await records(handoffId, 'HANDOFF_REROUTED able')).toEqual(
      expect.arrayContaining(['HANDOFF_BLOCKED plain', 'HANDOFF_REROUTED able']),
    )
  })

  it('that nobody meets ends blocked at no cost: a person decides', async () => {
    const { agent, executed } = recordingAgent('lonely', { capabilities: ['walk'] })
    await pipeline.start([agent])
    const { handoffId, taskId } = await pipeline.send('lonely', needs('walk'))
    expect(await pipeline.reaches(handoffId, 'BLOCKED')).toMatchObject({
      reason: 'BLOCKED',
      costMicroUSD: 0,
      acceptedAt: null,
      details: [{ pointer: '/requirements/mcp/0', rule: 'requiredMcp', expected: 'github' }],
    })
    expect((await pipeline.taskEnds(taskId)).status).toBe('AWAITING_HUMAN')
    expect(await listEscalations(pipeline.pool, { limit: 100 })).toContainEqual(
      expect.objectContaining({ handoffId, reason: 'BLOCKED' }),
    )
    expect(executed).toEqual([])
    const found = await records(handoffId, 'HANDOFF_BLOCKED lonely', 'HUMAN_ESCALATED lonely')
    expect(found.join()).not.toContain('ACCEPTED')
  })

  it('is tried again until attempts run out, where the policy says so', async () => {
    const { agent, executed } = recordingAgent('patient')
    await pipeline.start([agent], { blockedPolicy: 'retry', attemptsMax: 2 })
    const { handoffId } = await pipeline.send('patient', needs('fly'))
    const ended = await pipeline.reaches(handoffId, 'BLOCKED')
    expect(ended.attempt).toBe(ended.attemptsMax)
    expect(executed).toEqual([])
  })

  it('goes to a person at once, where the policy says so', async () => {
    const { agent } = recordingAgent('strict')
    const able = recordingAgent('also-able', { capabilities: ['dive'], mcp: ['github'] })
    await pipeline.start([agent, able.agent], { blockedPolicy: 'escalate' })
    const { handoffId } = await pipeline.send('strict', needs('dive'))
    expect(await pipeline.reaches(handoffId, 'BLOCKED')).toMatchObject({ attempt: 1 })
    expect(able.ids()).toEqual([])
  })
})

it('a worker is listed while it runs and no longer once it has stopped', async () => {
  const { agent } = recordingAgent('brief', { capabilities: ['dive'], version: '1.2.3' })
  const worker = await pipeline.start([agent])
  const listed = async () => {
    const live = await listLiveAgents(pipeline.pool, 500)
    return live.find((one) => one.type === 'brief')
  }
  expect(await listed()).toMatchObject({ versions: ['1.2.3'], capabilities: ['dive'], workers: 1 })
  await worker.stop()
  expect(await listed()).toBeUndefined()
})
