// A gateway on a database of its own, with a stand-in for the auditor, and every line it logs.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createApiKey, createGateway, parseApiKeys } from '@baton/gateway'
import type { Dialect, Gateway, GatewayOptions } from '@baton/gateway'
import { createLogger } from '@baton/runtime'
import { createKeyRing } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { expect } from 'vitest'
import {
  acquirePostgres,
  createStoreDatabase,
  PASSWORDS,
  PEOPLE,
  uniqueDatabaseName,
} from '@baton/testkit'
import { storeUrl } from '../contract/store-fixture.ts'

export const READ_TOKEN = 'read-token-ecae13117d6f0584c25a9d-of-the-test'

export const keyRing = createKeyRing({
  active: 'k1',
  keys: [{ id: 'k1', secret: Buffer.alloc(32, 7), status: 'active' }],
})

export const keys = {
  sender: createApiKey({ scopes: 'handoffs:send' }),
  critical: createApiKey({ scopes: 'handoffs:send+handoffs:send-critical' }),
  reader: createApiKey({ scopes: 'handoffs:read' }),
  operator: createApiKey({ scopes: 'handoffs:send+handoffs:read+metrics:read' }),
  steerer: createApiKey({ scopes: 'approvals:decide+handoffs:cancel', operator: 'ann' }),
  expired: createApiKey({ scopes: 'handoffs:send', expires: '2020-01-01' }),
}

const LIMITS = {
  rateMax: 100_000,
  runningMax: 64,
  connectionsMax: 64,
  connectionsPerAddressMax: 64,
  outboxMax: 50_000,
  outboxAgeMaxMs: 30_000,
}

export interface GatewayFixture {
  readonly gateway: Gateway
  /** As baton_app. */
  readonly pool: Pool
  /** As baton_gateway. */
  readonly databaseUrl: string
  readonly auditor: StandInAuditor
  /** Everything logged so far. */
  log(): string
  /** Another gateway on the same database, with other bounds. */
  another(
    limits?: Partial<GatewayOptions['limits']>,
    databaseUrl?: string,
    dialects?: readonly Dialect[],
  ): Gateway
  close(): Promise<void>
}

/** `others` are further API keys that it takes, `changes` other options of each gateway. */
export async function openGateway(
  others: Readonly<Record<string, { readonly entry: string }>> = {},
  changes: Partial<GatewayOptions> = {},
): Promise<GatewayFixture> {
  const { databaseUrl, appUrl } = await freshDatabase()
  const pool = createPool({ url: appUrl, applicationName: 'test-gateway', connectionsMax: 4 })
  const auditor = await startStandInAuditor()
  const lines: string[] = []
  const logger = createLogger({
    service: 'gateway',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  })
  const opened: Gateway[] = []
  const another: GatewayFixture['another'] = (limits = {}, url = databaseUrl, dialects = []) => {
    const gateway = createGateway({
      host: '127.0.0.1',
      port: 0,
      databaseUrl: url,
      keyRing,
      attemptsMax: 3,
      correctionMs: 30_000,
      apiKeys: parseApiKeys(
        Object.values({ ...keys, ...others })
          .map((key) => key.entry)
          .join(','),
      ),
      people: PEOPLE.people,
      audit: { url: auditor.url, readToken: READ_TOKEN },
      limits: { ...LIMITS, ...limits },
      metrics: createMetrics(),
      logger,
      dialects,
      ...changes,
    })
    opened.push(gateway)
    return gateway
  }
  return {
    gateway: another(),
    pool,
    databaseUrl,
    auditor,
    log: () => lines.join(''),
    another,
    async close() {
      await Promise.all(opened.map((gateway) => gateway.stop()))
      await pool.end()
      await auditor.close()
    },
  }
}

async function freshDatabase(): Promise<{ databaseUrl: string; appUrl: string }> {
  const { adminUrl } = await acquirePostgres()
  const database = uniqueDatabaseName('gateway')
  await createStoreDatabase(adminUrl, database)
  const as = (user: string, password: string) => storeUrl(adminUrl, { database, user, password })
  return {
    databaseUrl: as('baton_gateway', PASSWORDS.gateway),
    appUrl: as('baton_app', PASSWORDS.app),
  }
}

export interface StandInAuditor {
  readonly url: string
  /** Traces by task; other tasks are unknown to it. */
  readonly traces: Map<string, object>
  down: boolean
  /** The token it takes. */
  readToken: string
  /** What it says of tasks that are unknown to it. */
  unknownCode: string
  close(): Promise<void>
}

async function startStandInAuditor(): Promise<StandInAuditor> {
  const traces = new Map<string, object>()
  const state = { down: false, readToken: READ_TOKEN, unknownCode: 'BATON_TASK_UNKNOWN' }
  const server: Server = createServer((request, response) => {
    const taskId = /^\/v1\/traces\/([0-9a-f-]{36})$/.exec(request.url ?? '')?.[1]
    const trace = traces.get(taskId ?? '')
    if (state.down) return void request.socket.destroy()
    if (request.url === '/readyz') return void response.end('{}')
    if (request.headers.authorization !== `Bearer ${state.readToken}`) response.statusCode = 403
    else if (trace === undefined) response.statusCode = 404
    response.end(JSON.stringify(trace ?? { code: state.unknownCode }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    traces,
    get unknownCode() {
      return state.unknownCode
    },
    set unknownCode(code) {
      state.unknownCode = code
    },
    get down() {
      return state.down
    },
    set down(value) {
      state.down = value
    },
    get readToken() {
      return state.readToken
    },
    set readToken(value) {
      state.readToken = value
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** A body that is accepted; `changes` go into the agent state. */
export function stateBody(changes: object = {}, rest: object = {}) {
  return {
    agentState: {
      taskId: randomUUID(),
      agent: { agentId: 'intake-agent', agentVersion: '1.0.0' },
      taskDescription: 'INITIAL',
      completedSubtasks: [],
      remainingSubtasks: [{ subtaskId: 'extract', description: 'Extract the clauses' }],
      currentState: { document: 'licence' },
      cost: {
        spentSoFarUSD: 0.05,
        budgetRemainingUSD: 0.35,
        ownCostUSD: 0.03,
        tokenSpent: { prompt: 10, completion: 5 },
      },
      ...changes,
    },
    targetAgentType: 'clause-extraction',
    constraints: {},
    ...rest,
  }
}

interface PostOptions {
  readonly key?: string
  readonly headers?: Record<string, string>
}

/** Posts to /v2/handoffs; text goes out as it is. */
export function post(
  gateway: Gateway,
  body: unknown,
  { key = keys.sender.key, headers = {} }: PostOptions = {},
) {
  return gateway.server.inject({
    method: 'POST',
    url: '/v2/handoffs',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  })
}

export function get(gateway: Gateway, url: string, headers: Record<string, string> = {}) {
  return gateway.server.inject({
    method: 'GET',
    url,
    headers: { authorization: `Bearer ${keys.operator.key}`, ...headers },
  })
}

/** How many rows stand in each table that a send writes to. */
export async function countRows(pool: Pool): Promise<Record<string, number>> {
  const tables = ['task', 'checkpoint', 'handoff', 'handoff_body', 'outbox', 'idempotency_key']
  const columns = tables.map((table) => `(select count(*) from ${table}) as ${table}`).join(', ')
  const { rows } = await pool.query<Record<string, number>>({ text: `select ${columns}` })
  return rows[0] ?? {}
}

/** That a response is a whole problem+json. */
export function expectProblem(response: Awaited<ReturnType<typeof post>>): void {
  expect(response.headers['content-type']).toMatch(/^application\/problem\+json/)
  const problem = response.json()
  expect(problem).toMatchObject({
    status: response.statusCode,
    type: `urn:baton:problem:${problem.code}`,
    detail: expect.stringMatching(/\S/),
    fix: expect.stringMatching(/\S/),
    traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
  })
}
