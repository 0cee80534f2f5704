// One agent type that nobody hosts is refused by its own name and delays no other; nothing passes without limit (I12).
import { randomUUID } from 'node:crypto'
import { registerAgents } from '@baton/store'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { expectProblem, get, keys, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())
beforeEach(async () => void (await rows('delete from outbox')))

const sendTo = (
  targetAgentType: string,
  { gateway = fixture.gateway, priority = 2 }: SendOptions = {},
) => post(gateway, stateBody({}, { targetAgentType, constraints: { priority } }), keys.critical)

interface SendOptions {
  readonly gateway?: GatewayFixture['gateway']
  readonly priority?: number
}

const rows = (text: string, values: readonly unknown[] = []) =>
  fixture.pool.query({ text, values: [...values] })

/** Rows as a send leaves them, which wait for one of `types` for `seconds` already. */
const waiting = (types: readonly string[], count: number, seconds = 0) =>
  rows(
    `insert into outbox (handoff_id, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent, created_at)
     select gen_random_uuid(), gen_random_uuid(), 1, type, 2, '', 1, '', clock_timestamp() - $3 * interval '1 second'
     from unnest($1::text[]) as t(type), generate_series(1, $2)`,
    [types, count, seconds],
  )

const host = (type: string) =>
  registerAgents(fixture.pool, randomUUID(), [
    { type, version: '1.0.0', requires: [], capabilities: [], mcp: [] },
  ])

it('refuses only the agent type whose handoffs wait too long, says so, and takes it again once they are canceled', async () => {
  const parked = await sendTo('clause-extraktion')
  expect(parked.statusCode).toBe(202)
  await rows(`update outbox set created_at = created_at - interval '31 seconds'`)
  const gateway = fixture.another()
  expect((await sendTo('clause-extraction', { gateway })).statusCode).toBe(202)
  const refused = await sendTo('clause-extraktion', { gateway })
  expect(refused.statusCode).toBe(429)
  expectProblem(refused)
  expect(refused.headers['retry-after']).toBe('1')
  expect(refused.json()).toMatchObject({
    code: 'BATON_OUTBOX_FULL',
    detail: expect.stringMatching(
      /^1 handoff waits for agent type "clause-extraktion", the oldest for 3\d s; no live receiver hosts it$/,
    ),
    fix: 'Start a receiver that hosts it, or cancel what waits for it, and send again. If the name is a mistake, send to the right one.',
  })
  expect((await sendTo('clause-extraction', { gateway })).statusCode).toBe(202)

  const { taskId } = parked.json()
  const canceled = await gateway.server.inject({
    method: 'POST',
    url: `/v2/tasks/${taskId}/cancel`,
    headers: { authorization: `Bearer ${keys.steerer.key}`, 'content-type': 'application/json' },
    payload: '{}',
  })
  expect(canceled.statusCode).toBeLessThan(300)
  expect((await sendTo('clause-extraktion', { gateway: fixture.another() })).statusCode).toBe(202)
})

it('tells a sender to wait where a receiver hosts the type but is behind', async () => {
  await host('behind')
  await waiting(['behind'], 2, 45)
  const refused = await sendTo('behind')
  expect(refused.statusCode).toBe(429)
  expect(refused.json()).toMatchObject({
    detail: expect.stringMatching(
      /^2 handoffs wait for agent type "behind", the oldest for 4\d s$/,
    ),
    fix: 'Send it again in a while. Add relays or receivers if it lasts.',
  })
})

it('takes priority 0 above the bound of a type, until as many of its own wait as may', async () => {
  const bounds = { outboxMax: 100, outboxCriticalMax: 3 }
  await waiting(['urgent'], 101, 60)
  expect((await sendTo('urgent', { gateway: fixture.another(bounds) })).statusCode).toBe(429)
  for (let nth = 0; nth < 3; nth += 1) {
    const gateway = fixture.another(bounds)
    expect((await sendTo('urgent', { gateway, priority: 0 })).statusCode).toBe(202)
  }
  const full = fixture.another(bounds)
  const refused = await sendTo('urgent', { gateway: full, priority: 0 })
  expect(refused.statusCode).toBe(429)
  expect(refused.json()).toMatchObject({
    code: 'BATON_OUTBOX_FULL',
    detail: '3 handoffs of priority 0 wait for agent type "urgent", and no more may',
  })
  expect((await sendTo('calm', { gateway: full, priority: 0 })).statusCode).toBe(202)
})

it('takes priority 0 only of a key with the scope for it', async () => {
  const body = stateBody({}, { targetAgentType: 'calmer', constraints: { priority: 0 } })
  const refused = await post(fixture.gateway, body)
  expectProblem(refused)
  expect(refused.json()).toMatchObject({
    status: 403,
    code: 'BATON_PRIORITY_REFUSED',
    fix: expect.stringContaining('handoffs:send-critical'),
  })
  expect((await rows(`select from handoff where to_agent = 'calmer'`)).rows).toEqual([])
  const calm = stateBody({}, { targetAgentType: 'calmer', constraints: { priority: 1 } })
  expect((await post(fixture.gateway, calm)).statusCode).toBe(202)
})

it('bounds the whole however many types a flood names, and still takes what a live receiver hosts', async () => {
  await host('hosted')
  const bounds = { outboxMax: 20 }
  const flooded = Array.from({ length: 60 }, (_, nth) => `nobody-${nth}`)
  await waiting(flooded, 2)
  const gateway = fixture.another(bounds)
  const refused = await sendTo('newcomer', { gateway })
  expect(refused.statusCode).toBe(429)
  expect(refused.json()).toMatchObject({
    detail:
      'more than 80 handoffs of tenant default wait in all; no live receiver hosts agent type "newcomer"',
  })
  expect((await sendTo('hosted', { gateway })).statusCode).toBe(202)
  await waiting(flooded, 2)
  const urgent = await sendTo('newcomer', { gateway: fixture.another(bounds), priority: 0 })
  expect(urgent.statusCode).toBe(429)
  await waiting(['hosted'], 25)
  expect((await sendTo('hosted', { gateway: fixture.another(bounds) })).statusCode).toBe(429)
  expect((await get(gateway, '/metrics')).body).toMatch(/^baton_outbox_depth \d{3}$/m)
})
