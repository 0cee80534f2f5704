// A pipeline with a gateway that speaks A2A, and the SDK's own clients of it.
import {
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client'
import type { Client } from '@a2a-js/sdk/client'
import { SendMessageRequest } from '@a2a-js/sdk'
import { createApiKey } from '@baton/gateway'
import { eventually } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { openPipeline } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const SCOPES = 'handoffs:send+handoffs:read+handoffs:cancel+approvals:decide+tasks:resume'

export const KEYS = {
  caller: createApiKey({ scopes: SCOPES, operator: 'ann' }),
  other: createApiKey({ scopes: SCOPES, operator: 'bob' }),
  sender: createApiKey({ scopes: 'handoffs:send', operator: 'sam' }),
  reader: createApiKey({ scopes: 'handoffs:read', operator: 'rea' }),
}

export type Binding = 'JSONRPC' | 'HTTP+JSON'

export interface A2aWorld {
  readonly pipeline: Pipeline
  /** The address of the latest gateway. */
  url(): string
  start(env?: Readonly<Record<string, string>>): Promise<ServiceProcess>
  client(agentType: string, binding?: Binding, key?: string, legacy?: boolean): Promise<Client>
  close(): Promise<void>
}

export async function openA2a(purpose: string): Promise<A2aWorld> {
  const pipeline = await openPipeline(purpose)
  let latest: ServiceProcess | undefined
  const urlOf = (service: ServiceProcess | undefined): string =>
    /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(service?.output() ?? '')?.[1] ?? ''
  return {
    pipeline,
    url: () => urlOf(latest),
    async start(env = {}) {
      latest = await pipeline.system.start('gateway', {
        BATON_GATEWAY_PORT: '0',
        BATON_API_KEYS: Object.values(KEYS)
          .map((key) => key.entry)
          .join(','),
        ...env,
      })
      return latest
    },
    client: (agentType, binding = 'JSONRPC', key = KEYS.caller.key, legacy = false) =>
      eventually(
        () => clientOf(`${urlOf(latest)}/a2a/agents/${agentType}`, { binding, key, legacy }),
        {
          deadlineMs: 15_000,
          describe: () => `the card of ${agentType}`,
        },
      ),
    close: () => pipeline.close(),
  }
}

/** A client of the SDK as anybody makes it, with a bearer token. */
async function clientOf(
  base: string,
  { binding, key, legacy = false }: { binding: Binding; key: string; legacy?: boolean },
): Promise<Client> {
  const legacyCompat = { enabled: legacy }
  const fetchImpl: typeof fetch = (input, init = {}) =>
    fetch(input, {
      ...init,
      headers: { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${key}` },
    })
  const factory = new ClientFactory({
    ...ClientFactoryOptions.default,
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl }),
    ],
    preferredTransports: [binding],
    cardResolver: new DefaultAgentCardResolver({
      fetchImpl: legacy ? ofVersion3(fetchImpl) : fetchImpl,
      legacyCompat,
    }),
  })
  return factory.createFromUrl(`${base}/`)
}

/** A caller of 0.3 knows no header for its version, and nothing in a card that is newer. */
const ofVersion3 =
  (fetchImpl: typeof fetch): typeof fetch =>
  async (input, init = {}) => {
    const headers = new Headers(init.headers)
    headers.delete('A2A-Version')
    const answer = await fetchImpl(input, { ...init, headers })
    const { supportedInterfaces: _, ...card } = (await answer.json()) as Record<string, unknown>
    return Response.json(card, { status: answer.status })
  }

/** What a caller that knows nothing of Baton sends. */
export const saying = (
  text: string,
  more: object = {},
  configuration?: object,
): SendMessageRequest =>
  SendMessageRequest.fromJSON({
    message: {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ text }],
      ...more,
    },
    ...(configuration === undefined ? {} : { configuration }),
  })
