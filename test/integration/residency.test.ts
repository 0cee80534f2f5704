// Two installations on one machine, one in Germany and one in the United States: data that must stay in one is neither stored nor
// executed in the other, unless a named ground allows the transfer, which stands in the decision record.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import { findHandoff, findTask } from '@baton/store'
import { eventually } from '@baton/testkit'
import { newTask } from '../fault/driver.ts'
import { openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

interface Installation {
  readonly pipeline: Pipeline
  readonly sender: Sender
  readonly review: ReturnType<typeof recordingAgent>
}

async function install(place: string): Promise<Installation> {
  const pipeline = await openPipeline(`residency ${place}`)
  const review = recordingAgent('review')
  await pipeline.start([review.agent], { jurisdiction: place })
  return { pipeline, review, sender: senderIn(pipeline, place) }
}

const senderIn = (pipeline: Pipeline, jurisdiction?: string): Sender =>
  createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    jurisdiction,
  })

let german: Installation
let american: Installation
let nowhere: Sender
let gateway: GatewayFixture
beforeAll(async () => {
  german = await install('DE')
  american = await install('US')
  nowhere = senderIn(american.pipeline)
  gateway = await openGateway({}, { jurisdiction: 'US' })
})
afterAll(async () => {
  await gateway.close()
  await Promise.all([nowhere, german.sender, american.sender].map((one) => one.close()))
  await Promise.all([german, american].map(({ pipeline }) => pipeline.close()))
})

type Residency = NonNullable<AgentState['residency']>
const staying = (
  jurisdiction: string,
  transferMechanism: Residency['transferMechanism'] = 'none',
): AgentState => ({ ...newTask(), residency: { jurisdiction, transferMechanism } })

const REFUSED = { code: 'BATON_RESIDENCY_REFUSED', kind: 'permanent' }

describe('E25 data that must stay', () => {
  it.each(['DE', 'EU'])(
    'in %s is executed in Germany, and nothing is transferred',
    async (place) => {
      const { pipeline, sender, review } = german
      const { handoffId, taskId } = await sender.send(staying(place), 'review')
      await pipeline.reaches(handoffId, 'COMPLETED')
      expect(review.ids()).toContain(handoffId)
      expect(await pipeline.decisions(taskId)).toMatchObject([{ status: 'ACCEPTED', reason: null }])
    },
  )

  it.each(['DE', 'EU'])(
    'in %s is refused at the door of the other one, unstored',
    async (place) => {
      const asked = staying(place)
      const sending = american.sender.send(asked, 'review')
      await expect(sending).rejects.toMatchObject({
        ...REFUSED,
        message: `/residency: the data must stay in ${place}, and this is US`,
        fix: expect.stringContaining('transferMechanism'),
      })
      expect(await findTask(american.pipeline.pool, asked.taskId)).toBeUndefined()
    },
  )

  it('is refused where nobody says where that is', async () => {
    await expect(nowhere.send(staying('US'), 'review')).rejects.toMatchObject({
      ...REFUSED,
      fix: expect.stringContaining('BATON_JURISDICTION'),
    })
    const { handoffId } = await nowhere.send(newTask(), 'review')
    await american.pipeline.reaches(handoffId, 'COMPLETED')
  })

  it('is refused over HTTP with the place in the body, and passes with what it says of itself', async () => {
    const residency = { jurisdiction: 'DE', transferMechanism: 'none' }
    const refused = await post(gateway.gateway, stateBody({ residency }))
    expect(refused.statusCode).toBe(422)
    expect(refused.json()).toMatchObject({
      code: 'BATON_RESIDENCY_REFUSED',
      detail: expect.stringContaining('/residency'),
      fix: expect.stringContaining('BATON_JURISDICTION'),
    })
    const own = { jurisdiction: 'US', transferMechanism: 'none' }
    expect((await post(gateway.gateway, stateBody({ residency: own }))).statusCode).toBe(202)
  })

  it('is not executed in another place, whoever took it in', async () => {
    const { pipeline, review } = american
    const careless = senderIn(pipeline, 'DE')
    const { handoffId } = await careless.send(staying('DE'), 'review')
    await careless.close()
    expect(await pipeline.reaches(handoffId, 'BLOCKED')).toMatchObject({
      reason: 'BLOCKED',
      details: [{ pointer: '/residency', rule: 'residency', expected: 'DE' }],
    })
    expect(review.ids()).not.toContain(handoffId)
  })

  it('is routed only to an agent that runs where it may be', async () => {
    const { pipeline } = german
    const [abroad, unplaced, home] = [
      recordingAgent('abroad', { capabilities: ['score'], jurisdiction: 'US' }),
      recordingAgent('at-sea', { capabilities: ['score'] }),
      recordingAgent('home', { capabilities: ['score'], jurisdiction: 'FR' }),
    ]
    await pipeline.start([abroad.agent, unplaced.agent, home.agent])
    const constraints = { requirements: { capabilities: ['score'] } }
    const { handoffId } = await german.sender.send(staying('EU'), 'abroad', constraints)
    const ended = await pipeline.reaches(handoffId, 'COMPLETED')
    expect(ended.routedTo).toBe('home')
    expect([abroad.ids(), unplaced.ids(), home.ids()]).toEqual([[], [], [handoffId]])
  })

  it('stays so on the whole way of its task', async () => {
    const { pipeline, sender } = german
    const first = recordingAgent('first', {
      execute: async (context) =>
        answer(context, { next: [{ to: 'second', taskDescription: 'Go on elsewhere' }] }),
    })
    const second = recordingAgent('second', { jurisdiction: 'US' })
    await pipeline.start([first.agent, second.agent], { jurisdiction: 'DE' })
    const { taskId } = await sender.send(staying('DE'), 'first')
    await pipeline.taskEnds(taskId)
    expect(second.ids()).toEqual([])
  })
})

it('is not changed by a correction', async () => {
  const { pipeline } = german
  const strict = recordingAgent('strict', { requires: ['clauses'] })
  await pipeline.start([strict.agent], { jurisdiction: 'DE' })
  const elsewhere = { jurisdiction: 'DE', transferMechanism: 'scc' } as const
  let corrections = 0
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ service: 'sender', destination })
  const careless = createSender({
    databaseUrl: pipeline.system.databaseUrl,
    keyRing: parseSigningKeys(pipeline.system.env['BATON_SIGNING_KEYS'] ?? ''),
    jurisdiction: 'DE',
    agents: ['driver'],
    logger,
    onReturn: async ({ message }) => {
      corrections += 1
      return { message: { ...message, currentState: { clauses: [] }, residency: elsewhere } }
    },
  })
  const { handoffId } = await careless.send(staying('DE'), 'strict')
  const isRefused = async () => lines.join('').includes('BATON_REVISION_INVALID')
  await eventually(isRefused, { deadlineMs: 10_000, describe: 'the correction to be refused' })
  await careless.close()
  expect(corrections).toBe(1)
  expect((await findHandoff(pipeline.pool, handoffId))?.revision).toBe(1)
  expect(strict.ids()).toEqual([])
})

it('E25 a transfer on a named ground is executed, and its record names the ground', async () => {
  const { pipeline, sender, review } = american
  const { handoffId, taskId } = await sender.send(staying('DE', 'scc'), 'review')
  await pipeline.reaches(handoffId, 'COMPLETED')
  expect(review.ids()).toContain(handoffId)
  expect(await pipeline.decisions(taskId)).toMatchObject([
    { status: 'ACCEPTED', reason: 'TRANSFER_SCC_DE_US' },
  ])
  const stored = await findHandoff(german.pipeline.pool, handoffId)
  expect(stored).toBeUndefined()
})
