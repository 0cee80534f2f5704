// Two tenants of one installation: neither sees, steers, delays, charges or learns of anything of the other, on any route.
import { randomUUID } from 'node:crypto'
import { createApiKey } from '@baton/gateway'
import { taskOfOperations, taskOfRefusals, taskOfSettings } from '@baton/ledger'
import { buildHandoffMessage } from '@baton/sdk'
import type { AgentState } from '@baton/sdk'
import { addTenant, createPool, grantAgent, revokeAgent } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createTestPeople } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

const SCOPES =
  'handoffs:send+handoffs:read+handoffs:return+handoffs:cancel+executions:claim+tasks:resume+approvals:decide+dead-letters:review+dead-letters:redrive+erasures:plan+erasures:approve'
const acme = createApiKey({ scopes: SCOPES, operator: 'ann', tenant: 'acme' })
const approver = createApiKey({ scopes: SCOPES, operator: 'bob', tenant: 'acme' })
const PEOPLE_OF_TENANTS = createTestPeople(['acme/bob', 'globex/bob', 'bob'])
const globex = createApiKey({ scopes: SCOPES, operator: 'ann', tenant: 'globex' })
const home = createApiKey({ scopes: SCOPES, operator: 'ann' })

let fixture: GatewayFixture
let admin: Pool
beforeAll(async () => {
  fixture = await openGateway(
    { acme, approver, globex, home },
    { people: PEOPLE_OF_TENANTS.people },
  )
  await fixture.gateway.server.ready()
  const { adminUrl } = await acquirePostgres()
  const url = new URL(adminUrl)
  url.pathname = new URL(fixture.databaseUrl).pathname
  admin = createPool({ url: url.href, applicationName: 'test' })
  for (const tenant of ['acme', 'globex']) await addTenant(admin, tenant)
})
afterAll(async () => {
  await fixture?.close()
  await admin?.end()
})

interface Key {
  readonly key: string
}

const of = ({ key }: Key) => ({ authorization: `Bearer ${key}` })
const TRACE = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`
const agentOf = (agentId: string) => ({ agent: { agentId, agentVersion: '1.0.0' } })

interface Body {
  readonly handoffId: string
  readonly taskId: string
  readonly code: string
}

/** Sends as a key's tenant, from and to agents of it. */
const send = async (
  { key }: Key,
  names: { readonly from: string; readonly to: string },
  changes: object = {},
) => {
  const body = stateBody({ ...agentOf(names.from), ...changes }, { targetAgentType: names.to })
  const answer = await post(fixture.gateway, body, { key })
  return { status: answer.statusCode, body: answer.json<Body>() }
}

const OF_ACME = { from: 'acme/intake', to: 'acme/reader' }
const OF_GLOBEX = { from: 'globex/intake', to: 'globex/reader' }
const OF_HOME = { from: 'intake', to: 'reader' }

describe('names', () => {
  it('a tenant sends as its own agents, to its own agents', async () => {
    expect((await send(acme, OF_ACME)).status).toBe(202)
    expect((await send(globex, OF_GLOBEX)).status).toBe(202)
    expect((await send(home, OF_HOME)).status).toBe(202)
  })

  it.each([
    ['to an agent of another', acme, { from: 'acme/intake', to: 'globex/reader' }],
    ['as an agent of another', acme, { from: 'globex/intake', to: 'acme/reader' }],
    ['to one of the default tenant', acme, { from: 'acme/intake', to: 'reader' }],
    ['from the default tenant to another', home, { from: 'intake', to: 'acme/reader' }],
    ['as an agent of another from the default tenant', home, { from: 'acme/x', to: 'reader' }],
  ])('nobody sends %s', async (_, key, names) => {
    expect(await send(key, names)).toMatchObject({
      status: 422,
      body: { code: 'BATON_AGENT_OF_OTHER_TENANT' },
    })
  })

  it('nobody sends to an agent of another among several, or as a message that was built elsewhere', async () => {
    const receiverList = [{ agentType: 'acme/reader' }, { agentType: 'globex/reader' }]
    const several = stateBody(agentOf('acme/intake'), {
      targetAgentType: 'acme/reader',
      constraints: { receiverList },
    })
    const built = (from: string, to: string) => {
      const { agentState } = stateBody({ ...agentOf(from), traceparent: TRACE })
      return {
        message: buildHandoffMessage(agentState as unknown as AgentState, to),
        checkpoint: {},
      }
    }
    const bodies = [several, built('globex/intake', 'acme/reader'), built('acme/intake', 'reader')]
    for (const body of bodies) {
      const answer = await post(fixture.gateway, body, { key: acme.key })
      expect(answer.json<Body>().code).toBe('BATON_AGENT_OF_OTHER_TENANT')
    }
    const own = await post(fixture.gateway, built('acme/intake', 'acme/reader'), { key: acme.key })
    expect(own.statusCode).toBe(202)
  })

  it('a grant lets one tenant hand off to one agent type of another, until it is taken back', async () => {
    const grant = { tenant: 'acme', agentType: 'globex/translator' }
    const names = { from: 'acme/intake', to: 'globex/translator' }
    expect(await grantAgent(admin, { ...grant, grantedBy: 'root' })).toBe(true)
    expect((await send(acme, names)).status).toBe(202)
    expect((await send(acme, { ...names, to: 'globex/reader' })).status).toBe(422)
    expect(await revokeAgent(admin, grant)).toBe(true)
    expect((await send(acme, names)).status).toBe(422)
  })

  it('a name with a slash is the default tenant’s where no tenant is called so', async () => {
    expect((await send(home, { from: 'team/intake', to: 'team/reader' })).status).toBe(202)
    expect((await send(acme, { from: 'acme/intake', to: 'team/reader' })).status).toBe(422)
  })
})

describe('tasks', () => {
  it('are of the tenant that sent first: no other sends into them, or learns what stands there', async () => {
    const { body } = await send(acme, OF_ACME)
    const { taskId } = body
    expect(await send(globex, OF_GLOBEX, { taskId })).toMatchObject({
      status: 409,
      body: { code: 'BATON_TASK_OF_OTHER_TENANT' },
    })
    const task = await get(fixture.gateway, `/v2/tasks/${taskId}`, of(acme))
    expect(task.json<{ handoffs: unknown[] }>().handoffs).toHaveLength(1)
  })

  it('cannot be begun under an id that records of the installation stand under', async () => {
    const at = new Date().toISOString()
    const own = [taskOfOperations('default', at), taskOfRefusals(at), taskOfSettings('gateway')]
    for (const taskId of own) {
      expect((await send(approver, OF_ACME, { taskId })).status).toBe(422)
      const begun = `insert into task (id, tenant, status, next_seq, budget_micro_usd, spent_micro_usd)
        values ($1, 'acme', 'PENDING_HANDOFF', 2, 1, 0)`
      await expect(admin.query({ text: begun, values: [taskId] })).rejects.toMatchObject({
        constraint: 'task_id_of_sender',
      })
    }
    // What was refused is on record, and not under the id that it named.
    const refused = `select entry::json ->> 'taskId' as "taskId" from audit_outbox
      where entry like '%SEND_REFUSED%' and entry::json ->> 'taskId' = any($1)`
    const { rows } = await admin.query({ text: refused, values: [own] })
    expect(rows).toEqual(own.map(() => ({ taskId: taskOfRefusals(at) })))
  })

  it('show each tenant its own records, whoever sent under the id that they stand under', async () => {
    const seen = async (taskId: string, key: Key) => {
      const answer = await get(fixture.gateway, `/v2/tasks/${taskId}/trace`, of(key))
      if (answer.statusCode !== 200) return answer.statusCode
      const { audit } = answer.json<{ audit: { verified: boolean; records: unknown[] } }>()
      return [audit.verified, ...audit.records]
    }
    const recorded = (taskId: string, events: Readonly<Record<string, string>>) => {
      const records = Object.entries(events).map(([event, tenant]) => ({
        recordHash: 'a'.repeat(64),
        assurance: 'committed',
        tier: 'hot',
        body: { event, taskId, ...(tenant === 'default' ? {} : { tenant }) },
      }))
      fixture.auditor.traces.set(taskId, { records, verified: true, cost: { hops: [1] } })
      return records
    }
    const { taskId } = (await send(acme, OF_ACME)).body
    const [own, key, sent] = recorded(taskId, {
      HANDOFF_REJECTED: 'acme',
      API_KEY_MADE: 'default',
      SEND_REFUSED: 'globex',
    })
    expect(await seen(taskId, acme)).toEqual([true, own])
    expect(await seen(taskId, home)).toEqual([true, key])
    expect(await seen(taskId, globex)).toEqual([true, sent])
    // What the auditor does with a task is told of by no tenant's record, and is for whose the task is.
    const [, held] = recorded(taskId, { HANDOFF_REJECTED: 'acme', LEGAL_HOLD_SET: 'default' })
    expect(await seen(taskId, acme)).toEqual([true, own, held])
    expect(await seen(taskId, home)).toBe(404)
    expect(await seen(taskId, globex)).toBe(404)
  })

  it('the same handoff id at another tenant is a conflict, never a repetition', async () => {
    const ids = { handoffId: randomUUID(), taskId: randomUUID() }
    expect((await send(acme, OF_ACME, ids)).status).toBe(202)
    expect((await send(globex, OF_GLOBEX, { ...ids, taskId: randomUUID() })).status).toBe(409)
  })

  it('who is refused writes nothing about a handoff of another, whatever task it names', async () => {
    const { body } = await send(acme, OF_ACME)
    const refusals = async () => {
      const text = `select from audit_outbox where entry like '%SEND_REFUSED%' and handoff_id = $1`
      return (await admin.query({ text, values: [body.handoffId] })).rows.length
    }
    const named = { handoffId: body.handoffId, taskId: randomUUID(), cost: null }
    expect((await send(globex, OF_GLOBEX, named)).status).toBe(422)
    expect(await refusals()).toBe(0)
    expect((await send(acme, OF_ACME, { ...named, taskId: body.taskId })).status).toBe(422)
    expect(await refusals()).toBe(1)
  })

  it('are listed to their own tenant alone', async () => {
    const listed = async (key: Key) =>
      (await get(fixture.gateway, '/v2/tasks?limit=100', of(key)))
        .json<{ tasks: { taskId: string }[] }>()
        .tasks.map(({ taskId }) => taskId)
    const lists = await Promise.all([acme, globex, home, keys.reader].map(listed))
    const [ofAcme = [], ofGlobex = [], ofHome = [], ofReader = []] = lists
    expect(new Set([...ofAcme, ...ofGlobex, ...ofHome]).size).toBe(
      ofAcme.length + ofGlobex.length + ofHome.length,
    )
    expect(ofReader).toEqual(ofHome)
    expect(ofAcme.length).toBeGreaterThan(0)
  })
})

describe('what others have', () => {
  const others = { acme: { taskId: '', handoffId: '' } }
  beforeAll(async () => {
    const held = { constraints: { requiresApproval: true }, targetAgentType: 'acme/reader' }
    const body = stateBody(agentOf('acme/intake'), held)
    others.acme = (await post(fixture.gateway, body, { key: acme.key })).json<Body>()
    await admin.query({
      text: `insert into dead_letter (handoff_id, task_id, reason, details)
        values ($1, $2, 'UNSAFE', '[]')`,
      values: [others.acme.handoffId, others.acme.taskId],
    })
    await admin.query({
      text: `insert into escalation (handoff_id, task_id, attempts, reason) values ($1, $2, 3, 'UNSAFE')`,
      values: [others.acme.handoffId, others.acme.taskId],
    })
  })

  const BODIES: Readonly<Record<string, object>> = {
    decide: { decision: 'approve' },
    '/approvals/{id}': { decision: 'approve' },
    '/claim': { agent: { type: 'acme/reader', version: '1.0.0' }, waitMs: 0 },
    '/take': { agents: ['acme/intake'] },
    '/close': { why: 'x' },
  }

  /** What a route answers, without what differs between any two answers. */
  const ask = async (
    route: string,
    ids: { taskId: string; handoffId: string },
    { key }: Key = globex,
  ) => {
    const [method = '', path = ''] = route.split(' ')
    const id = path.includes('/tasks/') ? ids.taskId : ids.handoffId
    const url = path
      .replace('{id}', id)
      .replace('{branch}', '0')
      .replace('{path}', 'x')
      .replace('{name}', 'x')
    const payload = Object.entries(BODIES).find(([end]) => path.endsWith(end))?.[1] ?? {}
    const answer = await fixture.gateway.server.inject({
      method: method as 'GET' | 'POST',
      url,
      headers: {
        authorization: `Bearer ${key}`,
        ...(method === 'GET' ? {} : { 'content-type': 'application/json' }),
      },
      ...(method === 'GET' ? {} : { payload: JSON.stringify(payload) }),
    })
    const text = answer.body.replaceAll(ids.taskId, 'ID').replaceAll(ids.handoffId, 'ID')
    return `${answer.statusCode} ${text.replaceAll(/"traceId":"\w+"/g, '')}`
  }

  /** Everything that stands about the other's handoff and task, as text. */
  async function standing(): Promise<string> {
    const { rows } = await admin.query<{ all: string }>({
      text: `select (select row_to_json(h)::text from handoff h where id = $1)
        || (select row_to_json(t)::text from task t where id = $2)
        || (select row_to_json(d)::text from dead_letter d where handoff_id = $1)
        || (select row_to_json(a)::text from approval a where handoff_id = $1)
        || (select row_to_json(e)::text from escalation e where handoff_id = $1) as all`,
      values: [others.acme.handoffId, others.acme.taskId],
    })
    return rows[0]?.all ?? ''
  }

  it('no route shows, changes or tells apart from what is not there', async () => {
    const before = await standing()
    expect(before).toContain('acme')
    const differing: string[] = []
    for (const route of [...fixture.gateway.routes].filter((one) => !one.includes('jsonrpc'))) {
      const theirs = await ask(route, others.acme)
      const nobodys = await ask(route, { taskId: randomUUID(), handoffId: randomUUID() })
      if (theirs !== nobodys) differing.push(`${route}: ${theirs} / ${nobodys}`)
      if (/acme/.test(theirs) && !/AGENT_TYPE_REFUSED/.test(theirs))
        differing.push(`${route} shows it: ${theirs}`)
    }
    expect(differing).toEqual([])
    expect(await standing()).toBe(before)
  })

  it('the same search finds what is shown to whose it is', async () => {
    const differing: string[] = []
    for (const route of [...fixture.gateway.routes].filter((one) => /^GET .*[{]id[}]/.test(one))) {
      const theirs = await ask(route, others.acme, acme)
      const nobodys = await ask(route, { taskId: randomUUID(), handoffId: randomUUID() }, acme)
      if (theirs !== nobodys) differing.push(route)
    }
    expect(differing.length).toBeGreaterThan(6)
  })

  it.each(['approvals', 'escalations', 'alerts', 'dead-letters'])(
    'no page and no total of %s says that they are there, whatever the cursor',
    async (name) => {
      const list = async (key: Key, cursor = '') =>
        (
          await get(fixture.gateway, `/v2/${name}?limit=1${cursor && `&cursor=${cursor}`}`, of(key))
        ).json<{ total: number }>()
      expect((await list(acme)).total).toBe(name === 'alerts' ? 0 : 1)
      const nothing = { total: 0, nextCursor: null }
      expect(await list(globex)).toMatchObject(nothing)
      const ends = ['0'.repeat(8), 'f'.repeat(8)].map(
        (id) => `${id}-0000-4000-8000-${'0'.repeat(12)}`,
      )
      const times = ['0', '9'.repeat(16)]
      if (name === 'dead-letters') return
      for (const id of [...ends, others.acme.handoffId])
        for (const at of times)
          expect(await list(globex, `${at}.${id}`)).toMatchObject({ ...nothing, [name]: [] })
    },
  )

  it('the signature of somebody of the same name at another tenant, or at none, decides nothing', async () => {
    const decide = (headers: object = {}) =>
      fixture.gateway.server.inject({
        method: 'POST',
        url: `/v2/approvals/${others.acme.handoffId}`,
        headers: { ...of(approver), 'content-type': 'application/json', ...headers },
        payload: '{"decision":"approve"}',
      })
    const waiting = await get(fixture.gateway, '/v2/approvals', of(approver))
    expect(waiting.json<{ approvals: unknown[] }>().approvals).toHaveLength(1)
    const asked = await decide()
    const needed = String(asked.headers['baton-decision-needed'])
    expect([asked.statusCode, needed.split(' ')[3]]).toEqual([403, 'acme/bob'])
    for (const other of ['globex/bob', 'bob']) {
      const signature = PEOPLE_OF_TENANTS.answer(needed.replace('acme/bob', other))
      expect((await decide({ 'baton-decision': signature })).statusCode).toBe(403)
    }
    const signed = await decide({ 'baton-decision': PEOPLE_OF_TENANTS.answer(needed) })
    expect(signed.json()).toMatchObject({ decision: 'approve', decidedBy: 'acme/bob' })
  })

  it('their own tenant sees and steers them', async () => {
    const answers = await Promise.all(
      [
        `/v2/tasks/${others.acme.taskId}`,
        `/v2/handoffs/${others.acme.handoffId}`,
        `/v2/dead-letters/${others.acme.handoffId}`,
        `/v2/escalations/${others.acme.handoffId}`,
      ].map((path) => get(fixture.gateway, path, of(acme))),
    )
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  })
})

it('who starts the gateway hears of keys whose tenant nobody has added', async () => {
  const initech = createApiKey({ scopes: 'handoffs:send', operator: 'ina', tenant: 'initech' })
  const other = await openGateway({ initech })
  await other.gateway.start()
  expect(other.log()).toContain('"event":"tenant.unknown","tenant":"initech"')
  expect(other.log()).not.toContain('"tenant":"default"')
  await other.close()
})
