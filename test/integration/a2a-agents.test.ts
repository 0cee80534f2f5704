// A2A agents anywhere as receivers of handoffs: what they do is known again after their restarts and after ours.
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentCard, Task, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent,
  DefaultRequestHandler,
  InMemoryTaskStore,
  JsonRpcTransportHandler,
  ServerCallContext,
} from '@a2a-js/sdk/server'
import type { AgentExecutor, TaskStore } from '@a2a-js/sdk/server'
import { requestCancel } from '@baton/engine'
import { defineA2aAgent } from '@baton/sdk'
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { gate, openPipeline } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const TOKEN = 'token-of-the-remote-agent'

interface Remote {
  readonly port: number
  readonly calls: string[]
  readonly authorizations: Set<string | undefined>
  close(): Promise<void>
}

/** An agent by the SDK's own server, on a port; with the store of another one it is that one, restarted. */
async function startRemote(
  executor: AgentExecutor,
  {
    port = 0,
    store = new InMemoryTaskStore(),
    streaming = true,
  }: { port?: number; store?: TaskStore; streaming?: boolean } = {},
): Promise<Remote> {
  const calls: string[] = []
  const authorizations = new Set<string | undefined>()
  const sockets = new Set<ServerResponse>()
  const server: Server = createServer((request, response) => {
    sockets.add(response)
    void answer(request, response)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const own = (server.address() as AddressInfo).port
  const card = AgentCard.fromJSON({
    name: 'remote',
    description: 'an agent elsewhere',
    version: '1.0.0',
    supportedInterfaces: [
      { url: `http://127.0.0.1:${own}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ],
    capabilities: { streaming },
    defaultInputModes: ['text/plain'],
    defaultOutputModes: ['text/plain'],
    skills: [],
  })
  const transport = new JsonRpcTransportHandler(new DefaultRequestHandler(card, store, executor))

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    authorizations.add(request.headers.authorization)
    if (request.method === 'GET')
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(AgentCard.toJSON(card)))
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { method: string }
    calls.push(body.method)
    const answered = await transport.handle(
      body as never,
      new ServerCallContext({ requestedVersion: '1.0' }),
    )
    if (!(Symbol.asyncIterator in answered))
      return void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(answered))
    response.setHeader('content-type', 'text/event-stream')
    for await (const event of answered) response.write(`data: ${JSON.stringify(event)}\n\n`)
    response.end()
  }

  return {
    port: own,
    calls,
    authorizations,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const taskOf = (id: string, contextId: string, state: TaskState): Task =>
  Task.fromJSON({ id, contextId, status: { state, timestamp: new Date().toISOString() } })

/** Says `working`, waits, then answers with an artifact. */
const working = (until: Promise<void>): AgentExecutor => ({
  async execute({ taskId, contextId, userMessage }, bus) {
    bus.publish(AgentEvent.task(taskOf(taskId, contextId, TaskState.TASK_STATE_WORKING)))
    await until
    const [part] = userMessage.parts
    const said = part?.content?.$case === 'text' ? part.content.value : ''
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        append: false,
        lastChunk: true,
        metadata: undefined,
        artifact: {
          artifactId: 'a',
          name: 'a',
          description: '',
          parts: [
            {
              content: { $case: 'text', value: `did ${said}` },
              metadata: undefined,
              filename: '',
              mediaType: '',
            },
          ],
          metadata: undefined,
          extensions: [],
        },
      }),
    )
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId,
        metadata: undefined,
        status: {
          state: TaskState.TASK_STATE_COMPLETED,
          message: undefined,
          timestamp: new Date().toISOString(),
        },
      }),
    )
  },
  async cancelTask(taskId, bus) {
    canceled.push(taskId)
    bus.publish(
      AgentEvent.statusUpdate({
        taskId,
        contextId: '',
        metadata: undefined,
        status: {
          state: TaskState.TASK_STATE_CANCELED,
          message: undefined,
          timestamp: new Date().toISOString(),
        },
      }),
    )
  },
})
const canceled: string[] = []

const ending = (state: TaskState): AgentExecutor => ({
  async execute({ taskId, contextId }, bus) {
    bus.publish(AgentEvent.task(taskOf(taskId, contextId, state)))
  },
  cancelTask: async () => undefined,
})

let pipeline: Pipeline
const remotes: Remote[] = []
const start = async (...given: Parameters<typeof startRemote>): Promise<Remote> => {
  const remote = await startRemote(...given)
  remotes.push(remote)
  return remote
}

const agentAt = (type: string, { port }: Remote) =>
  defineA2aAgent({
    type,
    version: '1.0.0',
    cardUrl: `http://127.0.0.1:${port}/.well-known/agent-card.json`,
    token: TOKEN,
    allowPrivate: true,
  })

beforeAll(async () => {
  pipeline = await openPipeline('a2a agents')
}, 60_000)
afterAll(async () => {
  await pipeline.close()
  await Promise.all(remotes.map((remote) => remote.close()))
})

const says = (text: string) => ({ state: { currentState: { message: text } } })

it('hands work to an agent that streams, and to one that does not', async () => {
  const done = Promise.resolve()
  const streams = await start(working(done))
  const polled = await start(working(done), { streaming: false })
  await pipeline.start([agentAt('streaming', streams), agentAt('polled', polled)])
  for (const target of ['streaming', 'polled']) {
    const { taskId } = await pipeline.send(target, says('it'))
    const ended = await pipeline.taskEnds(taskId)
    expect([ended.status, ended.result]).toMatchObject(['COMPLETED', { text: 'did it' }])
  }
  expect([...streams.authorizations]).toEqual([`Bearer ${TOKEN}`])
})

it('goes on with the same remote task after a restart of ours, and of theirs, and sends nothing twice', async () => {
  const open = gate()
  const store = new InMemoryTaskStore()
  const before = await start(working(open.opened), { store })
  const agent = () => agentAt('durable', before)
  const first = await pipeline.start([agent()], { drainMs: 100 })
  const { taskId, handoffId } = await pipeline.send('durable', says('once'))
  await eventually(
    async () =>
      (await pipeline.rows('select from stream_chunk where handoff_id = $1', [handoffId])).length >
      0,
    { deadlineMs: 10_000, describe: () => 'the remote task is known' },
  )
  await first.stop()
  await before.close()
  await pipeline.start([agent()])
  const after = await start(working(open.opened), { store, port: before.port })
  open.open()
  const ended = await pipeline.taskEnds(taskId)
  expect([ended.status, ended.result]).toMatchObject(['COMPLETED', { text: 'did once' }])
  expect([...before.calls, ...after.calls].filter((name) => name.startsWith('Send'))).toHaveLength(
    1,
  )
}, 60_000)

it('sends the same message again to an agent that has lost its tasks', async () => {
  const open = gate()
  const before = await start(working(open.opened))
  await pipeline.start([agentAt('forgetful', before)])
  const { taskId } = await pipeline.send('forgetful', says('again'))
  await eventually(async () => before.calls.length > 0, {
    deadlineMs: 10_000,
    describe: () => 'it was asked',
  })
  await before.close()
  open.open()
  await start(working(Promise.resolve()), { port: before.port })
  expect((await pipeline.taskEnds(taskId)).result).toMatchObject({ text: 'did again' })
}, 60_000)

it.each([
  ['rejected', TaskState.TASK_STATE_REJECTED, 'BATON_A2A_REJECTED'],
  ['failed', TaskState.TASK_STATE_FAILED, 'BATON_A2A_FAILED'],
  ['asks', TaskState.TASK_STATE_INPUT_REQUIRED, 'BATON_INPUT_REQUIRED'],
] as const)('rolls the task back where the remote agent %s', async (type, state, code) => {
  await pipeline.start([agentAt(type, await start(ending(state)))])
  const { handoffId } = await pipeline.send(type, says('no'))
  await pipeline.reaches(handoffId, 'ROLLED_BACK')
  const rows = await pipeline.rows<{ reason: string }>('select reason from handoff where id = $1', [
    handoffId,
  ])
  expect(rows[0]?.reason).toBe(code)
})

it('passes a cancellation on', async () => {
  const remote = await start(working(new Promise(() => undefined)))
  await pipeline.start([agentAt('canceled', remote)])
  const { taskId, handoffId } = await pipeline.send('canceled', says('stop'))
  const chunks = () => pipeline.rows('select from stream_chunk where handoff_id = $1', [handoffId])
  await eventually(async () => (await chunks()).length > 0, {
    deadlineMs: 10_000,
    describe: () => 'the remote task is known',
  })
  await requestCancel(pipeline.pool, { taskId, graceMs: 10_000, actor: 'test' })
  await eventually(async () => canceled.length > 0, {
    deadlineMs: 15_000,
    describe: () => 'the remote task is canceled',
  })
  await pipeline.reaches(handoffId, 'CANCELED')
  expect(canceled).toHaveLength(1)
})

it('refuses an address that is not public', () => {
  expect(() =>
    defineA2aAgent({ type: 'inside', version: '1.0.0', cardUrl: 'https://169.254.169.254/card' }),
  ).toThrow(expect.objectContaining({ code: 'BATON_ADDRESS_REFUSED' }))
})
