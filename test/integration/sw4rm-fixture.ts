// A gateway process that speaks SW4RM over gRPC, on real servers, and a client of the published service.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import type { ServiceError } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader'
import { createApiKey } from '@baton/gateway'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { contextFrom, serializeContext } from '@baton/sdk/sw4rm'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createSystem, eventually } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'

export const swarmKeys = {
  all: createApiKey({
    scopes: 'handoffs:send+handoffs:send-critical+handoffs:read+handoffs:cancel+executions:claim',
    operator: 'swarm',
  }),
  sender: createApiKey({ scopes: 'handoffs:send', operator: 'sender' }),
  other: createApiKey({ scopes: 'executions:claim', operator: 'other' }),
  narrow: createApiKey({ scopes: 'executions:claim=only-this', operator: 'narrow' }),
  reader: createApiKey({ scopes: 'handoffs:read', operator: 'reader' }),
  expired: createApiKey({ scopes: 'handoffs:read', expires: '2020-01-01' }),
}

export const PROTO = new URL('../../services/gateway/proto/sw4rm/', import.meta.url).pathname
const definition = loadSync(['handoff.proto', 'status.proto'], {
  includeDirs: [PROTO],
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
})
const METHODS: Readonly<Record<string, MethodDefinition<object, object>>> = {
  ...(definition['sw4rm.handoff.HandoffService'] as ServiceDefinition),
  ...(definition['baton.sw4rm.HandoffStatusService'] as ServiceDefinition),
}

/** An answer as the wire has it. */
export type Answered = Readonly<Record<string, unknown>>

export interface CallOptions {
  readonly key?: string | undefined
  readonly metadata?: Readonly<Record<string, string>>
  /** Sent instead of the message. */
  readonly bytes?: Uint8Array
  readonly deadlineMs?: number
}

export interface SwarmClient {
  /** Rejects with the ServiceError of gRPC. */
  call(name: string, request: object, options?: CallOptions): Promise<Answered>
  /** The code and the words of the refusal. */
  refusal(name: string, request: object, options?: CallOptions): Promise<string>
  close(): void
}

interface ClientOptions {
  readonly messageBytesMax?: number
  /** Who vouches for the server, as PEM; in plain text without. */
  readonly authority?: string | undefined
}

export function openClient(
  address: string,
  { messageBytesMax = 8_388_608, authority }: ClientOptions = {},
): SwarmClient {
  const secure = authority && credentials.createSsl(Buffer.from(authority))
  const client = new Client(address, secure || credentials.createInsecure(), {
    'grpc.max_send_message_length': messageBytesMax,
    ...(authority === undefined ? {} : { 'grpc.ssl_target_name_override': 'localhost' }),
    'grpc.use_local_subchannel_pool': 1,
  })
  const call: SwarmClient['call'] = (name, request, options = {}) => {
    const method = METHODS[name]
    if (method === undefined) throw new Error(`there is no method ${name}`)
    const metadata = new Metadata()
    const key = 'key' in options ? options.key : swarmKeys.all.key
    if (key !== undefined) metadata.set('authorization', `Bearer ${key}`)
    for (const [header, value] of Object.entries(options.metadata ?? {}))
      metadata.set(header, value)
    const { bytes } = options
    const write = bytes === undefined ? method.requestSerialize : (): Buffer => Buffer.from(bytes)
    return new Promise((resolve, reject) => {
      const done = (error: ServiceError | null, answer?: object) =>
        error === null ? resolve((answer ?? {}) as Answered) : reject(error)
      const deadline = Date.now() + (options.deadlineMs ?? 30_000)
      client.makeUnaryRequest(
        method.path,
        write,
        method.responseDeserialize,
        request,
        metadata,
        { deadline },
        done,
      )
    })
  }
  return {
    call,
    refusal: (name, request, options) =>
      call(name, request, options).then(
        () => 'OK',
        ({ code, details }: ServiceError) => `${code} ${details}`,
      ),
    close: () => client.close(),
  }
}

export const CONTEXT = serializeContext(
  contextFrom({
    conversation_history: [{ role: 'user', content: 'Review this code' }],
    tool_state: {
      active_calls: [{ call_id: 'c1', ratio: 0.5 }],
      configurations: { database: { connection_string: 'postgres://app:canary-secret@db/x' } },
    },
    metadata: { agent_id: 'general-agent-1' },
  }),
)

/** A request that is taken; each has an id and an agent of its own. */
export const swarmRequest = (changes: object = {}) => ({
  request_id: `req-${randomUUID()}`,
  from_agent: 'general-agent-1',
  to_agent: `specialist-${randomUUID()}`,
  reason: 'needs a review',
  context_snapshot: CONTEXT,
  ...changes,
})

export interface SwarmWorld {
  readonly system: System
  readonly pool: Pool
  readonly sender: Sender
  readonly client: SwarmClient
  readonly address: string
  gateway(): ServiceProcess
  /** Another gateway process on the same port, once the one before has ended. */
  restart(env?: Readonly<Record<string, string>>): Promise<void>
  /** Waits until the handoff has this status; answers all that is said of it. */
  reaches(id: string, status: string): Promise<Answered>
  close(): Promise<void>
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** What a gateway may take of memory: one that piles it up ends. */
const BOUNDED = { NODE_OPTIONS: '--max-old-space-size=192' }

/** With a Redis there are a relay, and a receiver that hosts the specialist of `sw4rm-agents.ts`. */
export async function openSwarm(
  purpose: string,
  redisUrl?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<SwarmWorld> {
  const { adminUrl } = await acquirePostgres()
  const port = await freePort()
  const system = await createSystem({
    purpose,
    adminUrl,
    agents: './test/integration/sw4rm-agents.ts',
    ...(redisUrl === undefined ? {} : { redisUrl }),
    env: {
      BATON_API_KEYS: Object.values(swarmKeys)
        .map(({ entry }) => entry)
        .join(','),
      BATON_GATEWAY_PORT: '0',
      BATON_OPS_PORT: '0',
      BATON_SW4RM_PORT: String(port),
      BATON_LOG_LEVEL: 'debug',
      ...more,
    },
  })
  await system.start('auditor')
  if (redisUrl !== undefined) {
    await system.start('relay')
    await system.start('receiver')
  }
  let gateway = await system.start('gateway', BOUNDED)
  const pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 2 })
  const sender = createSender({
    databaseUrl: system.databaseUrl,
    keyRing: parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  const address = `127.0.0.1:${port}`
  const client = openClient(address)
  return {
    system,
    pool,
    sender,
    client,
    address,
    gateway: () => gateway,
    async restart(more = {}) {
      await gateway.kill()
      gateway = await system.start('gateway', { ...BOUNDED, ...more })
    },
    reaches(id, status) {
      let seen: Answered = {}
      return eventually(
        async () => {
          seen = await client.call('GetHandoffStatus', { handoff_id: id })
          return seen['status'] === status && seen
        },
        {
          deadlineMs: 20_000,
          describe: () => `${status}, is ${JSON.stringify(seen)}\n${gateway.output().slice(-3000)}`,
        },
      )
    },
    async close() {
      client.close()
      await sender.close()
      await pool.end()
      await system.stop()
    },
  }
}
