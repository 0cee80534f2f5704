// Events reach programs outside: every record of a handoff once by its id, by webhooks whose consumer is away for days, and by a stream.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually as within } from '@baton/testkit'
import { startEventConsumer } from './event-consumer.ts'
import type { EventConsumer } from './event-consumer.ts'
import { createApiKey } from '@baton/gateway'
import { addTenant, createPool } from '@baton/store'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'
import { readEvents } from './read-events.ts'
import type { StreamedEvent } from './read-events.ts'

const eventually = (check: () => Promise<unknown>) =>
  within(() => check().then(() => true), {
    deadlineMs: 20_000,
    describe: () => `what is checked; the gateway said ${world.log().slice(-2_000)}`,
  })

let world: PullWorld
let consumer: EventConsumer

const acme = createApiKey({
  scopes: 'events:read+events:subscribe',
  operator: 'bob',
  tenant: 'acme',
})

beforeAll(async () => {
  consumer = await startEventConsumer()
  world = await openPullWorld('events', undefined, {
    BATON_EVENT_SECRETS_KEY: 'kBNcN2uJ0Pq2d3o7dC8yqWkHBQtq9Rj3nVj6mSxg5zI=',
    BATON_EVENTS_PRIVATE_TARGETS: new URL(consumer.url('/')).origin,
    BATON_EVENTS_CALL_MS: '500',
    BATON_API_KEYS: [...Object.values(pullKeys), acme].map(({ entry }) => entry).join(','),
  })
  const admin = createPool({ url: world.system.adminUrls.store, applicationName: 'test' })
  await addTenant(admin, 'acme')
  await admin.end()
})
afterAll(async () => {
  await world.close()
  await consumer.close()
})

interface Subscription {
  readonly subscriptionId: string
  readonly secret: string
  readonly state: string
  readonly delivered: number
  readonly waiting: number
  readonly deadLetters: number
  readonly failures: number
}

async function ask<Body = Subscription>(
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly body: Body }> {
  const response = await fetch(`${world.url()}/v2${path}`, {
    method,
    headers: {
      authorization: `Bearer ${pullKeys.subscriber.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, body: (await response.json()) as Body }
}

let made = 0
async function subscribe(parts: object = {}): Promise<Subscription & { readonly path: string }> {
  made += 1
  const path = `/hook-${made}`
  const { status, body } = await ask('POST', '/event-subscriptions', {
    name: `hook-${made}`,
    url: consumer.url(path),
    ...parts,
  })
  expect([status, body]).toMatchObject([201, {}])
  consumer.trust(path, body.secret)
  return { ...body, path }
}

const read = async ({ subscriptionId }: Subscription) =>
  (await ask('GET', `/event-subscriptions/${subscriptionId}`)).body

/** One handoff from its send to its completion. */
async function handOff(agent = 'told'): Promise<{ taskId: string; handoffId: string }> {
  const sent = await world.send(agent)
  const [one] = await world.claim(agent)
  if (one === undefined) throw new Error('nothing was claimed')
  await world.settle(one, { outcome: 'complete' })
  return sent
}

const WHOLE = ['baton.handoff.accepted', 'baton.handoff.completed']
const typesOf = (path: string, taskId: string) =>
  consumer
    .taken(path)
    .filter(({ event }) => event.subject === taskId)
    .map(({ event }) => event.type)
    .toSorted()

/** As if so much time had passed for what waits to be told. */
async function pass(hours: number): Promise<void> {
  await world.pool.query({
    text: `update event_subscription set due_at = due_at - $1 * interval '1 hour'`,
    values: [hours],
  })
  await world.pool.query({
    text: `update event_delivery set due_at = due_at - $1 * interval '1 hour', first_at = first_at - $1 * interval '1 hour'`,
    values: [hours],
  })
}

it('tells each event of a handoff in both modes, signed, under the id of its record', async () => {
  const structured = await subscribe()
  const binary = await subscribe({ mode: 'binary' })
  const { taskId, handoffId } = await handOff()
  for (const { path } of [structured, binary]) {
    await eventually(async () => expect(typesOf(path, taskId)).toEqual(WHOLE))
  }
  const [first] = consumer.taken(structured.path)
  expect(first?.headers['content-type']).toContain('application/cloudevents+json')
  expect(first?.headers['webhook-id']).toBe(first?.event.id)
  expect(first?.event).toMatchObject({
    specversion: '1.0',
    source: '/tenants/default',
    subject: taskId,
    handoffid: handoffId,
    toagent: 'told',
    dataschema: 'urn:baton:schema:event-handoff:1',
    data: { taskId, handoffId, state: 'ACCEPTED' },
  })
  const [other] = consumer.taken(binary.path)
  expect(other?.headers['ce-id']).toBe(other?.event.id)
  expect(other?.headers['content-type']).toBe('application/json')
  const ids = (path: string) =>
    consumer
      .taken(path)
      .map(({ event }) => event.id)
      .toSorted()
  expect(ids(binary.path)).toEqual(ids(structured.path))
  expect(consumer.forged()).toBe(0)
})

it('loses nothing of a consumer that is down for two days, tells each event under one id, and keeps few rows meanwhile', async () => {
  const one = await subscribe()
  const beside = await subscribe()
  consumer.on(one.path, () => 503)
  const tasks = [await handOff(), await handOff()]
  await eventually(async () => expect((await read(one)).failures).toBeGreaterThanOrEqual(1))
  for (let hour = 0; hour < 48; hour += 8) {
    if (hour % 16 === 0) tasks.push(await handOff())
    const { failures } = await read(one)
    await pass(8)
    await eventually(async () => expect((await read(one)).failures).toBeGreaterThan(failures))
  }
  expect((await read(one)).waiting).toBeLessThan(60)
  expect(consumer.taken(one.path)).toEqual([])
  consumer.on(one.path, () => 204)
  await pass(4)
  for (const { path } of [one, beside])
    for (const { taskId } of tasks)
      await eventually(async () => expect(typesOf(path, taskId)).toEqual(WHOLE))
  const ids = (path: string) => consumer.taken(path).map(({ event }) => event.id)
  expect(ids(one.path).toSorted()).toEqual(ids(beside.path).toSorted())
  expect(new Set(ids(one.path)).size).toBe(ids(one.path).length)
  const told = new Set(ids(one.path))
  expect(consumer.tried(one.path).every(({ event }) => told.has(event.id))).toBe(true)
  await eventually(async () =>
    expect(await read(one)).toMatchObject({ waiting: 0, deadLetters: 0, failures: 0 }),
  )
})

it('streams every event once over reconnects, also to another gateway, and shows pages with the same filter', async () => {
  const begun = (await ask<{ nextAfter: string | null }>('GET', '/events?limit=1000')).body
    .nextAfter
  const tasks = [await handOff('streamed'), await handOff('streamed')]
  const wanted = tasks.flatMap(({ taskId }) => WHOLE.map((type) => `${taskId} ${type}`)).toSorted()
  const got: StreamedEvent[] = []
  let last = begun ?? undefined
  while (got.length < wanted.length) {
    const url = got.length === 1 ? (await world.startGateway()) && world.url() : world.url()
    const [one] = await readEvents({
      url,
      key: pullKeys.subscriber.key,
      after: last,
      query: 'toAgent=streamed',
      countMax: 1,
    })
    if (one === undefined) throw new Error('the stream ended')
    got.push(one)
    last = one.id
  }
  expect(got.map(({ subject, type }) => `${subject} ${type}`).toSorted()).toEqual(wanted)
  const page = (query: string) =>
    ask<{ events: StreamedEvent[]; isMore: boolean }>('GET', `/events?${query}`)
  const after = begun === null ? '' : `&after=${begun}`
  const whole = await page(`toAgent=streamed&type=baton.handoff.*${after}`)
  expect(whole.body.events.map(({ id }) => id)).toEqual(got.map(({ id }) => id))
  const filters = encodeURIComponent(JSON.stringify([{ not: { suffix: { type: '.completed' } } }]))
  expect((await page(`toAgent=streamed&filters=${filters}${after}`)).body.events).toHaveLength(2)
  expect(await page('after=00000000-0000-4000-8000-000000000000')).toMatchObject({
    status: 410,
    body: { code: 'BATON_EVENT_FORGOTTEN' },
  })
})

it('signs with both secrets while one replaces the other, replays under the same ids, and pauses', async () => {
  const one = await subscribe({ filters: [{ exact: { toagent: 'replayed' } }] })
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/rotate`, { overlapHours: 1 })
  const first = await handOff('replayed')
  await eventually(async () => expect(typesOf(one.path, first.taskId)).toEqual(WHOLE))
  const { body: rotated } = await ask('POST', `/event-subscriptions/${one.subscriptionId}/rotate`, {
    overlapHours: 0,
  })
  consumer.trust(one.path, rotated.secret)
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/pause`)
  const second = await handOff('replayed')
  const ids = () => consumer.taken(one.path).map(({ event }) => event.id)
  const told = ids()
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/resume`)
  await eventually(async () => expect(typesOf(one.path, second.taskId)).toEqual(WHOLE))
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/replay`, {
    since: new Date(Date.now() - 600_000).toISOString(),
  })
  await eventually(async () => expect(ids()).toHaveLength(2 * told.length + 2 + 2))
  expect(new Set(ids()).size).toBe(4)
  const { body: test } = await ask<{ eventId: string }>(
    'POST',
    `/event-subscriptions/${one.subscriptionId}/test`,
  )
  await eventually(async () => expect(ids()).toContain(test.eventId))
  expect(consumer.forged()).toBe(0)
})

it('gives up in time, keeps dead letters, drives them again, and stops at 410', async () => {
  const one = await subscribe({ filters: [{ exact: { toagent: 'dead' } }] })
  consumer.on(one.path, () => 500)
  await handOff('dead')
  await eventually(async () => expect((await read(one)).failures).toBeGreaterThan(0))
  for (let day = 0; day < 5; day += 1) {
    const { failures } = await read(one)
    await pass(24)
    await eventually(async () => expect((await read(one)).failures).toBeGreaterThan(failures))
  }
  await eventually(async () => expect((await read(one)).deadLetters).toBeGreaterThan(0))
  const { body: listed } = await ask<{ deliveries: readonly object[]; total: number }>(
    'GET',
    `/event-subscriptions/${one.subscriptionId}/deliveries?state=dead`,
  )
  expect(listed.deliveries[0]).toMatchObject({ state: 'dead', lastError: 'HTTP_500', event: {} })
  consumer.on(one.path, () => 204)
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/redrive`)
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/resume`)
  await eventually(async () =>
    expect(await read(one)).toMatchObject({ delivered: 2, waiting: 0, deadLetters: 0 }),
  )
  consumer.on(one.path, () => 410)
  await handOff('dead')
  await eventually(async () =>
    expect(await read(one)).toMatchObject({ state: 'disabled', reason: 'HTTP_410' }),
  )
  consumer.on(one.path, () => 204)
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/resume`)
  await eventually(async () => expect(await read(one)).toMatchObject({ delivered: 4, waiting: 0 }))
})

it('is held back by no consumer that hangs, cuts off, redirects, drips or pours', async () => {
  const bad = await Promise.all(
    (['hang', 'cut', 302, 'drip', 'endless'] as const).map(async (answer) => {
      const one = await subscribe({ filters: [{ exact: { toagent: 'held' } }] })
      consumer.on(one.path, () => answer)
      return one
    }),
  )
  const good = await subscribe({ filters: [{ exact: { toagent: 'held' } }] })
  const { taskId } = await handOff('held')
  await eventually(async () => expect(typesOf(good.path, taskId)).toEqual(WHOLE))
  const [hang, cut, redirect, drip, endless] = bad
  if (!hang || !cut || !redirect || !drip || !endless) throw new Error('one is missing')
  for (const one of [drip, endless])
    await eventually(async () =>
      expect(await read(one)).toMatchObject({ delivered: 2, failures: 0 }),
    )
  const errorOf = async (one: Subscription, lastError: string) =>
    eventually(async () => expect(await read(one)).toMatchObject({ lastError, delivered: 0 }))
  await errorOf(hang, 'BATON_ENDPOINT_TIMEOUT')
  await errorOf(cut, 'BATON_ENDPOINT_UNAVAILABLE')
  await errorOf(redirect, 'HTTP_302')
})

it('refuses addresses of the own network, huge filters and weak secrets, and shows no secret again', async () => {
  const make = (parts: object) =>
    ask<{ code: string; pointer: string }>('POST', '/event-subscriptions', {
      name: 'refused',
      url: 'https://example.com/',
      ...parts,
    })
  for (const url of [
    'http://example.com/',
    'https://127.0.0.1/',
    'https://[::1]/',
    'https://169.254.169.254/latest',
    'https://10.0.0.1/',
    'https://user:word@example.com/',
    'ftp://example.com/',
    `${consumer.url('/').replace('127.0.0.1', 'localhost')}`,
  ])
    expect([url, await make({ url })]).toMatchObject([
      url,
      { status: 422, body: { code: 'BATON_ADDRESS_REFUSED', pointer: '/url' } },
    ])
  let deep: object = { exact: { type: 'a' } }
  for (let depth = 0; depth < 50; depth += 1) deep = { not: deep }
  for (const filters of [
    [deep],
    [{ exact: Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`a${at}`, 'b'])) }],
    [{ sql: 'true' }],
    [{ exact: { type: 'x'.repeat(300) } }],
    [{ exact: {}, prefix: {} }],
  ])
    expect(await make({ filters })).toMatchObject({
      status: 422,
      body: { code: 'BATON_FILTER_INVALID' },
    })
  expect(await make({ secret: 'whsec_short' })).toMatchObject({ status: 422 })
  const key = { 'idempotency-key': '"events-1"' }
  const body = { name: 'repeated', url: 'https://example.com/' }
  const first = await ask('POST', '/event-subscriptions', body, key)
  const again = await ask('POST', '/event-subscriptions', body, key)
  expect([again.status, again.body.secret]).toEqual([201, first.body.secret])
  expect(await ask('POST', '/event-subscriptions', { ...body, name: 'other' }, key)).toMatchObject({
    status: 409,
  })
  expect(await read(first.body)).not.toHaveProperty('secret')
  expect(world.log()).not.toContain('whsec_')
  const { rows } = await world.pool.query<{ text: string }>({
    text: `select encode(secret, 'escape') as text from event_subscription`,
  })
  expect(rows.every(({ text }) => !text.includes('whsec'))).toBe(true)
})

it('shows and changes nothing of another tenant', async () => {
  const own = await subscribe()
  const { taskId } = await handOff('of-default')
  await eventually(async () => expect(typesOf(own.path, taskId)).toEqual(WHOLE))
  const others = async (method: string, path: string) => {
    const response = await fetch(`${world.url()}/v2${path}`, {
      method,
      headers: { authorization: `Bearer ${acme.key}` },
    })
    return [response.status, (await response.json()) as Record<string, unknown>] as const
  }
  expect(await others('GET', '/events')).toMatchObject([200, { events: [] }])
  expect(await others('GET', '/event-subscriptions')).toMatchObject([200, { subscriptions: [] }])
  const [first] = consumer.taken(own.path)
  expect((await others('GET', `/events?after=${first?.event.id ?? ''}`))[0]).toBe(410)
  for (const [method, act] of [
    ['GET', ''],
    ['DELETE', ''],
    ['POST', '/rotate'],
    ['POST', '/test'],
    ['POST', '/pause'],
    ['POST', '/redrive'],
    ['GET', '/deliveries'],
  ] as const)
    expect([
      act,
      await others(method, `/event-subscriptions/${own.subscriptionId}${act}`),
    ]).toMatchObject([act, [404, { code: 'BATON_SUBSCRIPTION_UNKNOWN' }]])
  expect(await read(own)).toMatchObject({ state: 'active' })
})

it('says of a secret that no key reads that it is unreadable, tries no faster for it, and is mended by a rotation', async () => {
  const one = await subscribe()
  await world.pool.query({
    text: `update event_subscription set secret = decode(repeat('00', 64), 'hex') where id = $1`,
    values: [one.subscriptionId],
  })
  const { taskId } = await handOff('unreadable')
  const lastError = 'BATON_EVENT_SECRET_UNREADABLE'
  await eventually(async () =>
    expect(await read(one)).toMatchObject({ state: 'active', lastError, failures: 1 }),
  )
  expect(world.log().split('"events.undelivered"')).toHaveLength(2)
  const rotated = await ask('POST', `/event-subscriptions/${one.subscriptionId}/rotate`, {})
  consumer.trust(one.path, rotated.body.secret)
  await ask('POST', `/event-subscriptions/${one.subscriptionId}/resume`)
  await eventually(async () => expect(typesOf(one.path, taskId)).toEqual(WHOLE))
})
