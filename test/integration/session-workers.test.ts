// Baton dispatches to session workers: to the one that fits, with what it was allowed, and takes their results now or later.
import { randomUUID } from 'node:crypto'
import { findTask } from '@baton/store'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { stateBody } from './gateway-fixture.ts'
import {
  announceText,
  inboundOf,
  openSessionWorld,
  openTenants,
  resultText,
  sessionKeys,
  soon,
  startFakePeer,
  tokenOf,
} from './session-fixture.ts'
import type { FakePeer, Heard, SessionWorld, Tenants } from './session-fixture.ts'

let world: SessionWorld
let haiku: FakePeer
let opus: FakePeer
let own: FakePeer
let thief: FakePeer
let tenants: Tenants
beforeAll(async () => {
  const peers = await Promise.all([
    startFakePeer(),
    startFakePeer(),
    startFakePeer(),
    startFakePeer(),
  ])
  ;[haiku, opus, own, thief] = peers
  const working = { worksAs: 'coder', allowPrivate: true }
  const handsOn = { worksAs: 'starter', nextStepsTo: 'merger', allowPrivate: true }
  world = await openSessionWorld(
    'session workers',
    [
      { ...inboundOf('haiku'), ...working, url: haiku.url, tokenEnv: 'HAIKU_TOKEN' },
      { ...inboundOf('opus'), ...working, url: opus.url, limits: { tasksMax: 1, workMs: 60_000 } },
      { ...inboundOf('starter'), ...handsOn, url: haiku.url },
      {
        name: 'own',
        operator: 'acme/own',
        worksAs: 'acme/coder',
        allowPrivate: true,
        url: own.url,
      },
      { ...inboundOf('thief'), worksAs: 'acme/coder', allowPrivate: true, url: thief.url },
    ],
    { HAIKU_TOKEN: 'what-haiku-wants' },
  )
  tenants = await openTenants(world, 'acme')
})
afterAll(async () => {
  await tenants?.close()
  await world.close()
  await Promise.all([haiku, opus, own, thief].map((peer) => peer?.close()))
})

const done = ({ message }: Heard) => ({ texts: [resultText(taskOf(message.contextId))] })
const taskOf = (contextId: string): string => contextId.replace('baton:', '')
const announce = (as: 'haiku' | 'opus', changes: object = {}) =>
  world.say(announceText(as, changes), { as, role: 'agent', contextId: 'handshake' })

beforeEach(async () => {
  haiku.behave = done
  opus.behave = done
  await announce('haiku')
  await announce('opus')
})

const heardBy = (peer: FakePeer, handoffId: string) =>
  peer.heard.filter(({ message }) => message.contextId === `baton:${handoffId}`)

it('S07 is registered with the smallest window that its workers have announced', async () => {
  const small = announceText('opus').replace('200000', '32000')
  await world.say(small, { as: 'opus', role: 'agent', contextId: 'handshake' })
  const { handoffId } = await world.send('coder')
  await world.reaches(handoffId, 'COMPLETED')
  const text = `select context_window as window from agent_registration where type = 'coder'`
  const windows = await eventually(
    async () => {
      const { rows } = await world.pool.query<{ window: number | null }>({ text })
      return rows.some(({ window }) => window === 32_000) && rows
    },
    { deadlineMs: 20_000, describe: 'the type to be live with its smallest window' },
  )
  expect(windows.map(({ window }) => window)).toContain(32_000)
})

it('S08 S10 S13 S21 S23 dispatches with its terms, and keeps the result with the spent tokens as told and as counted', async () => {
  const deadline = new Date(Date.now() + 600_000).toISOString()
  const { handoffId, taskId } = await world.send('coder', {
    tokenBudget: 100,
    priority: 1,
    deadline,
  })
  await world.reaches(handoffId, 'COMPLETED')
  const [heard] = heardBy(haiku, handoffId)
  expect(heard).toMatchObject({
    authorization: 'Bearer what-haiku-wants',
    message: { role: 'user', messageId: handoffId },
  })
  expect(JSON.parse(heard?.text ?? '')).toMatchObject({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: { task_id: handoffId, priority: 'high', reply_schema: 'structured', token_budget: 100 },
    deadline,
    brief: expect.stringContaining('something to work on'),
  })
  expect(await findTask(world.pool, taskId)).toMatchObject({
    status: 'COMPLETED',
    result: {
      status: 'done',
      artifacts: { pr: 'https://example.test/pull/72' },
      tokens: { reported: 3240, mismatch: false, overBudget: true },
    },
  })
  expect(world.gateway().output()).toContain('session.tokens_flagged')
  const trace = await soon('the trace has the result', async () => {
    const text = JSON.stringify(await world.api('GET', `/v2/tasks/${taskId}/trace`))
    return text.includes('EXECUTION_COMPLETED') && text
  })
  expect(trace).toContain('HANDOFF_ACCEPTED')
  expect(heard?.traceparent?.slice(3, 35)).toBe(
    (await world.reaches(handoffId, 'COMPLETED')).traceparent.slice(3, 35),
  )
})

it('S13 hands the next steps on in the same task, and ends a task without any', async () => {
  const { handoffId, taskId } = await world.send('starter', { list: ['tag:auth'], priority: 1 })
  const parent = await world.reaches(handoffId, 'COMPLETED')
  const claiming = { agent: { type: 'merger', version: '1.0.0' }, waitMs: 10_000 }
  const { executions } = await world.api<{ executions: { traceparent: string }[] }>(
    'POST',
    '/v2/executions/claim',
    claiming,
    sessionKeys.puller.key,
  )
  expect(executions).toMatchObject([
    {
      taskId,
      message: {
        parentHandoffId: handoffId,
        taskDescription: 'Open PR for review',
        remainingSubtasks: [
          { subtaskId: `${handoffId}-next-1`, description: 'Open PR for review' },
        ],
        completedSubtasks: [
          { subtaskId: 'start' },
          { result: { artifacts: { pr: 'https://example.test/pull/72' } } },
        ],
        constraints: ['tag:auth'],
        priority: 1,
      },
    },
  ])
  expect(executions[0]?.traceparent.slice(3, 35)).toBe(parent.traceparent.slice(3, 35))
  haiku.behave = ({ message }) => ({
    texts: [resultText(taskOf(message.contextId), { next_steps: [' '] })],
  })
  const last = await world.send('starter')
  await world.reaches(last.handoffId, 'COMPLETED')
  expect((await findTask(world.pool, last.taskId))?.status).toBe('COMPLETED')
})

it('S03 S06 gives a task to the worker that its constraints ask for', async () => {
  const tiered = await world.send('coder', { list: ['model_tier:opus'] })
  await world.reaches(tiered.handoffId, 'COMPLETED')
  expect(heardBy(opus, tiered.handoffId)).toHaveLength(1)
  await announce('haiku', { repo_state: { branch: 'main', clean: false } })
  const writing = await world.send('coder', { list: ['access:write'] })
  await world.reaches(writing.handoffId, 'COMPLETED')
  expect(heardBy(opus, writing.handoffId)).toHaveLength(1)
})

it('S05 gives no worker more than it may have', async () => {
  await announce('haiku', { active_tasks: 3 })
  const release = Promise.withResolvers<void>()
  opus.behave = async (heard) => {
    await release.promise
    return done(heard)
  }
  const sent = await Promise.all([1, 2].map(() => world.send('coder')))
  const heard = () => sent.filter(({ handoffId }) => heardBy(opus, handoffId).length > 0)
  await soon('opus has one', () => heard().length === 1)
  await announce('haiku')
  for (const { handoffId } of sent.filter((one) => !heard().includes(one)))
    await world.reaches(handoffId, 'COMPLETED')
  expect(heard()).toHaveLength(1)
  release.resolve()
  for (const { handoffId } of sent) await world.reaches(handoffId, 'COMPLETED')
})

it('S04 S18 blocks what needs a server that does not answer, and S20 a person has it next', async () => {
  const { handoffId, taskId } = await world.send('coder', { requirements: { mcp: ['trek'] } })
  await world.reaches(handoffId, 'BLOCKED')
  expect([...heardBy(haiku, handoffId), ...heardBy(opus, handoffId)]).toEqual([])
  expect((await findTask(world.pool, taskId))?.status).toBe('AWAITING_HUMAN')
})

it('S20 goes on elsewhere where a worker says that it cannot begin', async () => {
  haiku.behave = ({ message }) => ({
    texts: [
      resultText(taskOf(message.contextId), { status: 'blocked', blocked_reason: 'no disk' }),
    ],
  })
  const { handoffId } = await world.send('coder')
  await soon('asked', () => heardBy(haiku, handoffId).length === 1)
  expect(await world.reaches(handoffId, 'BLOCKED')).toMatchObject({ state: 'BLOCKED' })
})

it('S14 takes a part with what is left, and an error as the end', async () => {
  let parts = 0
  haiku.behave = ({ message }) => {
    const status = (parts += 1) === 1 ? 'partial' : 'done'
    return { texts: [resultText(taskOf(message.contextId), { status, next_steps: ['the tests'] })] }
  }
  const part = await world.send('coder')
  await world.reaches(part.handoffId, 'PARTIAL')
  await soon(
    'the rest was done',
    async () => (await findTask(world.pool, part.taskId))?.status === 'COMPLETED',
  )
  haiku.behave = ({ message }) => ({
    texts: [resultText(taskOf(message.contextId), { status: 'error', summary: 'broke' })],
  })
  const broken = await world.send('coder')
  expect((await world.reaches(broken.handoffId, 'ROLLED_BACK', 'FAILED')).reason).toBe(
    'BATON_SESSION_ERROR',
  )
})

it('S09 S17 takes a reply that cannot be read as an error', async () => {
  haiku.behave = () => ({ texts: ['I am done, look at the pull request.'] })
  const { handoffId } = await world.send('coder', { replySchema: 'structured' })
  expect((await world.reaches(handoffId, 'ROLLED_BACK', 'FAILED')).reason).toBe(
    'BATON_SESSION_ERROR',
  )
})

it('S22 waits for a result that comes later, from who has the task and nobody else', async () => {
  haiku.behave = () => ({ texts: ['[queued] later'] })
  const { handoffId, taskId } = await world.send('coder')
  await soon('queued', () =>
    world.gateway().output().includes(`"handoffId":"${handoffId}","peer":"haiku"`),
  )
  const contextId = `baton:${handoffId}`
  const said = { role: 'agent', contextId }
  const stolen = await world.say(resultText(handoffId), { ...said, as: 'opus' })
  expect(stolen.error).toMatchObject({ code: -32000 })
  const own = await world.say(resultText(handoffId), { ...said, as: 'haiku' })
  expect(own.texts).toEqual(['received'])
  await world.reaches(handoffId, 'COMPLETED')
  expect((await world.say(resultText(handoffId), { ...said, as: 'haiku' })).texts).toEqual([
    'received',
  ])
  expect((await findTask(world.pool, taskId))?.result).toMatchObject({ tokens_spent: 3240 })
  const unknown = await world.say(resultText(randomUUID()), { role: 'agent', as: 'haiku' })
  expect(unknown.error).toMatchObject({ code: -32000 })
})

it('S12 takes no result after the deadline', async () => {
  haiku.behave = () => ({ texts: ['[queued] later'] })
  const deadline = new Date(Date.now() + 3_000).toISOString()
  const { handoffId } = await world.send('coder', { deadline })
  await soon('asked', () => heardBy(haiku, handoffId).length === 1)
  await world.reaches(handoffId, 'EXPIRED')
  const late = await world.say(resultText(handoffId), {
    role: 'agent',
    as: 'haiku',
    contextId: `baton:${handoffId}`,
  })
  expect(late.error).toMatchObject({ code: -32000, data: { code: 'BATON_EXECUTION_LOST' } })
})

it('S22 asks again where a worker was busy, did not answer or hung up', async () => {
  const first: ({ error: number } | { status: number } | 'hang up')[] = [
    { error: -32001 },
    { status: 502 },
  ]
  haiku.behave = (heard) => first.shift() ?? done(heard)
  opus.behave = () => ({ error: -32001 })
  const { handoffId } = await world.send('coder')
  await world.reaches(handoffId, 'COMPLETED')
  const ids = heardBy(haiku, handoffId).map(({ message }) => message.messageId)
  expect(new Set(ids)).toEqual(new Set([handoffId]))
  expect(ids.length).toBeGreaterThan(1)
})

it.each(['session.before_dispatch', 'session.after_dispatch'])(
  'S22 loses nothing where a gateway dies at %s, and the worker hears the same id again',
  async (place) => {
    await world.gateway().stop()
    await world.startGateway({ BATON_CRASH_AT: place })
    const { handoffId } = await world.send('coder')
    await world.gateway().exited()
    await world.pool.query({
      text: 'update execution set lease_until = clock_timestamp() where handoff_id = $1',
      values: [handoffId],
    })
    await world.startGateway()
    await world.reaches(handoffId, 'COMPLETED')
    const heard = [...heardBy(haiku, handoffId), ...heardBy(opus, handoffId)]
    expect(new Set(heard.map(({ message }) => message.messageId))).toEqual(new Set([handoffId]))
  },
)

it('S15 S19 speaks prose to a worker that has announced nothing, and S16 hears its announcement in the first reply', async () => {
  await world.gateway().stop()
  await world.startGateway()
  haiku.behave = () => ({ texts: ['All is well.', announceText('haiku')] })
  opus.behave = () => ({ texts: ['All is well.', announceText('opus')] })
  const { handoffId, taskId } = await world.send('coder')
  await world.reaches(handoffId, 'COMPLETED')
  const [heard] = [...heardBy(haiku, handoffId), ...heardBy(opus, handoffId)]
  expect(heard?.text).toMatch(/^TASK DISPATCH \(inline\)\ntask_id: /)
  expect((await findTask(world.pool, taskId))?.result).toMatchObject({
    artifacts: { text: expect.stringContaining('All is well.') },
  })
  haiku.behave = done
  opus.behave = done
  const next = await world.send('coder')
  await world.reaches(next.handoffId, 'COMPLETED')
})

it('S20 asks no more whom refuses, and says in the log why a dispatch failed', async () => {
  haiku.behave = () => ({ error: -32_601 })
  opus.behave = haiku.behave
  const refused = await world.send('coder')
  await world.reaches(refused.handoffId, 'ROLLED_BACK')
  expect(heardBy(haiku, refused.handoffId).length + heardBy(opus, refused.handoffId).length).toBe(1)
  haiku.behave = () => ({ status: 401 })
  opus.behave = haiku.behave
  const unauthorized = await world.send('coder')
  const isSaid = () =>
    world.gateway().output().includes('"kind":"failed","code":"BATON_PEER_FAILED","status":401')
  await soon('the status to be in the log', isSaid)
  haiku.behave = done
  opus.behave = done
  await world.reaches(unauthorized.handoffId, 'COMPLETED')
  expect(world.gateway().output()).toContain('"kind":"refused","code":-32601')
})

it('S23 a worker that announces something else without end keeps nobody from work', async () => {
  let windows = 100_000
  let isOver = false
  const flood = async () => {
    while (!isOver) {
      const text = announceText('haiku').replace('200000', String((windows += 1)))
      await world.say(text, { as: 'haiku', role: 'agent', contextId: 'handshake' })
    }
  }
  const flooding = flood()
  const sent = await Promise.all(Array.from({ length: 5 }, () => world.send('coder')))
  for (const { handoffId } of sent) await world.reaches(handoffId, 'COMPLETED')
  isOver = true
  await flooding
  expect(windows).toBeGreaterThan(100_010)
})

it('S07 gives the work of a tenant to peers of that tenant alone, and hears its result of none but them', async () => {
  own.behave = ({ message }) => ({ texts: [`[queued] task ${taskOf(message.contextId)}`] })
  const sender = await tenants.key('acme', { operator: 'ann', scopes: 'handoffs:send' })
  const body = stateBody(
    { agent: { agentId: 'acme/intake', agentVersion: '1.0.0' } },
    { targetAgentType: 'acme/coder' },
  )
  const sent = await world.api<{ handoffId: string }>('POST', '/v2/handoffs', body, sender.key)
  const { handoffId } = sent
  await soon('its own worker has it', () => heardBy(own, handoffId).length > 0)
  await soon('the other is named', () => world.output().includes('session.type_of_other'))
  const report = async (headers: Readonly<Record<string, string>>) => {
    const saying = { role: 'agent', contextId: `baton:${handoffId}`, headers }
    const { error } = await world.say(resultText(handoffId), saying)
    return (error?.data as { code?: string } | undefined)?.code
  }
  const thieving = { authorization: `Bearer ${tokenOf('thief')}` }
  expect(await report(thieving)).toBe('BATON_AGENT_TYPE_REFUSED')
  const weak = await tenants.key('acme', { operator: 'own', scopes: 'handoffs:send' })
  expect(await report(weak.headers)).toBe('BATON_SCOPE_MISSING')
  const limited = { operator: 'own', scopes: 'executions:claim', agents: ['acme/writer'] }
  const elsewhere = await tenants.key('acme', limited)
  expect(await report(elsewhere.headers)).toBe('BATON_AGENT_TYPE_REFUSED')
  const working = await tenants.key('acme', { operator: 'own', scopes: 'executions:claim' })
  expect(await report(working.headers)).toBeUndefined()
  await world.reaches(handoffId, 'COMPLETED')
  expect(thief.heard).toEqual([])
})
