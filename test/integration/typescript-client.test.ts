// The TypeScript client against a gateway, and that it needs nothing that a browser does not have.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BatonError, createBaton } from '@baton/client'
import type { Baton } from '@baton/client'
import { eventually } from '@baton/testkit'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'

const CLIENT = new URL('../../clients/typescript/', import.meta.url)

let world: PullWorld
let sender: Baton
let agent: Baton
beforeAll(async () => {
  world = await openPullWorld('typescript client')
  sender = createBaton({ url: world.url(), key: pullKeys.people.key })
  agent = createBaton({ url: `${world.url()}/`, key: pullKeys.puller.key })
})
afterAll(() => world.close())

const submission = (targetAgentType: string) => ({
  agentState: {
    taskId: crypto.randomUUID(),
    agent: { agentId: 'browser', agentVersion: '1.0.0' },
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [],
    currentState: { text: 'four words are here' },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
  },
  targetAgentType,
})

it('sends once for one key, executes, settles and reads what came of it', async () => {
  const body = submission('ts-count')
  const options = { idempotencyKey: crypto.randomUUID() }
  const sent = await sender.send(body, options)
  expect((await sender.send(body, options)).handoffId).toBe(sent.handoffId)
  const stop = new AbortController()
  await agent.work(
    { type: 'ts-count', version: '1.0.0' },
    async ({ attempt, context }) => {
      if (attempt === 1) throw new Error('text of the work')
      stop.abort()
      return { outcome: 'complete', result: { isThere: context.includes('four words') } }
    },
    stop.signal,
  )
  const inPath = { id: sent.handoffId }
  expect(await sender.once('readHandoff', { inPath })).toMatchObject({
    handoffId: sent.handoffId,
    state: 'COMPLETED',
    attempt: 2,
  })
})

it('emits chunks and follows them', async () => {
  const { handoffId } = await sender.send(submission('ts-stream'))
  const [execution] = await agent.claim({ agent: { type: 'ts-stream', version: '1.0.0' } })
  if (execution === undefined) throw new Error('nothing was claimed')
  await agent.emit(execution, 1, [{ content: 'one' }, { content: 'two' }])
  const stream = sender.follow(handoffId)
  expect(await stream.next()).toMatchObject({ value: { seq: 1, content: 'one' } })
  const ended = agent
    .emit(execution, 2, [{ content: 'two' }, { content: 'three' }])
    .then(() => agent.settle(execution, { outcome: 'complete', chunks: 3 }))
  expect(await stream.next()).toMatchObject({ value: { seq: 2 } })
  expect(await stream.next()).toMatchObject({ value: { seq: 3, kind: 'text', content: 'three' } })
  expect(await stream.next()).toMatchObject({ done: true, value: { complete: true, committed: 3 } })
  await ended
})

it('fails what it cannot settle, and goes on', async () => {
  const first = await sender.send(submission('ts-odd'))
  const second = await sender.send(submission('ts-odd'))
  const stop = new AbortController()
  let calls = 0
  await agent.work(
    { type: 'ts-odd', version: '1.0.0' },
    async () => {
      calls += 1
      if (calls === 2) stop.abort()
      return { outcome: 'complete', costUSD: calls === 1 ? -1 : 0 }
    },
    stop.signal,
  )
  const states = await Promise.all(
    [first, second].map(async ({ handoffId }) => {
      const { state } = await sender.once('readHandoff', { inPath: { id: handoffId } })
      return state
    }),
  )
  expect(states.toSorted()).toEqual(['COMPLETED', 'ROLLED_BACK'])
})

it('says what was refused', async () => {
  const wrong = sender.send({ ...submission('nobody'), targetAgentType: '' })
  await expect(wrong).rejects.toMatchObject({ status: 422, name: 'BatonError' })
  const forbidden = sender.claim({ agent: { type: 'nobody', version: '1.0.0' } })
  await expect(forbidden).rejects.toBeInstanceOf(BatonError)
  await expect(forbidden).rejects.toMatchObject({ code: 'BATON_SCOPE_MISSING' })
})

it('asks again where Baton says when, with the same key, and not where it cannot help', async () => {
  const keys: (string | null)[] = []
  const statuses = [503, 429, 202]
  const flaky = createBaton({
    url: 'https://baton.example',
    key: 'bk_a_b',
    async fetch(_url, request) {
      keys.push(new Headers(request?.headers).get('idempotency-key'))
      const status = statuses[keys.length - 1] ?? 500
      return Response.json({ handoffId: 'one' }, { status, headers: { 'retry-after': '0' } })
    },
  })
  expect(await flaky.send(submission('anybody'))).toEqual({ handoffId: 'one' })
  expect(keys).toHaveLength(3)
  expect(new Set(keys).size).toBe(1)
})

it('runs its example', async () => {
  const { handoffId } = await sender.send(submission('word-count'))
  const child = spawn(process.execPath, [
    new URL('example.ts', CLIENT).pathname,
    world.url(),
    pullKeys.puller.key,
  ])
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await eventually(async () => output.includes(`${handoffId} 4`), {
    deadlineMs: 20_000,
    describe: () => `the example to count\n${output}`,
  })
  child.kill('SIGKILL')
  expect(output).not.toContain('Error')
})

it('imports nothing, and names nothing that only Node has', () => {
  for (const file of ['baton.ts', 'generated/operations.ts']) {
    const text = readFileSync(new URL(file, CLIENT), 'utf8')
    const imported = [...text.matchAll(/from '([^']+)'/g)].map(([, name]) => name)
    expect(imported.every((name) => name === './generated/operations.ts')).toBe(true)
    expect(text).not.toMatch(/\b(?:process|Buffer|require|__dirname|global)\b[.(]/)
  }
})
