// Alerts and escalations over HTTP: listed page by page, handled once by whoever was first under their own name, and never
// without the scope.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import { closeAlert, raiseAlert } from '@baton/store'
import { openGateway } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

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

const raise = (key: string) =>
  raiseAlert(fixture.pool, {
    key,
    kind: 'latency.pair',
    severity: 'ticket',
    reason: 'BURNING',
    subject: { fromAgent: 'a', toAgent: 'b' },
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
