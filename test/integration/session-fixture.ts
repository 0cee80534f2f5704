// A gateway with session peers on real servers, and such peers: orchestrators that dispatch, workers that answer.
import { hash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey, parseApiKeys } from '@baton/gateway'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { HandoffConstraints, Sender } from '@baton/sdk'
import { addApiKey, addTenant, createPool, revokeApiKey } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createSystem, eventually } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { newTask } from '../fault/driver.ts'
import { createReaches } from './reaches.ts'
import type { Reaches } from './reaches.ts'

export interface Heard {
  readonly authorization: string | undefined
  readonly traceparent: string | undefined
  readonly message: {
    readonly role: string
    readonly messageId: string
    readonly contextId: string
    readonly parts: readonly { readonly text: string }[]
  }
  readonly text: string
}

/** What a peer does with a message: texts that it answers, a JSON-RPC error, an HTTP status, or nothing at all. */
export type Behaviour = (heard: Heard) => Said | Promise<Said>
type Said =
  | { readonly texts: readonly string[] }
  | { readonly error: number }
  | { readonly status: number }
  | 'hang up'

export interface FakePeer {
  readonly url: string
  readonly heard: readonly Heard[]
  behave: Behaviour
  close(): Promise<void>
}

/** A peer of the session handshake, as a server of its own. */
export async function startFakePeer(): Promise<FakePeer> {
  const heard: Heard[] = []
  const peer = { behave: (): Said => ({ texts: ['ok'] }) } as { behave: Behaviour }
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    const answerAll = async () => {
      const call = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        id: string
        params: Pick<Heard, 'message'>
      }
      const { message } = call.params
      const { authorization, traceparent } = request.headers
      const text = message.parts.map((part) => part.text).join('\n')
      const one = { authorization, traceparent: String(traceparent), message, text }
      heard.push(one)
      const said = await peer.behave(one)
      if (said === 'hang up') return void request.socket.destroy()
      response.setHeader('content-type', 'application/json')
      if ('status' in said) response.statusCode = said.status
      const parts = 'texts' in said ? said.texts.map((one) => ({ text: one })) : []
      const answer =
        'error' in said
          ? { error: { code: said.error, message: 'no' } }
          : { result: { kind: 'message', message: { role: 'agent', parts } } }
      response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, ...answer }))
    }
    request.on('end', () => void answerAll())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jsonrpc`,
    heard,
    get behave() {
      return peer.behave
    },
    set behave(behaviour) {
      peer.behave = behaviour
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

export const sessionKeys = {
  puller: createApiKey({ scopes: 'executions:claim', operator: 'puller' }),
  people: createApiKey({ scopes: 'handoffs:send+handoffs:read+handoffs:cancel', operator: 'ann' }),
}

/** The token that a peer of this name sends. */
export const tokenOf = (name: string): string => `token-of-${name}`

export const inboundOf = (name: string) => ({
  name,
  inboundSha256: hash('sha256', tokenOf(name)),
})

/** Adds a tenant to the installation of a world, and answers who makes and ends keys in its database. */
export async function openTenants({ system }: SessionWorld, ...tenants: readonly string[]) {
  const admin = createPool({ url: system.adminUrls.store, applicationName: 'test' })
  for (const tenant of tenants) await addTenant(admin, tenant)
  return {
    async key(tenant: string, { operator, scopes, agents = null }: Wanted): Promise<MadeKey> {
      const made = createApiKey({ scopes, operator, tenant })
      const { sha256 = Buffer.alloc(32) } = parseApiKeys(made.entry).get(made.id) ?? {}
      await addApiKey(admin, {
        id: made.id,
        tenant,
        operator: tenant === 'default' ? operator : `${tenant}/${operator}`,
        sha256,
        scopes: scopes.split('+'),
        agents,
        expiresAt: null,
        madeBy: 'test',
      })
      return { key: made.key, headers: { authorization: `Bearer ${made.key}` }, id: made.id }
    },
    revoke: (id: string) => revokeApiKey(admin, id),
    close: () => admin.end(),
  }
}

interface Wanted {
  readonly operator: string
  readonly scopes: string
  readonly agents?: readonly string[] | null | undefined
}

interface MadeKey {
  readonly id: string
  readonly key: string
  readonly headers: Readonly<Record<string, string>>
}

export type Tenants = Awaited<ReturnType<typeof openTenants>>

export interface Rpc {
  readonly status: number
  readonly error?: { readonly code: number; readonly message: string; readonly data?: object }
  readonly texts: readonly string[]
  readonly messageId?: string
  readonly contextId?: string
}

interface Saying {
  readonly as?: string
  readonly role?: string
  readonly contextId?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface SessionWorld {
  readonly system: System
  readonly pool: Pool
  gateway(): ServiceProcess
  /** What all its gateways have written, those that ended too. */
  output(): string
  address(): string
  /** Starts a gateway; what is asked afterwards is asked of it. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<ServiceProcess>
  /** Says a text to the gateway as a peer; by default as `hermes`, in a context of its own. */
  say(text: string, saying?: Saying): Promise<Rpc>
  api<Body>(method: 'GET' | 'POST', path: string, body?: object, key?: string): Promise<Body>
  /** Claims work of a type as an agent, and settles it. */
  work(type: string, outcome: object, agent?: object): Promise<string>
  send(
    target: string,
    constraints?: HandoffConstraints,
  ): Promise<{ handoffId: string; taskId: string }>
  readonly reaches: Reaches
  close(): Promise<void>
}

/** `peers` go into the file that its gateways are started with. */
export async function openSessionWorld(
  purpose: string,
  peers: readonly object[],
  env: Readonly<Record<string, string>> = {},
): Promise<SessionWorld> {
  const { adminUrl } = await acquirePostgres()
  const folder = mkdtempSync(join(tmpdir(), 'baton-session-'))
  const file = join(folder, 'peers.json')
  writeFileSync(file, JSON.stringify({ peers }))
  const system = await createSystem({
    purpose,
    adminUrl,
    agents: 'none',
    env: {
      BATON_GATEWAY_PORT: '0',
      BATON_OPS_PORT: '0',
      BATON_PULL_LEASE_MS: '10000',
      BATON_UNDELIVERED_MS: '1000',
      BATON_RETRY_BASE_MS: '5',
      BATON_RETRY_CAP_MS: '20',
      BATON_SESSION_WAIT_MS: '300',
      BATON_SESSION_REPLY_RETRY_MS: '20',
      BATON_PEERS: file,
      ...env,
      BATON_API_KEYS: [
        ...Object.values(sessionKeys).map(({ entry }) => entry),
        ...(env['BATON_API_KEYS'] === undefined ? [] : [env['BATON_API_KEYS']]),
      ].join(','),
    },
  })
  await system.start('auditor')
  let gateway = await system.start('gateway')
  const started = [gateway]
  const pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 2 })
  const sender: Sender = createSender({
    databaseUrl: system.databaseUrl,
    keyRing: parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  const address = (): string => {
    const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1]
    if (url === undefined) throw new Error('the gateway does not say where it listens')
    return url
  }
  const api: SessionWorld['api'] = async <Body>(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    key = sessionKeys.people.key,
  ) => {
    const response = await fetch(`${address()}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Body
  }
  return {
    system,
    pool,
    gateway: () => gateway,
    output: () => started.map((one) => one.output()).join(''),
    address,
    async startGateway(extra) {
      gateway = await system.start('gateway', extra)
      started.push(gateway)
      return gateway
    },
    async say(text, { as = 'hermes', role = 'user', contextId = randomUUID(), headers = {} } = {}) {
      const response = await fetch(`${address()}/jsonrpc`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${tokenOf(as)}`,
          'content-type': 'application/json',
          ...headers,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'SendMessage',
          params: { message: { role, parts: [{ text }], contextId } },
        }),
      })
      const { error, result } = (await response.json()) as {
        error?: NonNullable<Rpc['error']>
        result?: { message: { parts: { text: string }[]; messageId: string; contextId: string } }
      }
      return {
        status: response.status,
        texts: result?.message.parts.map((part) => part.text) ?? [],
        ...(error === undefined ? {} : { error }),
        ...(result === undefined
          ? {}
          : { messageId: result.message.messageId, contextId: result.message.contextId }),
      }
    },
    api,
    async work(type, outcome, agent = {}) {
      const claiming = { agent: { type, version: '1.0.0', ...agent }, waitMs: 10_000 }
      const { executions } = await api<{
        executions: { handoffId: string; fencingToken: number }[]
      }>('POST', '/v2/executions/claim', claiming, sessionKeys.puller.key)
      const { handoffId, fencingToken } = executions[0] ?? { handoffId: '', fencingToken: 0 }
      if (handoffId === '') return ''
      const settling = { executions: [{ handoffId, fencingToken, ...outcome }] }
      await api('POST', '/v2/executions/settle', settling, sessionKeys.puller.key)
      return handoffId
    },
    send: (target, constraints = {}) => sender.send(newTask(), target, constraints),
    reaches: createReaches(pool, () => gateway.output().slice(-3_000)),
    async close() {
      await sender.close()
      await pool.end()
      await system.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

/** Waits until `condition` holds, which `what` says. */
export const soon = <Value>(what: string, condition: () => Value | Promise<Value>) =>
  eventually(condition, { deadlineMs: 20_000, describe: () => what })

/** A dispatch as an orchestrator writes it. */
export const dispatchText = (taskId: string, changes: object = {}, task: object = {}): string =>
  JSON.stringify({
    type: 'TASK_DISPATCH',
    protocol_version: '2.0',
    task: {
      task_id: taskId,
      priority: 'high',
      reply_schema: 'structured',
      token_budget: 4000,
      ...task,
    },
    requirements: { required_mcp: [], required_capabilities: [] },
    deadline: null,
    brief: 'Refactor the auth module. Focus on token refresh logic...',
    ...changes,
  })

/** The TASK_RESULT among the texts of an answer. */
export const resultIn = (texts: readonly string[]): Readonly<Record<string, unknown>> =>
  texts
    .map((text) => JSON.parse(text) as Readonly<Record<string, unknown>>)
    .findLast(({ type }) => type === 'TASK_RESULT') ?? {}

/** An announcement as a worker writes it. */
export const announceText = (tier: string, changes: object = {}): string =>
  JSON.stringify({
    type: 'SESSION_ANNOUNCE',
    protocol_version: '2.0',
    worker: { agent_id: tier, model: 'a-model', model_tier: tier, context_window: 200_000 },
    capabilities: { tools: ['terminal', 'file'], mcp_servers: ['memory', 'trek'] },
    mcp_health: { memory: 'ok', trek: 'timeout' },
    session: {
      context_id: 'handshake',
      active_tasks: 0,
      repo_state: { branch: 'main', clean: true },
      session_fresh: true,
      ...changes,
    },
  })

/** A result as a worker writes it, for the task of a dispatch. */
export const resultText = (taskId: string, changes: object = {}): string =>
  JSON.stringify({
    type: 'TASK_RESULT',
    protocol_version: '2.0',
    task_id: taskId,
    status: 'done',
    tokens_spent: 3240,
    next_steps: ['Open PR for review'],
    blocked_reason: null,
    artifacts: { pr: 'https://example.test/pull/72' },
    ...changes,
  })
