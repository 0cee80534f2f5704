// /v2/event-subscriptions: who is told of a tenant's events by webhooks, how that goes, and what was given up.
import { hash, randomUUID } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { newWebhookSecret, readFilters, testEvent } from '@baton/engine'
import type { EventSecrets } from '@baton/engine'
import { createEndpoint } from '@baton/http/endpoint'
import { ProblemError } from '@baton/http/server'
import { createWebhookSigner } from '@baton/http/webhook'
import { uuidOfDigest } from '@baton/ledger'
import { BatonError } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import {
  addEvents,
  changeSubscription,
  countEventDeliveries,
  countSubscriptions,
  deleteSubscription,
  eventHead,
  eventPositionAt,
  findEventPosition,
  findSubscription,
  findSubscriptionSecret,
  listEventDeliveries,
  listSubscriptions,
  makeSubscription,
  pauseSubscription,
  redriveEventDeliveries,
  replaySubscription,
  resumeSubscription,
  rotateSubscription,
} from '@baton/store'
import type { DeliveryState, DeliveryView, EventMode, Pool, SubscriptionView } from '@baton/store'
import { keyOf, operatorOf } from '../acting.ts'
import { countedPageOf, FILTERED_CURSOR, readCursor, rowsFor } from '../cursor.ts'
import { KEY_HEADER, requestKey, requireKey } from '../idempotency-key.ts'
import { answers, listQuery, only, onlyById, onlyList, problemsIn, ref } from '../operation.ts'
import type { ById, PageQuery } from '../operation.ts'

export interface SubscriptionRouteOptions {
  /** Of the caller's tenant. */
  readonly pool: Pool
  /** Of all: for the one order in which events stand. */
  readonly everyPool: Pool
  /** Undefined where nobody is told by webhooks. */
  readonly secrets: EventSecrets | undefined
  readonly isPrivateAllowed: (url: string) => boolean
  readonly subscriptionsMax: number
  /** Something is to be told now. */
  readonly wake: () => void
  readonly logger: Logger
}

interface Making {
  Body: {
    readonly name: string
    readonly url: string
    readonly mode?: EventMode
    readonly filters?: readonly object[]
    readonly secret?: string
  }
}

export function addSubscriptionRoutes(
  scope: FastifyInstance,
  options: SubscriptionRouteOptions,
): void {
  addMaking(scope, options)
  addControls(scope, options)
  addDeliveries(scope, options)
}

function addMaking(scope: FastifyInstance, options: SubscriptionRouteOptions): void {
  const { pool, logger } = options

  scope.post<Making>('/event-subscriptions', MAKE, async (request, reply) => {
    const made = await make(options, request)
    if (made.isRepeated) reply.header('idempotency-replayed', 'true')
    const shown = show(await subscriptionOf(pool, made.id))
    return reply
      .code(201)
      .header('location', shown.links.self)
      .send({ ...shown, secret: made.secret })
  })

  scope.get<PageQuery>('/event-subscriptions', LIST, async ({ query: { limit, cursor } }) => {
    const asked = { limit: rowsFor(limit), cursor: readCursor(cursor, {}) }
    const [rows, count] = await Promise.all([
      listSubscriptions(pool, asked),
      countSubscriptions(pool),
    ])
    const listed = rows.map((row) => ({ ...row, position: row.listPosition }))
    const { page, shown } = countedPageOf(listed, { limit, filter: {}, count })
    return { subscriptions: page.map((row) => show(row as SubscriptionView)), ...shown }
  })

  scope.get<ById>('/event-subscriptions/:id', GET, async ({ params }) =>
    show(await subscriptionOf(pool, params.id)),
  )

  scope.patch<ById & { Body: Partial<Making['Body']> }>(
    '/event-subscriptions/:id',
    CHANGE,
    async (request) => {
      const { id } = request.params
      const { url, filters, ...rest } = request.body
      await subscriptionOf(pool, id)
      if (url !== undefined) checkUrl(options, url)
      const isChanged = await changeSubscription(pool, id, {
        ...rest,
        url,
        filters: filters === undefined ? undefined : checkFilters(filters),
      })
      const changed = await subscriptionOf(pool, id)
      if (!isChanged) throw nameTaken(request.body.name ?? '')
      logger.info({
        event: 'event.subscription_changed',
        subscriptionId: id,
        operator: operatorOf(request),
      })
      return show(changed)
    },
  )

  scope.delete<ById>('/event-subscriptions/:id', DELETE, async (request) => {
    const { id } = request.params
    if (!(await deleteSubscription(pool, id))) throw UNKNOWN
    logger.info({
      event: 'event.subscription_deleted',
      subscriptionId: id,
      operator: operatorOf(request),
    })
    return { subscriptionId: id, deleted: true }
  })
}

async function make(options: SubscriptionRouteOptions, request: FastifyRequest<Making>) {
  const { pool, everyPool, subscriptionsMax, logger, wake } = options
  const secrets = offered(options)
  const { name, url, mode = 'structured', filters = [], ...given } = request.body
  const { secret = newWebhookSecret() } = given
  const { tenant, operator } = keyOf(request)
  checkUrl(options, url)
  checkSecret(secret)
  const key = requestKey(request)
  const id =
    key === undefined
      ? randomUUID()
      : uuidOfDigest(hash('sha256', JSON.stringify([tenant, key.apiKeyId, key.key])))
  const made = await makeSubscription(
    pool,
    {
      id,
      tenant,
      name,
      url,
      mode,
      filters: checkFilters(filters),
      secret: secrets.encrypt(secret, id),
      madeBy: operator,
      requestSha256: key?.requestSha256 ?? null,
      position: await eventHead(everyPool),
    },
    subscriptionsMax,
  )
  if (made === 'full') throw tooMany(subscriptionsMax)
  if (made === 'name-taken') throw nameTaken(name)
  if (made === 'other-request') throw KEY_REUSED
  if (made === 'made') {
    logger.info({ event: 'event.subscription_made', subscriptionId: id, tenant, operator })
    wake()
    return { id, secret, isRepeated: false }
  }
  const stored = await findSubscriptionSecret(pool, id)
  return { id, secret: stored === undefined ? null : secrets.decrypt(stored, id), isRepeated: true }
}

/** As the schema says. */
const OVERLAP_HOURS = 24

interface Rotating extends ById {
  Body: { readonly secret?: string; readonly overlapHours?: number }
}
interface Replaying extends ById {
  Body: { readonly since?: string; readonly after?: string }
}

function addControls(scope: FastifyInstance, options: SubscriptionRouteOptions): void {
  const { pool, everyPool, wake, logger } = options
  const about = (request: FastifyRequest<ById>) => ({
    subscriptionId: request.params.id,
    operator: operatorOf(request),
  })

  scope.post<Rotating>('/event-subscriptions/:id/rotate', ROTATE, async (request) => {
    const { id } = request.params
    const { overlapHours = OVERLAP_HOURS, secret = newWebhookSecret() } = request.body
    checkSecret(secret)
    const encrypted = offered(options).encrypt(secret, id)
    const rotated = await rotateSubscription(pool, {
      id,
      secret: encrypted,
      overlapS: overlapHours * 3_600,
    })
    if (rotated === undefined) throw UNKNOWN
    logger.info({ event: 'event.secret_rotated', ...about(request) })
    return { ...show(await subscriptionOf(pool, id)), secret }
  })

  scope.post<ById>('/event-subscriptions/:id/pause', PAUSE, async (request) => {
    if (await pauseSubscription(pool, request.params.id))
      logger.info({ event: 'event.subscription_paused', ...about(request) })
    return show(await subscriptionOf(pool, request.params.id))
  })

  scope.post<ById>('/event-subscriptions/:id/resume', RESUME, async (request) => {
    const { id } = request.params
    await subscriptionOf(pool, id)
    await resumeSubscription(pool, id)
    logger.info({ event: 'event.subscription_resumed', ...about(request) })
    wake()
    return show(await subscriptionOf(pool, id))
  })

  scope.post<ById>('/event-subscriptions/:id/test', TEST, async (request, reply) => {
    const { id: subscriptionId } = request.params
    await subscriptionOf(pool, subscriptionId)
    const { tenant } = keyOf(request)
    const event = testEvent({ id: randomUUID(), tenant, subscriptionId, at: new Date() })
    await addEvents(everyPool, [event])
    logger.info({ event: 'event.subscription_tested', ...about(request) })
    wake()
    return reply.code(202).send({ eventId: event.id })
  })

  scope.post<Replaying>('/event-subscriptions/:id/replay', REPLAY, async (request) => {
    const { id } = request.params
    const { since, after } = request.body
    await subscriptionOf(pool, id)
    const { tenant } = keyOf(request)
    const position =
      after === undefined
        ? await eventPositionAt(pool, { tenant, at: readTime(since ?? '') })
        : await findEventPosition(pool, { tenant, id: after })
    if (position === undefined) throw EVENT_FORGOTTEN
    await replaySubscription(pool, { id, position })
    logger.info({ event: 'event.subscription_replayed', ...about(request) })
    wake()
    return show(await subscriptionOf(pool, id))
  })
}

interface Listing extends ById {
  Querystring: PageQuery['Querystring'] & { readonly state?: DeliveryState }
}
interface Redriving extends ById {
  Body: { readonly eventIds?: readonly string[] }
}

const POSITION = /^\d{1,16}$/

function addDeliveries(scope: FastifyInstance, options: SubscriptionRouteOptions): void {
  const { pool, wake, logger } = options

  scope.get<Listing>('/event-subscriptions/:id/deliveries', DELIVERIES, async (request) => {
    const { id } = request.params
    const { limit, cursor, state } = request.query
    await subscriptionOf(pool, id)
    const filter = { id, state }
    const before = readCursor(cursor, filter, POSITION)
    const asked = { ...filter, before: before === undefined ? undefined : Number(before) }
    const [rows, count] = await Promise.all([
      listEventDeliveries(pool, { ...asked, limit: rowsFor(limit) }),
      countEventDeliveries(pool, filter),
    ])
    const listed = rows.map((row) => ({ ...row, position: String(row.position) }))
    const { page, shown } = countedPageOf(listed, { limit, filter, count })
    return { deliveries: page.map(showDelivery), ...shown }
  })

  scope.post<Redriving>('/event-subscriptions/:id/redrive', REDRIVE, async (request) => {
    const { id } = request.params
    await subscriptionOf(pool, id)
    const eventIds = request.body.eventIds ?? null
    const redriven = await redriveEventDeliveries(pool, { id, eventIds })
    logger.info({
      event: 'event.redriven',
      subscriptionId: id,
      operator: operatorOf(request),
      count: redriven,
    })
    wake()
    return { redriven }
  })
}

async function subscriptionOf(pool: Pool, id: string): Promise<SubscriptionView> {
  const found = await findSubscription(pool, id)
  if (found === undefined) throw UNKNOWN
  return found
}

function show(subscription: Omit<SubscriptionView, 'position'>) {
  const { listPosition: _, filters, dueAt, earlierUntil, dead, ...shown } = subscription
  const self = `/v2/event-subscriptions/${shown.subscriptionId}`
  return {
    ...shown,
    filters: JSON.parse(filters) as unknown,
    nextAt: shown.failures > 0 && shown.state === 'active' ? dueAt : null,
    earlierSecretUntil:
      earlierUntil !== null && earlierUntil.getTime() > Date.now() ? earlierUntil : null,
    deadLetters: dead,
    links: { self, deliveries: `${self}/deliveries` },
  }
}

const showDelivery = ({ dueAt, body, ...shown }: Omit<DeliveryView, 'position'>) => ({
  ...shown,
  nextAt: shown.state === 'waiting' ? dueAt : null,
  event: body === null ? null : (JSON.parse(body) as object),
})

/** Whether it could ever be called; where its name leads is checked at every connection. */
function checkUrl({ isPrivateAllowed }: SubscriptionRouteOptions, url: string): void {
  const allowPrivate = URL.canParse(url) && isPrivateAllowed(url)
  asProblem('/url', () => createEndpoint({ url, allowPrivate, answerBytesMax: 0 }).close())
}

const checkSecret = (secret: string): void =>
  asProblem('/secret', () => void createWebhookSigner(secret))

function asProblem(pointer: string, check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof BatonError)) throw error
    const { code, message: detail } = error
    throw new ProblemError({ status: 422, code, detail, pointer, fix: FIXES[pointer] })
  }
}

const FIXES: Readonly<Record<string, string>> = {
  '/url':
    'Give https://host/path; its operator names origins of the own network in BATON_EVENTS_PRIVATE_TARGETS.',
  '/secret': 'Give whsec_ and 24 to 64 random bytes in base64, or leave it out: one is made.',
}

function checkFilters(filters: readonly object[]): string {
  const read = readFilters(filters)
  if (read.ok) return JSON.stringify(read.filters)
  throw new ProblemError({
    status: 422,
    code: 'BATON_FILTER_INVALID',
    detail: `the filter cannot be used: ${read.problem}`,
    fix: 'Use exact, prefix, suffix, all, any and not, as in [{"prefix":{"type":"baton.alert."}}].',
    pointer: `/filters${read.pointer}`,
  })
}

function readTime(text: string): Date {
  const at = new Date(text)
  if (!Number.isNaN(at.getTime())) return at
  throw new ProblemError({
    status: 422,
    code: 'BATON_REQUEST_INVALID',
    detail: 'the time does not exist',
    fix: 'Give one such as 2026-11-23T01:02:03Z.',
    pointer: '/since',
  })
}

function offered({ secrets }: SubscriptionRouteOptions): EventSecrets {
  if (secrets === undefined) throw NOT_OFFERED
  return secrets
}

const problems = problemsIn({
  404: 'There is no such subscription',
  422: 'The body has another form',
  429: 'Too many requests; see Retry-After',
  503: 'The database does not answer, see Retry-After; or this gateway has no key for secrets of subscriptions',
})

const SCOPE = 'events:subscribe'

const MAKE = {
  ...only(SCOPE, {
    operationId: 'makeEventSubscription',
    summary: 'Have a webhook told of events from now on; its secret is shown this once',
    description:
      'Each event is a CloudEvent, signed by Standard Webhooks, told at least once and under one id: the webhook-id. One that is not taken with 2xx is tried for days, with growing waits, and then is a dead letter of the subscription. Of a consumer that is away events wait without being tried; 410 disables the subscription. A webhook is told before the answer to nothing: redirections are not followed, and what an answer says is not read.',
    headers: { type: 'object', properties: KEY_HEADER },
    body: ref('MakeSubscriptionRequest'),
    response: {
      201: answers('It is told from now on', 'SubscriptionWithSecret', {
        Location: { type: 'string', description: 'Path of the subscription.' },
      }),
      ...problems([422], {
        409: 'Another one has the name, the tenant has as many as it may, or the key was used with another body',
      }),
    },
  }),
  preValidation: requireKey,
}

const LIST = onlyList('events:read', {
  operationId: 'listEventSubscriptions',
  summary: 'Subscriptions, oldest first',
  querystring: listQuery({ cursor: FILTERED_CURSOR }),
  response: {
    200: answers('The subscriptions; [] where there is none', 'Subscriptions'),
    ...problems([]),
  },
})

const byId = (scope: 'events:read' | typeof SCOPE, schema: Parameters<typeof only>[1]) =>
  onlyById('subscription', scope, schema)

const answered = (words: string) => ({
  200: answers(words, 'Subscription'),
  ...problems([404, 422]),
})

const GET = byId('events:read', {
  operationId: 'getEventSubscription',
  summary: 'One subscription, and how its deliveries go',
  response: { 200: answers('The subscription', 'Subscription'), ...problems([404]) },
})

const CHANGE = byId(SCOPE, {
  operationId: 'changeEventSubscription',
  summary: 'Change where, how or of what is told; what waits already is told there too',
  body: ref('ChangeSubscriptionRequest'),
  response: {
    200: answers('As it is now', 'Subscription'),
    ...problems([404, 422], { 409: 'Another one has the name' }),
  },
})

const DELETE = byId(SCOPE, {
  operationId: 'deleteEventSubscription',
  summary: 'Tell it nothing more, and forget what waits',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: { 200: answers('It is gone', 'DeletedSubscription'), ...problems([404, 422]) },
})

const ROTATE = byId(SCOPE, {
  operationId: 'rotateEventSecret',
  summary: 'Sign with another secret; the one of before signs beside it for a while',
  'x-optional-body': true,
  body: ref('RotateSecretRequest'),
  response: {
    200: answers('With the new secret, shown this once', 'SubscriptionWithSecret'),
    ...problems([404, 422]),
  },
})

const PAUSE = byId(SCOPE, {
  operationId: 'pauseEventSubscription',
  summary: 'Send nothing until it is resumed; what happens meanwhile waits',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: answered('As it is now'),
})

const RESUME = byId(SCOPE, {
  operationId: 'resumeEventSubscription',
  summary: 'Send what waits, at once; also where it was disabled or its consumer seemed away',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: answered('As it is now'),
})

const TEST = byId(SCOPE, {
  operationId: 'testEventSubscription',
  summary: 'Have it told an event of type baton.subscription.test',
  'x-optional-body': true,
  body: ref('EmptyRequest'),
  response: {
    202: answers('It is told behind what is told already', 'SubscriptionTest'),
    ...problems([404, 422]),
  },
})

const REPLAY = byId(SCOPE, {
  operationId: 'replayEvents',
  summary: 'Tell events again, under the same ids, from a time or from behind an event',
  body: ref('ReplayRequest'),
  response: {
    200: answers('They are told again, and then what is new', 'Subscription'),
    ...problems([404, 422], { 410: 'The event is not kept any more, or never was' }),
  },
})

const DELIVERIES = {
  ...onlyList('events:read', {
    operationId: 'listEventDeliveries',
    summary:
      'Events that were not taken at the first try, the newest first; state=dead lists dead letters',
    params: {
      type: 'object',
      properties: { id: { type: 'string', format: 'uuid' } },
      required: ['id'],
    },
    querystring: listQuery({
      state: { enum: ['waiting', 'delivered', 'dead'] },
      cursor: FILTERED_CURSOR,
    }),
    response: {
      200: answers('Deliveries; [] where there is none', 'EventDeliveries'),
      ...problems([404]),
    },
  }),
}

const REDRIVE = byId(SCOPE, {
  operationId: 'redriveEvents',
  summary: 'Try dead letters again: these, or all',
  'x-optional-body': true,
  body: ref('RedriveEventsRequest'),
  response: { 200: answers('How many are tried again', 'RedrivenEvents'), ...problems([404, 422]) },
})

const UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_SUBSCRIPTION_UNKNOWN',
  detail: 'there is no subscription with this id',
  fix: 'GET /v2/event-subscriptions lists those of your tenant.',
})

const KEY_REUSED = new ProblemError({
  status: 409,
  code: 'BATON_IDEMPOTENCY_KEY_REUSED',
  detail: 'this Idempotency-Key made a subscription with another body',
  fix: 'Send another key for another subscription.',
})

const NOT_OFFERED = new ProblemError({
  status: 503,
  code: 'BATON_SUBSCRIPTIONS_NOT_OFFERED',
  detail: 'this gateway has no key to keep secrets of subscriptions with',
  fix: 'Set BATON_EVENT_SECRETS_KEY for the gateway, the same for all of them.',
})

export const EVENT_FORGOTTEN = new ProblemError({
  status: 410,
  code: 'BATON_EVENT_FORGOTTEN',
  detail: 'no event with this id is kept',
  fix: 'Begin from a time with `since`; events are kept for as long as BATON_EVENTS_KEPT_DAYS says.',
})

const nameTaken = (name: string) =>
  new ProblemError({
    status: 409,
    code: 'BATON_SUBSCRIPTION_NAME_TAKEN',
    detail: `another subscription is called ${name}`,
    fix: 'Give another name, or change the one that there is.',
    pointer: '/name',
  })

const tooMany = (max: number) =>
  new ProblemError({
    status: 409,
    code: 'BATON_SUBSCRIPTIONS_FULL',
    detail: `the tenant has ${max} subscriptions, and may have no more`,
    fix: 'Delete one, or have several consumers behind one.',
  })
