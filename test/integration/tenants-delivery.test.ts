// What agents of a tenant hand on stays among agents of that tenant, through branches, joins and any agent, but for what was granted.
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentResult, Sender, Sent } from '@baton/sdk'
import { addTenant, findTask, grantAgent } from '@baton/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

let pipeline: Pipeline
let sender: Sender
let handedOn: Partial<AgentResult> = {}
const last = recordingAgent('acme/last')
const translator = recordingAgent('globex/translator')
const stranger = recordingAgent('globex/stranger', { capabilities: ['reading'] })

beforeAll(async () => {
  pipeline = await openPipeline('tenants')
  for (const tenant of ['acme', 'globex']) await addTenant(pipeline.superuser, tenant)
  const grant = { tenant: 'acme', agentType: 'globex/translator', grantedBy: 'root' }
  await grantAgent(pipeline.superuser, grant)
  const { databaseUrl, env } = pipeline.system
  const keyRing = parseSigningKeys(env['BATON_SIGNING_KEYS'] ?? '')
  sender = createSender({ databaseUrl, keyRing, tenant: 'acme' })
  const first = recordingAgent('acme/first', {
    execute: async (context) => answer(context, handedOn),
  })
  await pipeline.start([first.agent, last.agent, translator.agent, stranger.agent])
})
afterAll(async () => {
  await sender?.close()
  await pipeline?.close()
})

/** The task of an agent of acme that comes to this. */
async function taskThatComesTo(result: Partial<AgentResult>): Promise<Sent> {
  handedOn = result
  const state = newTask()
  const agent = { ...state.agent, agentId: 'acme/intake' }
  return sender.send({ ...state, agent }, 'acme/first')
}

const tenantsOf = async (taskId: string) =>
  (
    await pipeline.rows<{ tenant: string }>('select tenant from handoff where task_id = $1', [
      taskId,
    ])
  ).map(({ tenant }) => tenant)

describe('within a tenant', () => {
  it.each<[string, Partial<AgentResult>, number]>([
    ['one after the other', { next: [{ to: 'acme/last', taskDescription: 'go on' }] }, 2],
    [
      'to an agent that was granted',
      { next: [{ to: 'globex/translator', taskDescription: 'go on' }] },
      2,
    ],
    [
      'branches and their join',
      {
        next: [
          { to: 'acme/last', taskDescription: 'go on', branch: 'a' },
          { to: 'globex/translator', taskDescription: 'go on', branch: 'b' },
        ],
        join: { to: 'acme/last', taskDescription: 'together' },
      },
      4,
    ],
  ])('a task goes on: %s', async (_, result, handoffs) => {
    const { taskId } = await taskThatComesTo(result)
    expect((await pipeline.taskEnds(taskId)).status).toBe('COMPLETED')
    expect(await tenantsOf(taskId)).toEqual(Array(handoffs).fill('acme'))
    expect(await findTask(pipeline.pool, taskId)).toMatchObject({ handoffs })
  })
})

describe('beyond it', () => {
  it.each<[string, Partial<AgentResult>]>([
    [
      'to an agent of another tenant',
      { next: [{ to: 'globex/stranger', taskDescription: 'go on' }] },
    ],
    ['to an agent of the default tenant', { next: [{ to: 'last', taskDescription: 'go on' }] }],
    [
      'a branch to an agent of another tenant',
      {
        next: [
          { to: 'acme/last', taskDescription: 'go on', branch: 'a' },
          { to: 'globex/stranger', taskDescription: 'go on', branch: 'b' },
        ],
      },
    ],
  ])('nothing is handed on, and the task is back where it was: %s', async (_, result) => {
    const { handoffId, taskId } = await taskThatComesTo(result)
    await pipeline.reaches(handoffId, 'ROLLED_BACK')
    const [row] = await pipeline.rows<{ state: string; reason: string }>(
      `select state, reason from handoff where task_id = $1`,
      [taskId],
    )
    expect(row?.reason).toBe('BATON_AGENT_OF_OTHER_TENANT')
    expect(await tenantsOf(taskId)).toEqual(['acme'])
    expect(stranger.executed).toEqual([])
  })

  it('any agent is one of its own: those of others are not looked at', async () => {
    const any = { to: '*', taskDescription: 'go on', requirements: { capabilities: ['reading'] } }
    const { handoffId } = await taskThatComesTo({ next: [any] })
    await pipeline.reaches(handoffId, 'ROLLED_BACK')
    expect(stranger.executed).toEqual([])
  })

  it('a join to an agent of another tenant fails its fan-out', async () => {
    const { taskId } = await taskThatComesTo({
      next: [{ to: 'acme/last', taskDescription: 'go on', branch: 'a' }],
      join: { to: 'globex/stranger', taskDescription: 'together' },
    })
    expect((await pipeline.taskEnds(taskId)).status).toBe('FAILED')
    expect(stranger.executed).toEqual([])
  })
})
