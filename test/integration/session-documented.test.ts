// Every message, request, answer and error that the session handshake documents, replayed against a live gateway and compared field by field.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ANNOUNCE, DISPATCH, INLINE, REFUSED, RESULT, STATUSES } from './documented-session.ts'
import {
  inboundOf,
  openSessionWorld,
  resultIn,
  soon,
  startFakePeer,
  tokenOf,
} from './session-fixture.ts'
import type { FakePeer, Heard, SessionWorld } from './session-fixture.ts'

let world: SessionWorld
let worker: FakePeer
let hermes: FakePeer
beforeAll(async () => {
  ;[worker, hermes] = await Promise.all([startFakePeer(), startFakePeer()])
  const patient = { waitMs: 30_000, contextsMax: 100 }
  world = await openSessionWorld('session documented', [
    { ...inboundOf('hermes-switch'), sendsTo: 'coder', limits: patient },
    { ...inboundOf('later'), sendsTo: 'nobody-yet', url: hermes.url, allowPrivate: true },
    { ...inboundOf('silent') },
    { ...inboundOf('claude-code'), worksAs: 'coder', url: worker.url, allowPrivate: true },
  ])
})
afterAll(async () => {
  await world.close()
  await Promise.all([worker.close(), hermes.close()])
})

const reporting = (result: object) => (heard: Heard) => ({
  texts: [JSON.stringify({ ...result, task_id: idOf(heard) })],
})
const idOf = ({ message }: Heard): string => message.contextId.replace('baton:', '')
const hour = () => new Date(Date.now() + 3_600_000).toISOString()
const dispatchOf = (taskId: string, changes: object = {}): string =>
  JSON.stringify({
    ...DISPATCH,
    task: { ...DISPATCH.task, task_id: taskId },
    deadline: hour(),
    ...changes,
  })
const ask = (text: string, saying: object = {}) =>
  world.say(text, { as: 'hermes-switch', ...saying })
const announce = () =>
  world.say(JSON.stringify(ANNOUNCE), {
    as: 'claude-code',
    role: 'agent',
    contextId: ANNOUNCE.session.context_id,
  })

interface RecordBody {
  readonly event: string
  readonly act?: { readonly actor: string }
  readonly payload: readonly { readonly kind: string; readonly bytes: number }[]
}

/** The records of a task by its peer's name for it, once there is one of this event. */
const recorded = (taskId: string, event: string) =>
  soon(`${event} is recorded`, async () => {
    const records = await recordsOf(taskId)
    return records.some((record) => record.event === event) && records
  })

/** What the worker heard of a task; of what is left of an earlier one it may hear in between. */
async function heardOf(taskId: string): Promise<string> {
  const { rows } = await world.pool.query<{ handoff_id: string }>({
    text: 'select handoff_id from external_ref where id = $1',
    values: [`hermes-switch/${taskId}`],
  })
  const contextId = `baton:${rows[0]?.handoff_id}`
  return worker.heard.find(({ message }) => message.contextId === contextId)?.text ?? ''
}

async function recordsOf(taskId: string): Promise<readonly RecordBody[]> {
  const { rows } = await world.pool.query<{ task_id: string }>({
    text: `select h.task_id from external_ref r join handoff h on h.id = r.handoff_id where r.id = $1`,
    values: [`hermes-switch/${taskId}`],
  })
  const { audit } = await world.api<{ audit: { records: readonly { body: RecordBody }[] } }>(
    'GET',
    `/v2/tasks/${rows[0]?.task_id}/trace`,
  )
  return audit.records.map(({ body }) => body)
}

describe('POST /jsonrpc', () => {
  it.each(REFUSED)(
    'S19 S22 refuses $what with $code',
    async ({ body, as = 'hermes-switch', ...refused }) => {
      const response = await fetch(`${world.address()}/jsonrpc`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(as !== null ? { authorization: `Bearer ${tokenOf(as)}` } : {}),
        },
        body,
      })
      const { status = 200, code, message, id = 7, retryable = false } = refused
      expect([response.status, await response.json()]).toMatchObject([
        status,
        {
          jsonrpc: '2.0',
          id,
          error: { code, message, ...(code === -32000 ? { data: { retryable } } : {}) },
        },
      ])
    },
  )

  it.each(['SendMessage', 'message/send'])('S22 answers %s as running peers do', async (method) => {
    const params = {
      message: {
        role: 'user',
        parts: [{ text: '[A2A HANDSHAKE v1 hermes]' }],
        contextId: 'handshake:hermes-switch',
      },
    }
    const response = await fetch(`${world.address()}/jsonrpc`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${tokenOf('hermes-switch')}`,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params }),
    })
    expect([response.status, await response.json()]).toEqual([
      200,
      {
        jsonrpc: '2.0',
        id: 'a',
        result: {
          kind: 'message',
          message: {
            role: 'agent',
            parts: [
              {
                text: '[A2A HANDSHAKE ACK v1]\nrole: worker\ncwd: none\nharness: baton\nready: true',
              },
            ],
            contextId: 'handshake:hermes-switch',
            messageId: expect.any(String),
          },
        },
      },
    ])
  })

  it('S22 refuses a second turn of a context with -32001, and acknowledges long work with [queued]', async () => {
    const contextId = randomUUID()
    const taskId = randomUUID()
    const queued = await ask(dispatchOf(taskId, { requirements: {} }), { as: 'later', contextId })
    expect(queued.texts.at(-1)).toBe(`[queued] task ${taskId} is under way; its result follows.`)
    expect(await ask(dispatchOf('another'), { as: 'later', contextId })).toMatchObject({
      status: 200,
      error: {
        code: -32001,
        message: 'a turn of this context is under way',
        data: { retryable: true },
      },
    })
    await world.work('nobody-yet', { outcome: 'complete', result: RESULT.artifacts })
    const pushed = await soon('the result is pushed', () =>
      hermes.heard.find(({ text }) => text.includes(taskId)),
    )
    expect(pushed.message).toMatchObject({ role: 'agent', contextId, messageId: queued.messageId })
    expect(JSON.parse(pushed.text)).toMatchObject({
      task_id: taskId,
      status: 'done',
      artifacts: RESULT.artifacts,
    })
  })

  it('S22 is closed where no peer has a token, and open for the card and its health', async () => {
    await world.gateway().stop()
    await world.startGateway({ BATON_PEERS: '' })
    const response = await fetch(`${world.address()}/jsonrpc`, {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json' },
    })
    expect([response.status, await response.json()]).toMatchObject([
      503,
      { jsonrpc: '2.0', id: null, error: { code: -32000 } },
    ])
    expect(await (await fetch(`${world.address()}/health`)).json()).toEqual({ status: 'ok' })
    expect((await fetch(`${world.address()}/.well-known/agent-card.json`)).status).toBe(200)
    await world.gateway().stop()
    await world.startGateway()
  })
})

describe('the three messages', () => {
  it('S01 S02 S04 phase 4: blocked at once for a server that was announced as dead, before anything is spent', async () => {
    expect((await announce()).texts).toEqual(['received'])
    const asked = worker.heard.length
    const requirements = { required_mcp: ['trek'], required_capabilities: [] }
    const { texts } = await ask(dispatchOf('dead-server', { requirements }))
    expect(resultIn(texts)).toEqual({
      type: 'TASK_RESULT',
      protocol_version: '2.0',
      task_id: 'dead-server',
      status: 'blocked',
      tokens_spent: 0,
      next_steps: [],
      blocked_reason: 'unmet requirements: mcp trek',
      artifacts: {},
      summary: null,
      remaining: [],
    })
    expect(worker.heard.length).toBe(asked)
    const records = await recorded('dead-server', 'HANDOFF_BLOCKED')
    expect(records.map(({ event }) => event)).not.toContain('HANDOFF_ACCEPTED')
  })

  it('S08 S12 the dispatch as it is documented is late', async () => {
    const { texts } = await ask(JSON.stringify(DISPATCH))
    expect(resultIn(texts)).toMatchObject({
      task_id: 'abc-123',
      status: 'blocked',
      tokens_spent: 0,
      blocked_reason: 'expired',
    })
  })

  it.each(STATUSES)('S08 S13 S14 S17 phase 3: %j is told as %j', async (reported, told) => {
    await announce()
    worker.behave = reporting(reported)
    const taskId = randomUUID()
    const { texts } = await ask(dispatchOf(taskId))
    const heard = await heardOf(taskId)
    const { task, deadline: _, brief, ...terms } = JSON.parse(heard) as typeof DISPATCH
    expect(terms).toEqual({
      type: DISPATCH.type,
      protocol_version: '2.0',
      requirements: DISPATCH.requirements,
    })
    expect(task).toMatchObject({ priority: 'high', reply_schema: 'structured', token_budget: 4000 })
    expect(brief).toContain(DISPATCH.brief)
    expect(resultIn(texts)).toMatchObject({
      ...told,
      type: 'TASK_RESULT',
      protocol_version: '2.0',
      task_id: taskId,
    })
  })

  it.each([
    ['in a code fence', (text: string) => `Done.\n\`\`\`json\n${text}\n\`\`\``, 'done'],
    ['cut in half', (text: string) => text.slice(0, -5), 'error'],
    ['as prose', () => 'I am done.', 'error'],
  ])('S09 S17 phase 3: a result %s', async (_, written, status) => {
    worker.behave = (heard) => ({ texts: [written(reporting(RESULT)(heard).texts[0] ?? '')] })
    const { texts } = await ask(dispatchOf(randomUUID()))
    expect(resultIn(texts)).toMatchObject({ status })
  })

  it('S15 phase 1: the header block has the terms of the dispatch', async () => {
    worker.behave = reporting(RESULT)
    const { texts } = await ask(INLINE)
    expect(resultIn(texts)).toMatchObject({ status: 'done', tokens_spent: 3240 })
    expect(JSON.parse(await heardOf(String(resultIn(texts)['task_id'])))).toMatchObject({
      task: { priority: 'high', reply_schema: 'structured', token_budget: 4000 },
      requirements: { required_mcp: ['context_mode'], required_capabilities: [] },
      brief: expect.stringContaining('Refactor the auth module...'),
    })
  })

  it('S16 S23 phase 2: an announcement in the first reply stands under its task, and so do the later ones', async () => {
    await world.gateway().stop()
    await world.startGateway()
    worker.behave = (heard) => ({
      texts: [JSON.stringify(ANNOUNCE), ...reporting(RESULT)(heard).texts],
    })
    const [first, second] = [randomUUID(), randomUUID()]
    const { texts } = await ask(dispatchOf(first, { requirements: {} }))
    expect(await heardOf(first)).toMatch(/^TASK DISPATCH \(inline\)\n/)
    const own = JSON.parse(texts[0] ?? '') as typeof ANNOUNCE
    expect(Object.keys(own)).toEqual(Object.keys(ANNOUNCE))
    await ask(dispatchOf(second))
    expect(JSON.parse(await heardOf(second))).toMatchObject({ type: 'TASK_DISPATCH' })
    for (const taskId of [first, second]) {
      const records = await recorded(taskId, 'EXECUTION_COMPLETED')
      const begun = records.filter(({ event }) => event === 'EXECUTION_STARTED')
      // The first began before it said anything of itself, the second as what it had said.
      expect(
        begun.map(({ act, payload }) => [act?.actor, payload.map(({ kind }) => kind)]),
      ).toEqual([
        ['session:claude-code', taskId === first ? [] : ['message']],
        ['session:claude-code', ['message']],
      ])
    }
  })
})

describe('blocked handling', () => {
  const blocked = { ...RESULT, status: 'blocked', tokens_spent: 0, blocked_reason: 'no disk' }
  const requirements = { required_mcp: [], required_capabilities: ['terminal'] }
  const asking = async (policy: string) => {
    await world.gateway().stop()
    await world.startGateway({ BATON_BLOCKED_POLICY: policy })
    await announce()
    worker.behave = reporting(blocked)
    const before = worker.heard.length
    const helping = world
      .work('helper', { outcome: 'complete', result: 'helped' }, { capabilities: ['terminal'] })
      .catch(() => '')
    const { texts } = await ask(dispatchOf(randomUUID(), { requirements }))
    return { helping, told: resultIn(texts), tries: worker.heard.length - before }
  }

  it('S20 reroutes to another agent type that has what is required', async () => {
    const { helping, told, tries } = await asking('reroute')
    expect({ told, tries }).toMatchObject({
      told: { status: 'done', artifacts: { result: 'helped' } },
      tries: 1,
    })
    expect(await helping).not.toBe('')
  })

  it('S20 asks again until its attempts run out', async () => {
    const { told, tries } = await asking('retry')
    expect(told).toMatchObject({ status: 'blocked', blocked_reason: 'no disk', tokens_spent: 0 })
    expect(tries).toBeGreaterThan(1)
  })

  it('S20 leaves it to a person at once', async () => {
    const { told, tries } = await asking('escalate')
    expect(told).toMatchObject({ status: 'blocked', blocked_reason: 'no disk', tokens_spent: 0 })
    expect(tries).toBe(1)
  })
})
