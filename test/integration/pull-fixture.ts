// A gateway process that gives work to agents outside, on real servers, and such an agent over plain HTTP.
import { createApiKey } from '@baton/gateway'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, HandoffConstraints, Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createSystem } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { newTask } from '../fault/driver.ts'
import { createReaches } from './reaches.ts'
import type { Reaches } from './reaches.ts'

export const pullKeys = {
  puller: createApiKey({ scopes: 'executions:claim', operator: 'puller' }),
  other: createApiKey({ scopes: 'executions:claim', operator: 'other' }),
  narrow: createApiKey({ scopes: 'executions:claim=only-this', operator: 'narrow' }),
  metrics: createApiKey({ scopes: 'metrics:read', operator: 'monitoring' }),
  /** A second key of the puller, for less than it claims with the first. */
  pullerNarrow: createApiKey({ scopes: 'executions:claim=only-this', operator: 'puller' }),
  subscriber: createApiKey({ scopes: 'events:read+events:subscribe', operator: 'subscriber' }),
  people: createApiKey({ scopes: 'handoffs:send+handoffs:read+handoffs:cancel', operator: 'ann' }),
}

export interface Claimed {
  readonly handoffId: string
  readonly fencingToken: number
  readonly taskId: string
  readonly attempt: number
  readonly leaseMs: number
  readonly leaseUntil: string
  readonly deadline: string | null
  readonly traceparent: string
  readonly idempotencyKey: string
  readonly chunks: number
  readonly context: string
  readonly message: Readonly<Record<string, unknown>>
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body
}

export interface PullWorld {
  readonly system: System
  readonly pool: Pool
  gateway(): ServiceProcess
  /** What the gateways and the relay, where there is one, have logged. */
  log(): string
  /** Where the gateway listens. */
  url(): string
  /** Starts a gateway; further ones stand beside it. */
  startGateway(env?: Readonly<Record<string, string>>): Promise<ServiceProcess>
  send(
    target: string,
    parts?: { readonly state?: Partial<AgentState>; readonly constraints?: HandoffConstraints },
  ): Promise<{ handoffId: string; taskId: string }>
  post<Body>(
    path: string,
    body: object,
    options?: {
      readonly key?: string
      readonly signal?: AbortSignal
      readonly to?: ServiceProcess
    },
  ): Promise<Answer<Body>>
  claim(type: string, asked?: object): Promise<readonly Claimed[]>
  settle(
    one: Pick<Claimed, 'handoffId' | 'fencingToken'>,
    outcome: object,
    key?: string,
  ): Promise<Readonly<Record<string, unknown>>>
  readonly reaches: Reaches
  close(): Promise<void>
}

export const LEASE_MS = 10_000

const addressOf = (gateway: ServiceProcess): string => {
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1]
  if (url === undefined) throw new Error('the gateway does not say where it listens')
  return url
}

/** With a Redis there is a relay too; without, the gateway relays for its own agents. */
export async function openPullWorld(
  purpose: string,
  redisUrl?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<PullWorld> {
  const { adminUrl } = await acquirePostgres()
  const system = await createSystem({
    purpose,
    adminUrl,
    agents: 'none',
    ...(redisUrl === undefined ? {} : { redisUrl }),
    env: {
      BATON_API_KEYS: Object.values(pullKeys)
        .map(({ entry }) => entry)
        .join(','),
      BATON_GATEWAY_PORT: '0',
      BATON_OPS_PORT: '0',
      BATON_PULL_LEASE_MS: String(LEASE_MS),
      BATON_UNDELIVERED_MS: '1000',
      BATON_RETRY_BASE_MS: '5',
      BATON_RETRY_CAP_MS: '20',
      ...env,
    },
  })
  await system.start('auditor')
  const processes = redisUrl === undefined ? [] : [await system.start('relay')]
  let gateway = await system.start('gateway')
  processes.push(gateway)
  const pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 2 })
  const sender: Sender = createSender({
    databaseUrl: system.databaseUrl,
    keyRing: parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? ''),
  })
  const post: PullWorld['post'] = async <Body>(
    path: string,
    body: object,
    { key = pullKeys.puller.key, signal, to = gateway }: Parameters<PullWorld['post']>[2] = {},
  ) => {
    const response = await fetch(`${addressOf(to)}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    })
    return { status: response.status, body: (await response.json()) as Body }
  }
  return {
    system,
    pool,
    gateway: () => gateway,
    log: () => processes.map((one) => one.output()).join(''),
    url: () => addressOf(gateway),
    async startGateway(env) {
      gateway = await system.start('gateway', env)
      processes.push(gateway)
      return gateway
    },
    send: (target, { state = {}, constraints = {} } = {}) =>
      sender.send({ ...newTask(), ...state }, target, constraints),
    post,
    async claim(type, asked = {}) {
      const agent = { type, version: '1.0.0' }
      const { body } = await post<{ executions: readonly Claimed[] }>('/v2/executions/claim', {
        agent,
        waitMs: 10_000,
        ...asked,
      })
      return body.executions
    },
    async settle({ handoffId, fencingToken }, outcome, key) {
      const { body } = await post<{ executions: readonly Readonly<Record<string, unknown>>[] }>(
        '/v2/executions/settle',
        { executions: [{ handoffId, fencingToken, ...outcome }] },
        key === undefined ? {} : { key },
      )
      return body.executions[0] ?? {}
    },
    reaches: createReaches(pool, () => gateway.output().slice(-3_000)),
    async close() {
      await sender.close()
      await pool.end()
      await system.stop()
    },
  }
}
