// In the log, too, tenants are apart: its records say whose and by whom, people of one name are two people, and erasing one leaves the other.
import { createApiKey } from '@baton/gateway'
import { addTenant, findTask } from '@baton/store'
import { eventually, fetchSigned } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTask } from '../fault/driver.ts'
import { openPipeline, recordingAgent } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'

const WAIT_MS = 30_000
const SCOPES = 'handoffs:send+handoffs:read+erasures:plan+erasures:approve'
const keyOf = (operator: string, tenant?: string) =>
  createApiKey({ scopes: SCOPES, operator, tenant })
const PEOPLE = {
  ann: keyOf('ann', 'acme'),
  bob: keyOf('bob', 'acme'),
  gus: keyOf('gus', 'globex'),
  gil: keyOf('gil', 'globex'),
  hal: keyOf('hal'),
  hub: keyOf('hub'),
}
type Person = keyof typeof PEOPLE

let pipeline: Pipeline
let gateway: ServiceProcess
beforeAll(async () => {
  pipeline = await openPipeline('tenants-log')
  for (const tenant of ['acme', 'globex']) await addTenant(pipeline.superuser, tenant)
  const agents = ['acme/reader', 'globex/reader', 'reader'].map(
    (type) => recordingAgent(type).agent,
  )
  await pipeline.start(agents)
  gateway = await pipeline.system.start('gateway', {
    BATON_GATEWAY_PORT: '0',
    BATON_API_KEYS: Object.values(PEOPLE)
      .map(({ entry }) => entry)
      .join(','),
  })
})
afterAll(() => pipeline?.close())

interface Answer {
  readonly status: number
  // eslint-disable-next-line typescript/no-explicit-any -- what the API answers, looked at by tests
  readonly body: any
}

async function ask(who: Person, path: string, body?: object): Promise<Answer> {
  const url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
  const response = await fetchSigned(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${PEOPLE[who].key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: await response.json() }
}

const ended = (taskId: string) =>
  eventually(async () => (await findTask(pipeline.pool, taskId))?.status === 'COMPLETED', {
    deadlineMs: WAIT_MS,
    describe: () => `task ${taskId} ends\n${pipeline.log().slice(-2_000)}`,
  })

const recorded = () =>
  eventually(
    async () => {
      const [row] = await pipeline.rows<{ left: number }>(
        'select count(*)::int as left from audit_outbox',
      )
      return row?.left === 0
    },
    { deadlineMs: WAIT_MS, describe: 'everything is recorded' },
  )

/** Sends one task about a person and waits for its end; answers its id. */
async function about(who: Person, tenant: string | undefined, subject: string): Promise<string> {
  const prefix = tenant === undefined ? '' : `${tenant}/`
  const { timestamp: _, ...state } = newTask()
  const agent = { ...state.agent, agentId: `${prefix}intake` }
  const payload = { '/currentState/name': { subject, value: `${subject} of ${prefix}` } }
  const personalData = { dataSubjects: [subject], payload }
  const { status, body } = await ask(who, '/v2/handoffs', {
    agentState: { ...state, agent, personalData },
    targetAgentType: `${prefix}reader`,
  })
  expect(body).toMatchObject({ taskId: state.taskId })
  expect(status).toBe(202)
  await ended(state.taskId)
  return state.taskId
}

const recordsOf = async (who: Person, taskId: string) =>
  (await ask(who, `/v2/tasks/${taskId}/trace`)).body.audit.records.map(
    ({ body }: { body: object }) => body,
  ) as { event: string; tenant?: string; sentBy?: string }[]

it('records say whose a task is and who sent it; of the default tenant none says whose', async () => {
  const ofAcme = await about('ann', 'acme', 'somebody')
  const ofHome = await about('hal', undefined, 'somebody')
  await recorded()
  const acme = await recordsOf('ann', ofAcme)
  expect(new Set(acme.map(({ tenant }) => tenant))).toEqual(new Set(['acme']))
  expect(acme.find(({ event }) => event === 'HANDOFF_ACCEPTED')?.sentBy).toBe('acme/ann')
  const home = await recordsOf('hal', ofHome)
  expect(home.filter((record) => 'tenant' in record)).toEqual([])
  expect(home.find(({ event }) => event === 'HANDOFF_ACCEPTED')?.sentBy).toBe('hal')
})

it('erasing a person of one tenant leaves those of that name at others, and their texts', async () => {
  const subject = 'patient-7'
  const tasks = {
    acme: await about('ann', 'acme', subject),
    globex: await about('gus', 'globex', subject),
    home: await about('hal', undefined, subject),
  }
  await recorded()
  const planned = await ask('ann', '/v2/erasures', { subject })
  expect(planned).toMatchObject({ status: 201, body: { taskIds: [tasks.acme], handoffs: 1 } })
  const confirm = `/v2/erasures/${planned.body.erasureId}/confirm`
  // Nobody of another tenant sees the plan, or can confirm it.
  expect((await ask('gil', `/v2/erasures/${planned.body.erasureId}`)).status).toBe(404)
  expect((await ask('hub', `/v2/erasures/${planned.body.erasureId}`)).status).toBe(404)
  expect((await ask('gil', confirm, { subject })).body.code).toBe('BATON_ERASURE_UNKNOWN')
  expect((await ask('bob', confirm, { subject })).status).toBe(200)

  const found = async (who: Person) => (await ask(who, '/v2/subjects/search', { subject })).body
  expect(await found('bob')).toMatchObject({ handoffs: [], records: [] })
  expect((await found('gil')).records.length).toBeGreaterThan(0)
  expect((await found('hub')).records.length).toBeGreaterThan(0)
  const erased = await pipeline.rows<{ tenant: string }>(
    `select tenant from handoff where erased_at is not null`,
  )
  expect(erased).toEqual([{ tenant: 'acme' }])
  expect((await ask('gil', '/v2/erasures/replay', {})).status).toBe(403)
})

it('who is refused writes nothing into the trace of another’s task', async () => {
  const taskId = await about('ann', 'acme', 'somebody')
  await recorded()
  const before = (await recordsOf('ann', taskId)).length
  const { timestamp: _, ...state } = newTask()
  const refused = await ask('gus', '/v2/handoffs', {
    agentState: { ...state, taskId, agent: { ...state.agent, agentId: 'globex/intake' } },
    targetAgentType: 'acme/reader',
  })
  expect(refused.body.code).toMatch(/_OF_OTHER_TENANT$/)
  await recorded()
  expect(await recordsOf('ann', taskId)).toHaveLength(before)
})

it('a task that only the log knows is shown to whose it was, and to nobody else', async () => {
  const taskId = await about('ann', 'acme', 'somebody')
  await recorded()
  for (const table of ['handoff', 'task'])
    await pipeline.rows(`delete from ${table} where ${table === 'task' ? 'id' : 'task_id'} = $1`, [
      taskId,
    ])
  expect((await ask('ann', `/v2/tasks/${taskId}/trace`)).status).toBe(200)
  expect((await ask('gus', `/v2/tasks/${taskId}/trace`)).status).toBe(404)
  expect((await ask('hal', `/v2/tasks/${taskId}/trace`)).status).toBe(404)
})
