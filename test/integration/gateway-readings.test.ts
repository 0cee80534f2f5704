// Who is shown protected text is on record before it is shown: by whom, with which key, from where, and never the text itself.
import { createReadingRecorder } from '@baton/engine'
import { createPool } from '@baton/store'
import { acquirePostgres } from '@baton/testkit'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { expectProblem, get } from './gateway-fixture.ts'
import { openReturns, people } from './returned-handoffs.ts'
import type { Key, Returning, SentCase } from './returned-handoffs.ts'

let returning: Returning
let admin: ReturnType<typeof createPool>
beforeAll(async () => {
  returning = await openReturns()
  const { adminUrl } = await acquirePostgres()
  const url = new URL(adminUrl)
  url.pathname = new URL(returning.fixture.databaseUrl).pathname
  admin = createPool({ url: url.href, applicationName: 'test' })
})
afterAll(async () => {
  await admin?.end()
  await returning?.fixture.close()
})

const read = (path: string, key: Key) =>
  get(returning.fixture.gateway, path, { authorization: `Bearer ${people[key].key}` })
const messageOf = ({ handoffId }: SentCase) => `/v2/dead-letters/${handoffId}/message`
const checkpointOf = ({ taskId }: SentCase) => `/v2/tasks/${taskId}/checkpoint`

async function quarantined(): Promise<SentCase> {
  const sent = await returning.send()
  await returning.quarantine(sent)
  return sent
}

/** What waits to be recorded of who read something of a task. */
async function readings({ taskId }: SentCase) {
  const text = `select entry from audit_outbox where entry like '%TEXT_READ%' and entry like $1`
  const { rows } = await admin.query<{ entry: string }>({ text, values: [`%${taskId}%`] })
  return rows.map(({ entry }) => JSON.parse(entry))
}

it('a quarantined message is read on record, in the trace of its task', async () => {
  const of = await quarantined()
  const answer = await read(messageOf(of), 'reviewer')
  expect(answer.statusCode).toBe(200)
  const [reading, ...more] = await readings(of)
  expect(more).toEqual([])
  expect(reading).toMatchObject({
    event: 'TEXT_READ',
    taskId: of.taskId,
    handoffId: of.handoffId,
    act: { actor: 'eve' },
    operation: {
      subject: 'quarantined-message',
      right: `api-key:${people.reviewer.id}`,
      address: '127.0.0.1',
      details: [],
    },
    segments: [],
  })
  const sent = 'select traceparent from handoff where id = $1'
  const { rows } = await admin.query({ text: sent, values: [of.handoffId] })
  expect(reading.traceparent.split('-')[1]).toBe(rows[0]?.['traceparent'].split('-')[1])
  expect(JSON.stringify(reading)).not.toContain('licence')
})

it('a checkpoint and what came back are read on record', async () => {
  const of = await returning.returned()
  expect((await read(checkpointOf(of), 'returner')).statusCode).toBe(200)
  expect(await returning.take(of)).toHaveLength(1)
  const told = (await readings(of)).map(({ act, operation: { subject, right } }) => [
    act.actor,
    subject,
    right,
  ])
  const right = `api-key:${people.returner.id}`
  expect(told.toSorted()).toEqual([
    ['ann', 'checkpoint', right],
    ['ann', 'returned-message', right],
  ])
})

it('who asks again and again is one reading, and another person or key is another one', async () => {
  const of = await quarantined()
  for (let time = 0; time < 20; time += 1) await read(messageOf(of), 'reviewer')
  for (const key of ['returner', 'another', 'returner'] as const) await read(checkpointOf(of), key)
  expect((await readings(of)).map(({ act: { actor } }) => actor).toSorted()).toEqual([
    'ann',
    'ben',
    'eve',
  ])
})

it('after ten minutes the same reading is another one', async () => {
  let now = 0
  const recorder = createReadingRecorder({ pool: admin, now: () => now })
  const { taskId, handoffId } = await returning.send()
  const [trace] = ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01']
  const reader = { operator: 'ann', tenant: 'default', keyId: 'k', address: '192.0.2.7' }
  const reading = { text: 'checkpoint', taskId, traceparent: trace } as const
  for (const at of [0, 599_999, 600_000]) {
    now = at
    await recorder.read(reader, [reading])
  }
  expect(await readings({ taskId, handoffId } as SentCase)).toHaveLength(2)
})

it('what nobody may read is no reading', async () => {
  const of = await quarantined()
  expect((await read(messageOf(of), 'returner')).statusCode).toBe(403)
  expect(await readings(of)).toEqual([])
})

afterEach(() => admin.query({ text: 'drop trigger if exists refused on audit_outbox' }))

it('where a reading cannot be recorded, nothing is shown', async () => {
  const of = await quarantined()
  const returned = await returning.returned()
  await admin.query({
    text: `create or replace function refuse() returns trigger language plpgsql as
      $$ begin raise exception 'not now' using errcode = '55P03'; end $$`,
  })
  await admin.query({
    text: 'create trigger refused before insert on audit_outbox execute function refuse()',
  })
  const taken = { agents: [returned.agentId] }
  for (const answer of [
    await read(messageOf(of), 'reviewer'),
    await read(checkpointOf(of), 'returner'),
    await returning.call('/v2/returns/take', taken),
  ]) {
    expect(answer.statusCode).toBe(503)
    expectProblem(answer)
    expect(answer.body).not.toContain('licence')
  }
  await admin.query({ text: 'drop trigger refused on audit_outbox' })
  expect((await read(messageOf(of), 'reviewer')).statusCode).toBe(200)
  expect(await readings(of)).toHaveLength(1)
})

it('the log of the gateway says from where each request came', async () => {
  const of = await quarantined()
  await read(messageOf(of), 'reviewer')
  const line = returning.fixture
    .log()
    .split('\n')
    .findLast((one) => one.includes('http.answered') && one.includes('/dead-letters/:id/message'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    address: '127.0.0.1',
    apiKeyId: people.reviewer.id,
  })
})
