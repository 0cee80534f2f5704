// Events in Postgres: one order, each once, nothing missed by who asks late, and what becomes of those that a consumer does not take.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  addEvents,
  addFollowed,
  addTenant,
  claimSubscriptions,
  countEventDeliveries,
  countSubscriptions,
  eventHead,
  eventPositionAt,
  findEventFacts,
  findEventPosition,
  findSubscription,
  followFor,
  forgetEventDeliveries,
  forgetEvents,
  leaveFollowing,
  leaveSubscription,
  listEventDeliveries,
  listEvents,
  listLogPositions,
  listNewEvents,
  listSubscriptions,
  listWaitingEvents,
  makeSubscription,
  measureEventDeliveries,
  noteRound,
  redriveEventDeliveries,
  wantEvents,
} from '@baton/store'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store events')
})
afterAll(() => store.close())

const anEvent = (tenant = 'default') => ({
  id: randomUUID(),
  tenant,
  body: JSON.stringify({ subject: randomUUID() }),
  subscriptionId: null,
})
const follower = randomUUID()
const follow = () => followFor(store.pool, { follower, leaseMs: 60_000 })

it('is followed by one process, only for who asks, and nothing is noted once somebody else asks', async () => {
  expect(await follow()).toEqual([])
  await wantEvents(store.pool, 'default')
  await wantEvents(store.pool, 'default')
  expect((await follow()).map(({ tenant }) => tenant)).toEqual(['default'])
  expect(await followFor(store.pool, { follower: randomUUID(), leaseMs: 60_000 })).toEqual([])
  const [one, two] = [anEvent(), anEvent()]
  const positions = [{ chain: 0, size: 4, lastHash: 'ab' }]
  const followed = { follower, tenants: ['default'], events: [one, two], positions }
  expect(await addFollowed(store.pool, followed)).toBe(true)
  expect(await addFollowed(store.pool, followed)).toBe(true)
  expect(await listLogPositions(store.pool)).toEqual(positions)
  const page = await listEvents(store.pool, { tenant: 'default', after: 0, limit: 10 })
  expect(page.map(({ id }) => id)).toEqual([one.id, two.id])
  await addTenant(store.superuser, 'acme')
  await wantEvents(store.pool, 'acme')
  expect(await addFollowed(store.pool, { ...followed, events: [anEvent()] })).toBe(false)
  expect(await addFollowed(store.pool, { ...followed, follower: randomUUID() })).toBe(false)
  const both = { ...followed, tenants: ['acme', 'default'], events: [anEvent('acme'), one] }
  expect(await addFollowed(store.pool, both)).toBe(true)
  expect(await listEvents(store.pool, { tenant: 'default', after: 0, limit: 10 })).toHaveLength(2)
  expect(await findEventPosition(store.pool, { tenant: 'default', id: one.id })).toBe(
    page[0]?.position,
  )
  expect(await findEventPosition(store.pool, { tenant: 'acme', id: one.id })).toBeUndefined()
  const yesterday = new Date(Date.now() - 86_400_000)
  expect(await eventPositionAt(store.pool, { tenant: 'default', at: yesterday })).toBe(
    (page[0]?.position ?? 0) - 1,
  )
  expect(await findEventFacts(store.pool, [randomUUID()])).toEqual(new Map())
  await leaveFollowing(store.pool, follower)
  expect(await followFor(store.pool, { follower: randomUUID(), leaseMs: 1 })).toHaveLength(2)
})

it('writes nothing at a look where nobody asks, or where it follows already, and forgets where it stood with the last who asked', async () => {
  const version = async () => (await store.rows('select xmin::text from event_head'))[0]
  await follow()
  const before = await version()
  expect(await follow()).toHaveLength(2)
  expect(await version()).toEqual(before)
  await store.rows('delete from event_feed')
  expect(await follow()).toEqual([])
  expect(await listLogPositions(store.pool)).toEqual([])
  await leaveFollowing(store.pool, follower)
  const left = await version()
  expect(await follow()).toEqual([])
  expect(await version()).toEqual(left)
})

const aSubscription = (name: string, position: number) => ({
  id: randomUUID(),
  tenant: 'default',
  name,
  url: 'https://example.com/hook',
  mode: 'structured' as const,
  filters: '[]',
  secret: Buffer.from('secret'),
  madeBy: 'ann',
  requestSha256: Buffer.alloc(32, 1),
  position,
})

it('bounds subscriptions, and knows a repetition from another request', async () => {
  const one = aSubscription('one', 0)
  expect(await makeSubscription(store.pool, one, 2)).toBe('made')
  expect(await makeSubscription(store.pool, one, 2)).toBe('repeated')
  expect(await makeSubscription(store.pool, { ...one, requestSha256: Buffer.alloc(32) }, 2)).toBe(
    'other-request',
  )
  expect(await makeSubscription(store.pool, aSubscription('one', 0), 2)).toBe('name-taken')
  expect(await makeSubscription(store.pool, aSubscription('two', 0), 2)).toBe('made')
  expect(await makeSubscription(store.pool, aSubscription('three', 0), 2)).toBe('full')
  expect(await countSubscriptions(store.pool)).toBe(2)
  expect((await listSubscriptions(store.pool, { limit: 5 })).map(({ name }) => name)).toEqual([
    'one',
    'two',
  ])
  await store.rows('delete from event_subscription')
})

it('notes what came of a round under its lease only, gives up in time, and tries again what is driven again', async () => {
  const one = aSubscription('rounds', await eventHead(store.pool))
  await makeSubscription(store.pool, one, 9)
  const lease = randomUUID()
  const claim = { lease, leaseMs: 60_000, limit: 5, without: [], awayFrom: 3 }
  expect(await claimSubscriptions(store.pool, claim)).toEqual([])
  const [good, bad] = [anEvent(), anEvent()]
  await addEvents(store.pool, [good, bad])
  expect(await claimSubscriptions(store.pool, { ...claim, without: ['default'] })).toEqual([])
  const [due] = await claimSubscriptions(store.pool, claim)
  if (due === undefined) throw new Error('nothing is due')
  expect(await claimSubscriptions(store.pool, claim)).toEqual([])
  const fresh = await listNewEvents(store.pool, { ...due, limit: 10 })
  expect(fresh.map(({ eventId }) => eventId)).toEqual([good.id, bad.id])
  const round = {
    id: one.id,
    tenant: 'default',
    lease,
    leaseMs: 60_000,
    tried: fresh.map(({ position, eventId }, index) => ({
      position,
      eventId,
      code: index === 0 ? null : 'HTTP_500',
      againInMs: 0,
      sent: 1 as const,
    })),
    position: fresh.at(-1)?.position ?? 0,
    failures: 1,
    waitMs: 0,
    lastError: 'HTTP_500',
    endMs: 3_600_000,
    disabledFor: null,
    isBack: false,
  }
  expect(await noteRound(store.pool, { ...round, lease: randomUUID() })).toBeUndefined()
  expect(await noteRound(store.pool, round)).toEqual({ dead: 0 })
  const id = one.id
  const [waiting] = await listWaitingEvents(store.pool, { id, anyTime: false, limit: 5 })
  expect(waiting).toMatchObject({ eventId: bad.id, attempts: 1 })
  await store.rows(`update event_delivery set first_at = first_at - interval '2 hours'`)
  const again = { ...round, tried: round.tried.slice(1) }
  expect(await noteRound(store.pool, again)).toEqual({ dead: 1 })
  expect(await findSubscription(store.pool, id)).toMatchObject({
    delivered: 1,
    waiting: 0,
    dead: 1,
  })
  expect(await measureEventDeliveries(store.pool)).toEqual({ waiting: 0, dead: 1 })
  expect(await countEventDeliveries(store.pool, { id, state: 'dead' })).toBe(1)
  expect(await listEventDeliveries(store.pool, { id, limit: 5 })).toMatchObject([
    { eventId: bad.id, state: 'dead', attempts: 2, lastError: 'HTTP_500', body: bad.body },
  ])
  expect(await redriveEventDeliveries(store.pool, { id, eventIds: [good.id] })).toBe(0)
  expect(await redriveEventDeliveries(store.pool, { id, eventIds: null })).toBe(1)
  expect(
    await noteRound(store.pool, {
      ...again,
      tried: again.tried.map((tried) => ({ ...tried, code: null })),
      isBack: true,
    }),
  ).toEqual({ dead: 0 })
  expect(await findSubscription(store.pool, id)).toMatchObject({
    delivered: 2,
    waiting: 0,
    dead: 0,
  })
  await leaveSubscription(store.pool, { id, lease, restMs: 0 })
})

it('claims nobody for the test of another one, nor before its rest is over', async () => {
  await store.rows('delete from event_subscription')
  const position = await eventHead(store.pool)
  const [tested, beside] = [aSubscription('tested', position), aSubscription('beside', position)]
  for (const one of [tested, beside]) await makeSubscription(store.pool, one, 9)
  await addEvents(store.pool, [{ ...anEvent(), subscriptionId: tested.id }])
  const lease = randomUUID()
  const claim = { lease, leaseMs: 60_000, limit: 5, without: [], awayFrom: 3 }
  const ids = async () => (await claimSubscriptions(store.pool, claim)).map(({ id }) => id)
  expect(await ids()).toEqual([tested.id])
  await leaveSubscription(store.pool, { id: tested.id, lease, restMs: 0 })
  expect(await ids()).toEqual([tested.id])
  await leaveSubscription(store.pool, { id: tested.id, lease, restMs: 60_000 })
  expect(await ids()).toEqual([])
})

it('forgets old events but those that wait, and disables who was not told of one', async () => {
  await store.rows('delete from event_subscription')
  await addEvents(store.pool, [anEvent()])
  const test = { ...anEvent(), subscriptionId: randomUUID() }
  const told = aSubscription('told', await eventHead(store.pool))
  const behind = aSubscription('behind', 0)
  await makeSubscription(store.pool, told, 9)
  await makeSubscription(store.pool, behind, 9)
  await addEvents(store.pool, [test])
  await store.rows(`update event set created_at = created_at - interval '3 days'`)
  expect(await forgetEvents(store.pool, { keptDays: 5, limit: 100 })).toBe(0)
  expect(await forgetEvents(store.pool, { keptDays: 2, limit: 100 })).toBeGreaterThan(0)
  expect(await findSubscription(store.pool, told.id)).toMatchObject({ state: 'active' })
  expect(await findSubscription(store.pool, behind.id)).toMatchObject({
    state: 'disabled',
    reason: 'EVENTS_FORGOTTEN',
  })
  await forgetEventDeliveries(store.pool)
})
