// A2A 1.0 by the SDK's own client: what it sends is done by Baton's agents, over both bindings, also where a gateway dies.
import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { TaskState } from '@a2a-js/sdk'
import type { StreamResponse, Task } from '@a2a-js/sdk'
import { withA2AExtensions } from '@a2a-js/sdk/client'
import { permanent } from '@baton/runtime'
import type { AgentContext } from '@baton/sdk'
import { HANDOFF_EXTENSION } from '@baton/protocol/dialects/a2a'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { KEYS, openA2a, saying } from './a2a-fixture.ts'
import type { A2aWorld, Binding } from './a2a-fixture.ts'
import { answer, gate, recordingAgent } from './pipeline-fixture.ts'

let world: A2aWorld
const textOf = ({ state }: AgentContext, key: string): string => state[key] as string
const held = gate()
const echo = recordingAgent('echo', {
  execute: async (context) => {
    echo.executed.push(context)
    return answer(context, { result: { text: `heard ${textOf(context, 'message')}` } })
  },
})
const reviewer = recordingAgent('reviewer', {
  requires: ['document'],
  execute: async (context) =>
    answer(context, { result: { length: textOf(context, 'document').length } }),
})
const slow = recordingAgent('slow', {
  execute: async (context) => {
    slow.executed.push(context)
    const stopped = new Promise((_, reject) =>
      context.signal.addEventListener('abort', () => reject(context.signal.reason as Error)),
    )
    await Promise.race([held.opened, stopped])
    return answer(context)
  },
})
const talker = recordingAgent('talker', {
  execute: async (context) => {
    for (const word of ['one', 'two', 'three']) await context.emit({ kind: 'text', content: word })
    return answer(context, { result: { said: 3 } })
  },
})
const asker = recordingAgent('asker', {
  execute: async (context) => {
    asker.executed.push(context)
    if (context.state['city'] === undefined && context.state['earlierMessages'] === undefined)
      throw permanent('BATON_INPUT_REQUIRED', 'for which city?')
    const { message = '', earlierMessages = [], city = '' } = context.state
    return answer(context, { result: { said: [...(earlierMessages as string[]), message], city } })
  },
})
const broken = recordingAgent('broken', {
  execute: async () => {
    throw permanent('BATON_REVIEW_UNAVAILABLE', 'out of order')
  },
})

beforeAll(async () => {
  world = await openA2a('a2a')
  await world.pipeline.start([echo, reviewer, slow, talker, asker, broken].map((one) => one.agent))
  await world.start()
}, 60_000)
afterAll(() => world.close())

const taskIn = (result: unknown): Task => result as Task

async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = []
  for await (const event of stream) events.push(event)
  return events
}

const kinds = (events: readonly StreamResponse[]) => events.map(({ payload }) => payload?.$case)

describe.each<Binding>(['JSONRPC', 'HTTP+JSON'])('over %s', (binding) => {
  it('has a plain text done by an agent type, and keeps its task', async () => {
    const client = await world.client('echo', binding)
    const sent = taskIn(await client.sendMessage(saying('hello')))
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(sent.artifacts[0]?.parts.map(({ content }) => content)).toEqual([
      { $case: 'data', value: { text: 'heard hello' } },
      { $case: 'text', value: 'heard hello' },
    ])
    const read = await client.getTask({ id: sent.id, tenant: '' })
    expect(read).toEqual(sent)
    expect(read.history.map(({ parts }) => parts[0]?.content)).toEqual([
      { $case: 'text', value: 'hello' },
    ])
    expect((await client.getTask({ id: sent.id, tenant: '', historyLength: 0 })).history).toEqual(
      [],
    )
  })

  it('gives the text as the one thing that an agent type needs, and data as members of its state', async () => {
    const client = await world.client('reviewer', binding)
    const said = taskIn(await client.sendMessage(saying('four')))
    expect(said.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'data', value: { length: 4 } })
    const parts = [{ data: { document: 'seven77' } }, { text: 'please' }]
    const given = taskIn(await client.sendMessage(saying('', { parts })))
    expect(given.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'data', value: { length: 7 } })
    expect(given.history[0]?.parts).toHaveLength(2)
  })

  it('knows a message that comes again, and takes another content for another message', async () => {
    const client = await world.client('echo', binding)
    const messageId = randomUUID()
    const [first, again, other] = await Promise.all(
      ['same', 'same', 'other'].map((text) => client.sendMessage(saying(text, { messageId }))),
    )
    expect(taskIn(again).id).toBe(taskIn(first).id)
    expect(taskIn(other).id).not.toBe(taskIn(first).id)
  })

  it('streams what an agent yields as an artifact that grows, then the result and the end', async () => {
    const client = await world.client('talker', binding)
    const events = await collect(client.sendMessageStream(saying('talk')))
    expect(kinds(events)[0]).toBe('task')
    const updates = events.flatMap(({ payload }) =>
      payload?.$case === 'artifactUpdate' ? [payload.value] : [],
    )
    const words = updates.filter(({ artifact }) => artifact?.name === 'stream')
    const texts = words.flatMap(({ artifact }) =>
      artifact?.parts[0]?.content?.$case === 'text' ? [artifact.parts[0].content.value] : [],
    )
    expect(texts.join('')).toBe('onetwothree')
    expect(words.map(({ append }) => append)[0]).toBe(false)
    expect(words.at(-1)?.lastChunk).toBe(true)
    expect(updates.at(-1)?.artifact?.artifactId).toBe('result')
    const last = events.at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
      TaskState.TASK_STATE_COMPLETED,
    )
  })

  it('answers at once where asked to, is followed, and is canceled', async () => {
    const client = await world.client('slow', binding)
    const sent = taskIn(await client.sendMessage(saying('wait', {}, { returnImmediately: true })))
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED)
    const followed = collect(client.resubscribeTask({ id: sent.id, tenant: '' }))
    await eventually(async () => slow.executed.some(({ taskId }) => taskId === sent.id), {
      deadlineMs: 10_000,
      describe: () => 'it executes',
    })
    const canceled = await client.cancelTask({ id: sent.id, tenant: '', metadata: {} })
    expect(canceled.id).toBe(sent.id)
    const events = await followed
    expect(kinds(events)[0]).toBe('task')
    const last = events.at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
      TaskState.TASK_STATE_CANCELED,
    )
    await expect(
      client.cancelTask({ id: sent.id, tenant: '', metadata: {} }),
    ).rejects.toMatchObject({ name: 'TaskNotCancelableError' })
    await expect(
      collect(client.resubscribeTask({ id: sent.id, tenant: '' })),
    ).rejects.toMatchObject({ name: 'UnsupportedOperationError' })
  })

  it('lists by context in pages, newest first, with a total', async () => {
    const client = await world.client('echo', binding)
    const contextId = `list ${binding} ${randomUUID()}`
    for (const text of ['a', 'b', 'c']) await client.sendMessage(saying(text, { contextId }))
    const asked = {
      tenant: '',
      contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageSize: 2,
      pageToken: '',
      statusTimestampAfter: undefined,
    }
    const first = await client.listTasks(asked)
    expect([first.tasks.length, first.totalSize, first.pageSize]).toEqual([2, 3, 2])
    expect(first.tasks[0]?.artifacts).toEqual([])
    const second = await client.listTasks({ ...asked, pageToken: first.nextPageToken })
    expect([second.tasks.length, second.nextPageToken]).toEqual([1, ''])
    const times = [...first.tasks, ...second.tasks].map(({ status }) => status?.timestamp ?? '')
    expect(times).toEqual(times.toSorted().toReversed())
    const done = { ...asked, status: TaskState.TASK_STATE_COMPLETED, includeArtifacts: true }
    expect((await client.listTasks(done)).tasks[0]?.artifacts).toHaveLength(1)
    expect(
      (await client.listTasks({ ...done, status: TaskState.TASK_STATE_FAILED })).totalSize,
    ).toBe(0)
  })

  it('says in A2A how it ended where that is not well, and what there is not', async () => {
    const client = await world.client('broken', binding)
    const failed = taskIn(await client.sendMessage(saying('try')))
    expect(failed.status?.state).toBe(TaskState.TASK_STATE_FAILED)
    expect(failed.status?.message?.parts[1]?.content).toMatchObject({
      value: { code: 'BATON_REVIEW_UNAVAILABLE' },
    })
    await expect(client.getTask({ id: randomUUID(), tenant: '' })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    })
    await expect(client.sendMessage(saying('more', { taskId: failed.id }))).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    })
    await expect(
      client.sendMessage(
        saying('', { parts: [{ raw: 'dGNr', mediaType: 'application/x-other' }] }),
      ),
    ).rejects.toMatchObject({ name: 'ContentTypeNotSupportedError' })
  })

  it('takes a whole handoff from who knows Baton, and says what the extension adds', async () => {
    const client = await world.client('echo', binding)
    const taskId = randomUUID()
    const handoff = {
      agentState: {
        taskId,
        agent: { agentId: 'planner', agentVersion: '2.0.0' },
        currentState: { message: 'canonical' },
        cost: {
          spentSoFarUSD: 0,
          budgetRemainingUSD: 0.5,
          ownCostUSD: 0,
          tokenSpent: { prompt: 0, completion: 0 },
        },
      },
      targetAgentType: 'echo',
    }
    const sent = taskIn(
      await client.sendMessage(
        saying('', { parts: [{ data: handoff }], extensions: [HANDOFF_EXTENSION] }),
        { serviceParameters: withA2AExtensions(HANDOFF_EXTENSION) as never },
      ),
    )
    expect(sent.id).toBe(taskId)
    expect(sent.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
    expect(echo.executed.at(-1)?.message.fromAgent.agentId).toBe('planner')
  })
})

describe.each<Binding>(['JSONRPC', 'HTTP+JSON'])('a task that needs input, over %s', (binding) => {
  it('goes on with another message, once, and whoever subscribed sees it', async () => {
    const client = await world.client('asker', binding)
    const events = await collect(client.sendMessageStream(saying('book a room')))
    const first = events[0]?.payload?.value as Task
    const asked = events.at(-1)?.payload
    expect(asked?.$case === 'statusUpdate' && asked.value.status?.state).toBe(
      TaskState.TASK_STATE_INPUT_REQUIRED,
    )
    const place = { taskId: first.id, contextId: first.contextId }
    await expect(
      client.sendMessage(saying('x', { ...place, contextId: 'other' })),
    ).rejects.toMatchObject({ name: 'RequestMalformedError' })
    const followed = collect(client.resubscribeTask({ id: first.id, tenant: '' }))
    const parts = [{ text: 'in Bern' }, { data: { city: 'Bern' } }]
    const more = saying('', { ...place, parts })
    const [done, same] = await Promise.all([client.sendMessage(more), client.sendMessage(more)])
    for (const task of [taskIn(done), taskIn(same), taskIn(await client.sendMessage(more))]) {
      expect([task.id, task.contextId]).toEqual([first.id, first.contextId])
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED)
      expect(task.artifacts[0]?.parts[0]?.content).toEqual({
        $case: 'data',
        value: { said: ['book a room', 'in Bern'], city: 'Bern' },
      })
      expect(task.history.map(({ messageId }) => messageId).at(-1)).toBe(more.message?.messageId)
      expect(task.history).toHaveLength(2)
    }
    expect(asker.executed.filter(({ taskId }) => taskId === first.id)).toHaveLength(2)
    const last = (await followed).at(-1)?.payload
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
      TaskState.TASK_STATE_COMPLETED,
    )
    await expect(client.sendMessage(saying('late', place))).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    })
  })

  it('takes one of two other messages, and keeps data about people apart', async () => {
    const client = await world.client('asker', binding)
    const metadata = { [HANDOFF_EXTENSION]: { dataSubjects: ['person-1'] } }
    const first = taskIn(await client.sendMessage(saying('for Ann', { metadata })))
    expect(first.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED)
    const answers = await Promise.allSettled(
      ['on Monday', 'on Friday'].map((text) =>
        client.sendMessage(saying(text, { taskId: first.id })),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    const done = await client.getTask({ id: first.id, tenant: '' })
    expect(done.history).toHaveLength(2)
    const { message } = asker.executed.findLast(({ taskId }) => taskId === first.id) ?? {}
    expect(JSON.stringify(message?.currentState)).not.toMatch(/Ann|Monday|Friday/)
    expect(JSON.stringify(message?.personalDataPayload)).toMatch(/for Ann.*on |on .*for Ann/)
  })
})

it('tells a caller only what its scopes allow', async () => {
  const sender = await world.client('echo', 'JSONRPC', KEYS.sender.key)
  const sent = taskIn(await sender.sendMessage(saying('secret')))
  expect([sent.status?.state, sent.artifacts]).toEqual([TaskState.TASK_STATE_SUBMITTED, []])
  await expect(sender.getTask({ id: sent.id, tenant: '' })).rejects.toThrow(/handoffs:read/)
  const reader = await world.client('echo', 'HTTP+JSON', KEYS.reader.key)
  await expect(reader.sendMessage(saying('no'))).rejects.toThrow(/handoffs:send/)
})

it('blames a caller for parts that are none, in both bindings', async () => {
  const ask = async (path: string, body: object) => {
    const response = await fetch(`${world.url()}/a2a/agents/echo${path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEYS.caller.key}`,
        'content-type': 'application/json',
        'a2a-version': '1.0',
      },
      body: JSON.stringify(body),
    })
    return { status: response.status, body: (await response.json()) as object }
  }
  for (const part of [null, 'text', { raw: 5 }]) {
    const params = { message: { messageId: 'm', role: 'ROLE_USER', parts: [part] } }
    expect(await ask('/message:send', params)).toMatchObject({ status: 400 })
    const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
    expect((await ask('', rpc)).body).toMatchObject({ error: { code: -32_602 } })
  }
})

it('has a card with caching headers for strangers, and one of its own for who calls', async () => {
  const url = `${world.url()}/.well-known/agent-card.json`
  const first = await fetch(url)
  expect(first.status).toBe(200)
  expect(first.headers.get('cache-control')).toBe('public, max-age=60')
  const etag = first.headers.get('etag') ?? ''
  const modified = first.headers.get('last-modified') ?? ''
  const card = (await first.json()) as { skills: { id: string }[]; supportedInterfaces: unknown[] }
  expect(card.skills.map(({ id }) => id)).toEqual([
    'asker',
    'broken',
    'echo',
    'reviewer',
    'slow',
    'talker',
  ])
  expect((await fetch(url, { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect((await fetch(url, { headers: { 'if-modified-since': modified } })).status).toBe(304)
  expect((await fetch(`${world.url()}/a2a/agents/none/.well-known/agent-card.json`)).status).toBe(
    404,
  )
})

it('refuses in the words of each binding, also before a method is known', async () => {
  const at = `${world.url()}/a2a/agents/echo`
  const rest = await fetch(`${at}/tasks/${randomUUID()}`, { headers: { 'A2A-Version': '1.0' } })
  expect([rest.status, rest.headers.get('content-type')]).toEqual([
    401,
    'application/a2a+json; charset=utf-8',
  ])
  expect(await rest.json()).toEqual({
    error: expect.objectContaining({ code: 401, status: 'UNAUTHENTICATED' }),
  })
  const rpc = await fetch(at, { method: 'POST', headers: { 'content-type': 'text/plain' } })
  expect([rpc.status, rpc.headers.get('content-type')]).toEqual([
    401,
    'application/json; charset=utf-8',
  ])
  const { id, error } = (await rpc.json()) as { id: null; error: object }
  expect([id, Object.keys(error)]).toEqual([null, ['code', 'message', 'data']])
})

it('takes a version with a patch number for the same, and answers HEAD for a card', async () => {
  const headers = { authorization: `Bearer ${KEYS.caller.key}`, 'A2A-Version': '1.0.1' }
  expect((await fetch(`${world.url()}/a2a/tasks`, { headers })).status).toBe(200)
  const card = `${world.url()}/.well-known/agent-card.json`
  const head = await fetch(card, { method: 'HEAD' })
  expect([head.status, head.headers.get('etag')]).toEqual([
    200,
    (await fetch(card)).headers.get('etag'),
  ])
})

it('begins no task for a message whose push notifications are refused', async () => {
  const client = await world.client('echo')
  const contextId = randomUUID()
  const sent = client.sendMessage(
    saying('tell', { contextId }, { taskPushNotificationConfig: { url: 'https://[::1]/' } }),
  )
  await expect(sent).rejects.toThrow()
  const headers = { authorization: `Bearer ${KEYS.caller.key}`, 'A2A-Version': '1.0' }
  const listed = await fetch(`${world.url()}/a2a/tasks?contextId=${contextId}`, { headers })
  expect(await listed.json()).toMatchObject({ totalSize: 0 })
})

it('answers callers of 0.3 where it is told to, and refuses them in the words of the standard otherwise', async () => {
  const asking = {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.caller.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: {
        message: {
          kind: 'message',
          messageId: randomUUID(),
          role: 'user',
          parts: [{ kind: 'text', text: 'old' }],
        },
      },
    }),
  }
  const path = '/a2a/agents/echo'
  const refused = await (await fetch(`${world.url()}${path}`, asking)).json()
  expect(refused).toMatchObject({ id: 1, error: { code: -32009 } })
  await world.start({ BATON_A2A_LEGACY: 'on' })
  const taken = await (await fetch(`${world.url()}${path}`, asking)).json()
  expect(taken).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } })
  const client = await world.client('talker', 'JSONRPC', KEYS.caller.key, true)
  expect(client.protocolVersion).toBe('0.3')
  const events = await collect(client.sendMessageStream(saying('talk')))
  expect(kinds(events).slice(0, 1)).toEqual(['task'])
  const last = events.at(-1)?.payload
  expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
    TaskState.TASK_STATE_COMPLETED,
  )
  await world.start()
})

it('tells whoever is named of a task, also where they are away at first, and calls no address inside', async () => {
  const heard: { readonly token: unknown; readonly type: unknown; readonly body: object }[] = []
  let isAway = true
  const consumer = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { authorization: token, 'content-type': type } = request.headers
      if (!isAway)
        heard.push({ token, type, body: JSON.parse(Buffer.concat(chunks).toString()) as object })
      response.statusCode = isAway ? 503 : 204
      isAway = false
      response.end()
    })
  })
  await new Promise<void>((resolve) => consumer.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(consumer.address() as AddressInfo).port}`
  await world.start({
    BATON_EVENT_SECRETS_KEY: randomBytes(32).toString('base64'),
    BATON_EVENTS_PRIVATE_TARGETS: origin,
  })
  const taskPushNotificationConfig = {
    url: `${origin}/hook`,
    authentication: { scheme: 'Bearer', credentials: 'of-the-caller' },
  }
  const client = await world.client('echo')
  const sent = taskIn(await client.sendMessage(saying('tell', {}, { taskPushNotificationConfig })))
  const isTold = () => heard.some(({ body }) => 'task' in body)
  await eventually(async () => isTold(), { deadlineMs: 30_000, describe: () => 'the end is told' })
  expect(heard.at(-1)).toMatchObject({
    token: 'Bearer of-the-caller',
    type: 'application/a2a+json',
    body: { task: { id: sent.id, status: { state: 'TASK_STATE_COMPLETED' } } },
  })
  const { configs } = await client.listTaskPushNotificationConfig({
    taskId: sent.id,
    tenant: '',
    pageSize: 0,
    pageToken: '',
  })
  expect(configs).toMatchObject([{ id: 'message', url: `${origin}/hook` }])
  const named = { taskId: sent.id, id: 'message', tenant: '' }
  for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
    const own = await world.client('echo', binding)
    const config = {
      ...named,
      id: binding,
      url: `${origin}/other`,
      token: 't',
      authentication: undefined,
    }
    await own.createTaskPushNotificationConfig(config)
    expect(await own.getTaskPushNotificationConfig({ ...named, id: binding })).toMatchObject({
      token: 't',
    })
    await own.deleteTaskPushNotificationConfig({ ...named, id: binding })
    await expect(own.getTaskPushNotificationConfig({ ...named, id: binding })).rejects.toThrow()
    for (const url of ['https://169.254.169.254/latest', 'http://example.org/', 'https://[::1]/'])
      await expect(own.createTaskPushNotificationConfig({ ...config, url })).rejects.toMatchObject({
        name: 'RequestMalformedError',
      })
  }
  const reading = await world.client('echo', 'JSONRPC', KEYS.reader.key)
  await expect(reading.getTaskPushNotificationConfig(named)).rejects.toThrow('handoffs:send')
  const { rows } = await world.pipeline.superuser.query<{ secret: Buffer }>({
    text: 'select secret from a2a_push',
  })
  expect(rows.map(({ secret }) => secret.toString('latin1')).join()).not.toContain('of-the-caller')
  await new Promise((resolve) => consumer.close(resolve))
})
