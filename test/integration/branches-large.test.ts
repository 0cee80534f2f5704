// What came out of branches is joined, however large it is: what has no room in the message of the join is read elsewhere.
import { createHash } from 'node:crypto'
import type { AgentContext, AgentResult, JsonValue } from '@baton/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answer, openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'

type Outcomes = Readonly<
  Record<string, { result: JsonValue; cut?: { bytes: number; sha256: string; href: string } }>
>

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
const branch = (taskDescription: string) => ({
  to: 'worker',
  branch: taskDescription,
  taskDescription,
})
const join = { to: 'joiner', taskDescription: 'join' }

describe('to agents that are hosted', () => {
  let pipeline: Pipeline
  let results: Readonly<Record<string, JsonValue>>
  let working: (context: AgentContext) => Partial<AgentResult>
  let read: unknown
  const joined: AgentContext[] = []
  const joiner = recordingAgent('joiner', {
    execute: async (context) => {
      joined.push(context)
      const names = [...Object.keys(results), 'nobody']
      read = await Promise.all(names.map((name) => context.branchResult(name)))
      return answer(context, { result: 'joined' })
    },
  })
  beforeAll(async () => {
    pipeline = await openPipeline('branches large')
    const forker = recordingAgent('forker', {
      execute: async (context) => answer(context, { next: Object.keys(results).map(branch), join }),
    })
    const worker = recordingAgent('worker', {
      execute: async (context) => answer(context, working(context)),
    })
    await pipeline.start([forker.agent, worker.agent, joiner.agent])
  })
  afterAll(() => pipeline.close())

  const lastJoined = (): AgentContext => {
    const last = joined.at(-1)
    if (last === undefined) throw new Error('nothing was joined')
    return last
  }
  const nameOf = ({ message }: AgentContext) => message.taskDescription

  it('cuts the largest results until the rest fits, and those that no message can carry', async () => {
    results = {
      small: { kept: true },
      large: Array.from({ length: 7 }, () => 'x'.repeat(100_000)),
      larger: Array.from({ length: 8 }, () => 'y'.repeat(100_000)),
      long: 'z'.repeat(300_000),
    }
    working = (context) => ({ result: results[nameOf(context)] ?? null })
    const { taskId } = await pipeline.send('forker')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED', result: 'joined' })
    const context = lastJoined()
    const branches = context.state['branches'] as unknown as Outcomes
    expect(branches['small']).toMatchObject({ result: { kept: true } })
    expect(branches['large']).toMatchObject({ result: results['large'] })
    expect(branches['small']).not.toHaveProperty('cut')
    const text = JSON.stringify(results['larger'])
    const base = `/v2/handoffs/${context.handoffId}/branches`
    expect(branches['larger']).toMatchObject({
      outcome: 'COMPLETED',
      result: null,
      cut: { bytes: text.length, sha256: sha256(text), href: `${base}/2` },
    })
    expect(branches['long']).toMatchObject({
      result: null,
      cut: { bytes: 300_002, sha256: sha256(`"${'z'.repeat(300_000)}"`), href: `${base}/3` },
    })
    expect(read).toEqual([...Object.values(results), undefined])
  })

  it('cuts what steps within branches came to where that is too much', async () => {
    results = { north: 1, south: 2, west: 3 }
    const lot = Array.from({ length: 4 }, () => 'x'.repeat(100_000))
    working = (context) => {
      if (nameOf(context).endsWith('again')) return { result: 'done' }
      const subtask = { subtaskId: nameOf(context), description: 'a lot', result: lot }
      return { subtask, next: [{ to: 'worker', taskDescription: `${nameOf(context)} again` }] }
    }
    const { taskId } = await pipeline.send('forker')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED' })
    const { completedSubtasks } = lastJoined().message
    const lots = completedSubtasks.filter(({ description }) => description === 'a lot')
    const text = JSON.stringify(lot)
    const cut = { cut: { bytes: text.length, sha256: sha256(text) } }
    expect(lots.map(({ result }) => result)).toEqual([cut, lot, lot])
  })
})

describe('to agents outside', () => {
  let world: PullWorld
  beforeAll(async () => {
    world = await openPullWorld('branches large outside')
  })
  afterAll(() => world.close())

  const executed = async (type: string, outcome: object) => {
    const [one] = await world.claim(type)
    if (one === undefined) throw new Error(`nothing was claimed for ${type}`)
    await world.settle(one, { outcome: 'complete', ...outcome })
    return one
  }

  it('says where the whole result is, and answers it there', async () => {
    await world.send('forker')
    await executed('forker', { next: [branch('north'), branch('south')], join })
    const result = Array.from({ length: 9 }, () => 'x'.repeat(100_000))
    await executed('worker', { result })
    await executed('worker', { result })
    const { message, handoffId } = await executed('joiner', {})
    const { branches } = message['currentState'] as { branches: Outcomes }
    const whole = Object.values(branches).filter((one) => one.cut === undefined)
    expect(whole).toMatchObject([{ result }])
    const href = Object.values(branches).find((one) => one.cut)?.cut?.href ?? ''
    const headers = { authorization: `Bearer ${pullKeys.people.key}` }
    const told = await fetch(`${world.url()}${href}`, { headers })
    expect(told.status).toBe(200)
    expect(await told.json()).toMatchObject({ outcome: 'COMPLETED', reason: null, result })
    const none = await fetch(`${world.url()}/v2/handoffs/${handoffId}/branches/2`, { headers })
    expect(none.status).toBe(404)
    expect(await none.json()).toMatchObject({ code: 'BATON_BRANCH_UNKNOWN' })
    const wrong = await fetch(`${world.url()}/v2/handoffs/${handoffId}/branches/x`, { headers })
    expect(await wrong.json()).toMatchObject({ code: 'BATON_PARAMETER_INVALID' })
  })
})
