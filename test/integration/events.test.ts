// Events reach programs outside: every record of a handoff once by its id, by webhooks whose consumer is away for days, and by a stream.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually as within } from '@baton/testkit'
import { startEventConsumer } from './event-consumer.ts'
import type { EventConsumer } from './event-consumer.ts'
import { openPullWorld, pullKeys } from './pull-fixture.ts'
import type { PullWorld } from './pull-fixture.ts'

const eventually = (check: () => Promise<unknown>) =>
  within(() => check().then(() => true), {
    deadlineMs: 20_000,
    describe: () => `what is checked; the gateway said ${world.log().slice(-2_000)}`,
  })

let world: PullWorld
let consumer: EventConsumer

beforeAll(async () => {
  consumer = await startEventConsumer()
  world = await openPullWorld('events', undefined, {
    BATON_EVENT_SECRETS_KEY: 'kBNcN2uJ0Pq2d3o7dC8yqWkHBQtq9Rj3nVj6mSxg5zI=',
    BATON_EVENTS_PRIVATE_TARGETS: new URL(consumer.url('/')).origin,
    BATON_EVENTS_CALL_MS: '500',
  })
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
  for (let hour = 0; hour < 48; hour += 4) {
    if (hour % 12 === 0) tasks.push(await handOff())
    const { failures } = await read(one)
    await pass(4)
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
