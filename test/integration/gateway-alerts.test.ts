// Alerts and escalations over HTTP: listed page by page, handled once by whoever was first under their own name, and never
// without the scope.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import { closeAlert, raiseAlert, sendHandoffs } from '@baton/store'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'
import { newHandoff } from '../contract/store-fixture.ts'

const people = {
  ann: createApiKey({ scopes: 'handoffs:read+tasks:resume', operator: 'ann' }),
  bob: createApiKey({ scopes: 'handoffs:read+tasks:resume', operator: 'bob' }),
  reader: createApiKey({ scopes: 'handoffs:read', operator: 'ann' }),
}
type Person = keyof typeof people

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway(people)
  await fixture.gateway.server.ready()
})
afterAll(() => fixture.close())
beforeEach(async () => {
  await fixture.pool.query({ text: 'delete from alert' })
  await fixture.pool.query({ text: 'delete from escalation' })
})

async function ask(person: Person, url: string, payload?: object) {
  const response = await fixture.gateway.server.inject({
    method: payload === undefined ? 'GET' : 'POST',
    url,
    headers: { authorization: `Bearer ${people[person].key}` },
    ...(payload === undefined ? {} : { payload }),
  })
  return { status: response.statusCode, body: response.json() }
}

const raise = (key: string, fromAgent = 'a') =>
  raiseAlert(fixture.pool, {
    key,
    kind: 'latency.pair',
    severity: 'ticket',
    reason: 'BURNING',
    subject: { fromAgent, toAgent: 'b' },
  })

describe('alerts', () => {
  it('are listed page by page, the newest first, and shown with their history', async () => {
    const ids: string[] = []
    for (const key of ['1', '2', '3']) ids.push(await raise(key))
    const first = await ask('reader', '/v2/alerts?limit=2')
    expect(first.body.alerts).toMatchObject([
      { alertId: ids[2], state: 'open', links: { self: `/v2/alerts/${ids[2]}` } },
      { alertId: ids[1], occurrences: 1, subject: { fromAgent: 'a', toAgent: 'b' } },
    ])
    expect(first.body.alerts[0]).not.toHaveProperty('position')
    expect(first.body).toMatchObject({ total: 3, totalIsExact: true })
    const second = await ask('reader', `/v2/alerts?limit=2&cursor=${first.body.nextCursor}`)
    expect(second.body).toMatchObject({ alerts: [{ alertId: ids[0] }], nextCursor: null })
    const whole = await ask('reader', '/v2/alerts?limit=3')
    expect(whole.body.alerts).toHaveLength(3)
    expect(whole.body.nextCursor).toBeNull()
    expect((await ask('reader', '/v2/alerts?severity=page')).body.alerts).toEqual([])
    expect(
      (await ask('reader', '/v2/alerts?kind=latency.pair&state=open')).body.alerts,
    ).toHaveLength(3)
    expect((await ask('reader', `/v2/alerts/${ids[0]}`)).body).toMatchObject({
      history: [{ change: 'opened', occurrences: 1, actor: null, why: null }],
    })
  })

  it('go on behind one that is forgotten meanwhile', async () => {
    const ids: string[] = []
    for (const key of ['1', '2', '3']) ids.push(await raise(key))
    const first = await ask('reader', '/v2/alerts?limit=1')
    await fixture.pool.query({ text: 'delete from alert where id = $1', values: [ids[2]] })
    const second = await ask('reader', `/v2/alerts?limit=1&cursor=${first.body.nextCursor}`)
    expect(second.body).toMatchObject({ alerts: [{ alertId: ids[1] }] })
    const third = await ask('reader', `/v2/alerts?limit=1&cursor=${second.body.nextCursor}`)
    expect(third.body).toMatchObject({ alerts: [{ alertId: ids[0] }], nextCursor: null })
  })

  it('are acknowledged and closed by whoever was first; the same again is safe, anything else a conflict', async () => {
    const url = `/v2/alerts/${await raise('k')}`
    expect(await ask('ann', `${url}/acknowledge`, {})).toMatchObject({
      status: 200,
      body: { state: 'acknowledged', acknowledgedBy: 'ann', repeated: false },
    })
    expect(await ask('bob', `${url}/acknowledge`, {})).toMatchObject({
      status: 200,
      body: { acknowledgedBy: 'ann', repeated: true },
    })
    const close = (person: Person, why: string) => ask(person, `${url}/close`, { why })
    const closed = { state: 'closed', closedBy: 'bob', closedWhy: 'mended' }
    expect(await close('bob', 'mended')).toMatchObject({
      status: 200,
      body: { ...closed, repeated: false },
    })
    expect(await close('bob', 'mended')).toMatchObject({
      status: 200,
      body: { ...closed, repeated: true },
    })
    for (const refused of [
      await close('ann', 'mended'),
      await close('bob', 'another'),
      await ask('ann', `${url}/acknowledge`, {}),
    ])
      expect(refused).toMatchObject({ status: 409, body: { code: 'BATON_ALERT_CLOSED' } })
    expect((await ask('reader', url)).body.history).toMatchObject([
      { change: 'opened' },
      { change: 'acknowledged', actor: 'ann' },
      { change: 'closed', actor: 'bob', why: 'mended' },
    ])
    expect((await ask('reader', '/v2/alerts')).body.alerts).toEqual([])
    expect((await ask('reader', '/v2/alerts?state=closed')).body.alerts).toHaveLength(1)
    expect(fixture.log()).toContain('"event":"alert.closed"')
    expect(fixture.log()).not.toContain('mended')
  })

  it('that closed by themselves are not closed again', async () => {
    const alertId = await raise('k')
    await closeAlert(fixture.pool, 'k')
    expect(await ask('ann', `/v2/alerts/${alertId}/close`, { why: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'BATON_ALERT_CLOSED', detail: expect.stringContaining('by itself') },
    })
  })

  it.each([
    ['/v2/alerts?limit=0', 400, 'BATON_PARAMETER_INVALID'],
    ['/v2/alerts?state=new', 400, 'BATON_PARAMETER_INVALID'],
    ['/v2/alerts?severity=high', 400, 'BATON_PARAMETER_INVALID'],
    ['/v2/alerts?cursor=x', 400, 'BATON_PARAMETER_INVALID'],
    [`/v2/alerts?cursor=${'9'.repeat(17)}.${randomUUID()}`, 400, 'BATON_PARAMETER_INVALID'],
    ['/v2/alerts?stat=open', 400, 'BATON_PARAMETER_UNKNOWN'],
    ['/v2/escalations?kind=x', 400, 'BATON_PARAMETER_UNKNOWN'],
    ['/v2/alerts/x', 400, 'BATON_PARAMETER_INVALID'],
    [`/v2/alerts/${randomUUID()}`, 404, 'BATON_ALERT_UNKNOWN'],
    [`/v2/escalations/${randomUUID()}`, 404, 'BATON_ESCALATION_UNKNOWN'],
    [`/v2/alerts/tests/${randomUUID()}`, 404, 'BATON_ALERT_TEST_UNKNOWN'],
  ])('GET %s is refused with %i %s', async (url, status, code) => {
    expect(await ask('reader', url)).toMatchObject({ status, body: { code } })
  })

  it.each([
    [{}],
    [{ why: '' }],
    [{ why: 'a\nb' }],
    [{ why: 'x'.repeat(501) }],
    [{ why: 'x', closedBy: 'bob' }],
  ])('are not closed with %j', async (body) => {
    const url = `/v2/alerts/${await raise('k')}`
    expect(await ask('ann', `${url}/close`, body)).toMatchObject({
      status: 422,
      body: { code: 'BATON_REQUEST_INVALID' },
    })
    expect((await ask('ann', url)).body.state).toBe('open')
  })

  it('have their webhooks tested: the test waits until somebody delivers', async () => {
    const asked = await ask('ann', '/v2/alerts/tests', {})
    expect(asked).toMatchObject({ status: 202, body: { isPlanned: false, webhooks: [] } })
    const { testId } = asked.body
    expect(await ask('reader', `/v2/alerts/tests/${testId}`)).toMatchObject({
      status: 200,
      body: { testId, isPlanned: false, webhooks: [] },
    })
  })
})

describe('escalations', () => {
  const escalate = async () => {
    const handoffId = randomUUID()
    await fixture.pool.query({
      text: `insert into escalation (handoff_id, task_id, attempts, reason) values ($1, $1, 3, 'SCHEMA_INVALID')`,
      values: [handoffId],
    })
    return handoffId
  }

  it('are listed oldest first, acknowledged and resolved by whoever was first', async () => {
    const ids = [await escalate(), await escalate()]
    const first = await ask('reader', '/v2/escalations?limit=1')
    expect(first.body).toMatchObject({
      escalations: [{ handoffId: ids[0], state: 'open', attempts: 3 }],
      nextCursor: expect.stringContaining(ids[0] ?? ''),
      total: 2,
      totalIsExact: true,
    })
    const next = `/v2/escalations?limit=5&cursor=${first.body.nextCursor}`
    const second = await ask('reader', next)
    expect(second.body).toMatchObject({ escalations: [{ handoffId: ids[1] }], nextCursor: null })
    const url = `/v2/escalations/${ids[0]}`
    expect(await ask('ann', `${url}/acknowledge`, {})).toMatchObject({
      body: { state: 'acknowledged', acknowledgedBy: 'ann', repeated: false },
    })
    expect((await ask('reader', '/v2/escalations?state=open')).body.escalations).toHaveLength(1)
    const resolve = (person: Person, why: string) => ask(person, `${url}/resolve`, { why })
    expect(await resolve('bob', 'by hand')).toMatchObject({
      body: { state: 'resolved', resolvedBy: 'bob', repeated: false },
    })
    expect(await resolve('bob', 'by hand')).toMatchObject({ status: 200, body: { repeated: true } })
    for (const refused of [await resolve('ann', 'x'), await ask('ann', `${url}/acknowledge`, {})])
      expect(refused).toMatchObject({ status: 409, body: { code: 'BATON_ESCALATION_RESOLVED' } })
    expect((await ask('reader', '/v2/escalations')).body.escalations).toHaveLength(1)
    expect((await ask('reader', '/v2/escalations?state=resolved')).body.escalations).toMatchObject([
      { handoffId: ids[0], resolvedWhy: 'by hand' },
    ])
  })
})

describe('many at once', () => {
  it('are counted first, then closed, and those that the filter does not mean stay', async () => {
    const flood = await Promise.all(['1', '2', '3'].map((key) => raise(key, `made-up-${key}`)))
    const other = await raise('4', 'intake')
    const filter = { reason: 'BURNING', fromPrefix: 'made-up-' }
    const listed = await ask('reader', '/v2/alerts?fromPrefix=made-up-&reason=BURNING')
    expect(listed.body.alerts).toHaveLength(3)
    const close = (body: object) => ask('ann', '/v2/alerts/close', { why: 'made up', ...body })
    expect(await close({ filter, dryRun: true })).toMatchObject({
      status: 200,
      body: { matching: 3, handled: 0, left: 3 },
    })
    expect((await close({ filter })).body).toEqual({ matching: 3, handled: 3, left: 0 })
    expect((await close({ filter })).body).toEqual({ matching: 0, handled: 0, left: 0 })
    expect((await ask('reader', '/v2/alerts')).body.alerts).toMatchObject([{ alertId: other }])
    expect((await ask('reader', `/v2/alerts/${flood[1]}`)).body).toMatchObject({
      closedBy: 'ann',
      closedWhy: 'made up',
      history: [{ change: 'opened' }, { change: 'closed', actor: 'ann', why: 'made up' }],
    })
    expect(fixture.log()).toContain('"event":"alerts.handled"')
  })

  it('are acknowledged once, by the sender and the age of what came last', async () => {
    const ids = await Promise.all(['1', '2', '3'].map((key) => raise(key)))
    await fixture.pool.query({
      text: `update alert set sender = 'mallory', last_at = now() - interval '2 hours' where id = any($1)`,
      values: [ids.slice(0, 2)],
    })
    await ask('bob', `/v2/alerts/${ids[0]}/acknowledge`, {})
    const filter = {
      sender: 'mallory',
      before: new Date(Date.now() - 3_600_000).toISOString(),
    }
    const acknowledged = await ask('ann', '/v2/alerts/acknowledge', { filter })
    expect(acknowledged.body).toEqual({ matching: 1, handled: 1, left: 0 })
    expect((await ask('reader', `/v2/alerts/${ids[0]}`)).body.acknowledgedBy).toBe('bob')
    expect((await ask('reader', `/v2/alerts/${ids[1]}`)).body.acknowledgedBy).toBe('ann')
    expect((await ask('reader', `/v2/alerts/${ids[2]}`)).body.state).toBe('open')
  })

  it('are a thousand at most, and the rest is told', async () => {
    await fixture.pool.query({
      text: `insert into escalation (handoff_id, task_id, attempts, reason)
        select gen_random_uuid(), gen_random_uuid(), 3, 'X' from generate_series(1, 1003)`,
    })
    const resolve = () =>
      ask('ann', '/v2/escalations/resolve', { filter: { reason: 'X' }, why: 'over' })
    expect((await resolve()).body).toEqual({ matching: 1_003, handled: 1_000, left: 3 })
    expect((await resolve()).body).toEqual({ matching: 3, handled: 3, left: 0 })
    expect((await ask('reader', '/v2/escalations')).body.escalations).toEqual([])
  })

  it('are escalations of handoffs whose agents begin so', async () => {
    const handoff = newHandoff({ fromAgent: 'intake-9' })
    await sendHandoffs(fixture.pool, [handoff])
    const { handoffId } = handoff
    await fixture.pool.query({
      text: `insert into escalation (handoff_id, task_id, attempts, reason)
        values ($1, $1, 3, 'X'), (gen_random_uuid(), $1, 3, 'X')`,
      values: [handoffId],
    })
    const filter = { fromPrefix: 'intake-' }
    const done = await ask('ann', '/v2/escalations/acknowledge', { filter })
    expect(done.body).toEqual({ matching: 1, handled: 1, left: 0 })
    const { escalations } = (await ask('reader', '/v2/escalations?fromPrefix=intake-')).body
    expect(escalations).toMatchObject([{ handoffId, acknowledgedBy: 'ann' }])
  })

  it.each([
    ['/v2/alerts/close', { why: 'x' }],
    ['/v2/alerts/close', { why: 'x', filter: {} }],
    ['/v2/alerts/close', { filter: { reason: 'X' } }],
    ['/v2/alerts/close', { why: 'x', filter: { reason: 'X', cluster: 'y' } }],
    ['/v2/alerts/acknowledge', { filter: { before: 'yesterday' } }],
    ['/v2/escalations/acknowledge', { filter: { sender: 'ann' } }],
  ])('POST %s is refused with %j', async (url, body) => {
    expect(await ask('ann', url, body)).toMatchObject({
      status: 422,
      body: { code: 'BATON_REQUEST_INVALID' },
    })
  })

  it('are not handled by who may only read', async () => {
    await raise('k')
    const filter = { reason: 'BURNING' }
    for (const url of ['/v2/alerts/close', '/v2/alerts/acknowledge'])
      expect(await ask('reader', url, { filter, why: 'x' })).toMatchObject({ status: 403 })
  })
})
