// What came back to an agent is corrected and taken up again with a key of that agent, and with none that is for others.
import { createApiKey, parseApiKeys } from '@baton/gateway'
import { addApiKey, createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openReturns } from './returned-handoffs.ts'
import type { Returning } from './returned-handoffs.ts'

let returning: Returning
let admin: Pool
beforeAll(async () => {
  returning = await openReturns()
  const { adminUrl } = await acquirePostgres()
  const url = new URL(adminUrl)
  url.pathname = new URL(returning.fixture.databaseUrl).pathname
  admin = createPool({ url: url.href, applicationName: 'test' })
})
afterAll(async () => {
  await returning?.fixture.close()
  await admin?.end()
})

async function keyFor(agent: string): Promise<string> {
  const scopes = 'handoffs:return+tasks:resume'
  const { id, key, entry } = createApiKey({ scopes, operator: 'eve' })
  const { sha256 = Buffer.alloc(32) } = parseApiKeys(entry).get(id) ?? {}
  const whose = { operator: 'eve', tenant: 'default', madeBy: 'root' }
  const what = { scopes: scopes.split('+'), agents: [agent], expiresAt: null }
  await addApiKey(admin, { id, sha256, ...whose, ...what })
  return key
}

async function ask(key: string, url: string, payload: object) {
  const headers = { authorization: `Bearer ${key}` }
  const { gateway } = returning.fixture
  const answer = await gateway.server.inject({ method: 'POST', url, headers, payload })
  return { status: answer.statusCode, code: answer.json<{ code?: string }>().code }
}

const REFUSED = { status: 403, code: 'BATON_AGENT_REFUSED' }

it('a returned handoff is corrected for its own sender alone', async () => {
  const of = await returning.returned()
  const path = `/v2/handoffs/${of.handoffId}/revisions`
  const body = { revision: 2, agentState: of.agentState }
  expect(await ask(await keyFor('somebody-else'), path, body)).toEqual(REFUSED)
  expect((await ask(await keyFor(of.agentId), path, body)).status).toBe(202)
})

it('a rolled-back task is taken up again for its own sender alone', async () => {
  const of = await returning.send()
  await returning.rollBack(of)
  const path = `/v2/tasks/${of.taskId}/resume`
  expect(await ask(await keyFor('somebody-else'), path, {})).toEqual(REFUSED)
  expect((await ask(await keyFor(of.agentId), path, {})).status).toBe(202)
})
