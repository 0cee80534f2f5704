// A gateway that speaks the Handoffs API to the profiles of a file, and its clients.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '@baton/gateway'
import type { Gateway, GatewayOptions } from '@baton/gateway'
import { PEOPLE } from '@baton/testkit'
import { expect } from 'vitest'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

/** The profiles of the source's examples, and some with policies. */
const PROFILES = {
  profiles: [
    { id: 'analyst-agent', agentType: 'analyst' },
    { id: 'reviewer-agent', agentType: 'reviewer' },
    { id: 'second-reviewer', agentType: 'reviewer' },
    { id: 'guarded', requireApprovalFrom: ['*'] },
    { id: 'choosy', acceptFrom: ['reviewer-agent'] },
    { id: 'closed', acceptFrom: ['*'], blockFrom: ['analyst-agent'] },
  ],
}

const apiKeys = {
  client: createApiKey({
    scopes: 'handoffs:send+handoffs:send-critical+handoffs:read+approvals:decide',
    operator: 'client',
  }),
  approver: createApiKey({ scopes: 'handoffs:read+approvals:decide', operator: 'ann' }),
}

/** All 17 members of the message object. */
export const MEMBERS = [
  'id',
  'fromProfileId',
  'toProfileId',
  'taskId',
  'targetTaskId',
  'subject',
  'body',
  'attachments',
  'priority',
  'status',
  'requiresApproval',
  'approvedBy',
  'parentMessageId',
  'chainDepth',
  'createdAt',
  'respondedAt',
  'expiresAt',
] as const

export type Message = Readonly<Record<(typeof MEMBERS)[number], unknown>> & {
  readonly id: string
  readonly taskId: string
  readonly status: string
}

/** A file of profiles, and how to remove it. */
function writeProfiles(profiles: object = PROFILES): { path: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'baton-profiles-'))
  const path = join(folder, 'profiles.json')
  writeFileSync(path, JSON.stringify(profiles, null, 2))
  return { path, remove: () => rmSync(folder, { recursive: true }) }
}

/** A gateway with the profiles above. */
export async function openHandoffsApi(
  foreign: GatewayOptions['foreign'] = {},
  logger?: GatewayOptions['logger'],
  others: Parameters<typeof openGateway>[0] = {},
): Promise<GatewayFixture> {
  const file = writeProfiles()
  try {
    return await openGateway(
      { ...apiKeys, ...others },
      {
        foreign: { profilesPath: file.path, ...foreign },
        ...(logger === undefined ? {} : { logger }),
      },
    )
  } finally {
    file.remove()
  }
}

/** The source's first example, without a source task, so that each is a task of its own. */
export const example = (changes: object = {}) => ({
  fromProfileId: 'analyst-agent',
  toProfileId: 'reviewer-agent',
  subject: 'Q4 revenue analysis ready for review',
  body: 'Analysis is complete with 3 charts and an executive summary. Please verify the methodology and sign off.',
  priority: 1,
  ...changes,
})

export interface Asking {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  readonly url?: string
  /** Text goes out as it is. */
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

/** Asks as a client with all scopes of this API. */
export function ask(gateway: Gateway, { method = 'GET', url = '/api/handoffs', ...rest }: Asking) {
  const { body, headers = {} } = rest
  return gateway.server.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${apiKeys.client.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined
      ? {}
      : {
          payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
        }),
  })
}

/** Posts a message that is taken. */
export async function create(gateway: Gateway, changes: object = {}): Promise<Message> {
  const response = await ask(gateway, { method: 'POST', body: example(changes) })
  expect([response.statusCode, response.json().error]).toEqual([201, undefined])
  return response.json<Message>()
}

/** As somebody else than who sends, who signs what is asked for. */
export async function patch(gateway: Gateway, id: string, body: unknown) {
  const authorization = `Bearer ${apiKeys.approver.key}`
  const asking = { method: 'PATCH', url: `/api/handoffs/${id}`, body } as const
  const response = await ask(gateway, { ...asking, headers: { authorization } })
  const needed = response.headers['baton-decision-needed']
  if (needed === undefined) return response
  const signed = PEOPLE.answer(String(needed))
  return ask(gateway, { ...asking, headers: { authorization, 'baton-decision': signed } })
}

export const read = async (gateway: Gateway, id: string): Promise<Message> =>
  (await ask(gateway, { url: `/api/handoffs/${id}` })).json<Message>()

export const list = async (gateway: Gateway, query = ''): Promise<Message[]> =>
  (await ask(gateway, { url: `/api/handoffs${query}` })).json<Message[]>()
