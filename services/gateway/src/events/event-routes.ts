// GET /v2/events: a tenant's events as server-sent events, each once and in order from where the reader left off, or a page of them.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { passes, readFilters } from '@baton/engine'
import type { EventAttributes, EventFilter } from '@baton/engine'
import { ProblemError } from '@baton/http/server'
import { UUID } from '@baton/ledger'
import { eventHead, eventPositionAt, findEventPosition, listEvents, wantEvents } from '@baton/store'
import type { Pool, StoredEvent } from '@baton/store'
import { keyOf } from '../acting.ts'
import { listQuery, onlyList, problemsIn, ref } from '../operation.ts'
import type { EventReader, EventReaders } from './event-readers.ts'
import { EVENT_FORGOTTEN } from './subscription-routes.ts'

export interface EventRouteOptions {
  /** Of the caller's tenant. */
  readonly pool: Pool
  /** Of all: for the one order in which events stand, and for readers that go on reading as their tenant. */
  readonly everyPool: Pool
  readonly readers: EventReaders
}

interface Reading {
  Querystring: {
    readonly limit: number
    readonly after?: string
    readonly since?: string
    readonly type?: string
    readonly taskId?: string
    readonly fromAgent?: string
    readonly toAgent?: string
    readonly reason?: string
    readonly filters?: string
  }
  Headers: { 'last-event-id'?: string }
}

const EVENT_STREAM = /\btext\/event-stream\b/i

export function addEventRoutes(scope: FastifyInstance, options: EventRouteOptions): void {
  scope.get<Reading>('/events', READ_EVENTS, async (request, reply) => {
    const filters = filtersOf(request.query)
    const { tenant } = keyOf(request)
    await wantEvents(options.pool, tenant)
    const isStream = EVENT_STREAM.test(request.headers.accept ?? '')
    const after = await positionOf(options, request, isStream)
    return isStream
      ? follow(request, reply, { ...options, tenant, filters, after })
      : readPage(options.pool, { tenant, filters, after, limit: request.query.limit })
  })
}

/** Behind the event that the reader has, or a time; else a stream begins now, and pages with the oldest that is kept. */
async function positionOf(
  { pool, everyPool }: EventRouteOptions,
  { query, headers, ...request }: FastifyRequest<Reading>,
  isStream: boolean,
): Promise<number> {
  const { tenant } = keyOf(request as FastifyRequest)
  const id = headers['last-event-id'] ?? query.after
  if (id !== undefined) {
    const position = UUID.test(id) ? await findEventPosition(pool, { tenant, id }) : undefined
    if (position === undefined) throw EVENT_FORGOTTEN
    return position
  }
  if (query.since !== undefined) return eventPositionAt(pool, { tenant, at: readTime(query.since) })
  return isStream ? eventHead(everyPool) : 0
}

function readTime(text: string): Date {
  const at = new Date(text)
  if (/^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(text) && !Number.isNaN(at.getTime())) return at
  throw new ProblemError({
    status: 400,
    code: 'BATON_PARAMETER_INVALID',
    detail: 'the query parameter since is no time',
    fix: 'Use one such as 2026-11-23T01:02:03Z.',
    parameter: 'since',
  })
}

const FILTERS_MAX = 4_096

function filtersOf(query: Reading['Querystring']): readonly EventFilter[] {
  const { type, taskId, fromAgent, toAgent, reason } = query
  const exact = { subject: taskId, fromagent: fromAgent, toagent: toAgent, reason }
  const named = Object.entries(exact).flatMap(([name, value]) =>
    value === undefined ? [] : [{ exact: { [name]: value } }],
  )
  const types = type === undefined ? [] : [{ any: type.split(',').map(typeFilter) }]
  return [...named, ...types, ...writtenFilters(query.filters)]
}

const typeFilter = (type: string): EventFilter =>
  type.endsWith('*') ? { prefix: { type: type.slice(0, -1) } } : { exact: { type } }

function writtenFilters(text: string | undefined): readonly EventFilter[] {
  if (text === undefined) return []
  const read = readFilters(parsed(text))
  if (read.ok) return read.filters
  throw filterInvalid(`the filter cannot be used at ${read.pointer || '/'}: ${read.problem}`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw filterInvalid('the filter is no JSON')
  }
}

const filterInvalid = (detail: string) =>
  new ProblemError({
    status: 400,
    code: 'BATON_FILTER_INVALID',
    detail,
    fix: 'Use exact, prefix, suffix, all, any and not, as in [{"prefix":{"type":"baton.alert."}}].',
    parameter: 'filters',
  })

interface Read {
  readonly tenant: string
  readonly filters: readonly EventFilter[]
  readonly after: number
}

const isWanted = (filters: readonly EventFilter[], { body }: StoredEvent): boolean =>
  filters.length === 0 || passes(filters, JSON.parse(body) as EventAttributes)

/** Looks at so many events, whichever of them are asked for. */
const LOOKED_MAX = 1_000

async function readPage(
  pool: Pool,
  { tenant, filters, after, limit }: Read & { readonly limit: number },
): Promise<object> {
  const looked = await listEvents(pool, { tenant, after, limit: LOOKED_MAX + 1 })
  const events: StoredEvent[] = []
  let last: StoredEvent | undefined
  for (const one of looked.slice(0, LOOKED_MAX)) {
    if (events.length === limit) break
    last = one
    if (isWanted(filters, one)) events.push(one)
  }
  return {
    events: events.map(({ body }) => JSON.parse(body) as object),
    nextAfter: last?.id ?? null,
    isMore: last !== undefined && last !== looked.at(-1),
  }
}

/** Whoever reads for so long connects again: keys may have expired. */
const READ_MS = 900_000
/** How long a reader that must end may take to take what it was given. */
const LEAVE_MS = 1_000
const RECONNECT_MS = 1_000
/** Each reader holds a page or two while it is slow. */
const PAGE_EVENTS_MAX = 50

async function follow(
  request: FastifyRequest<Reading>,
  reply: FastifyReply,
  { everyPool, readers, ...read }: EventRouteOptions & Read,
): Promise<FastifyReply> {
  const reader = readers.enter(keyOf(request as FastifyRequest).id)
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, reader.stopping, AbortSignal.timeout(READ_MS)])
  const events = Readable.from(eventsOf({ ...read, pool: everyPool, reader, signal }))
  signal.addEventListener('abort', () => void setTimeout(() => events.destroy(), LEAVE_MS).unref())
  reply.raw.once('close', () => gone.abort())
  events.once('close', reader.leave)
  // A connection that is kept behind the last event would hold up a gateway that stops.
  return reply
    .header('connection', 'close')
    .header('content-type', 'text/event-stream; charset=utf-8')
    .send(events)
}

interface Followed extends Read {
  readonly pool: Pool
  readonly reader: EventReader
  readonly signal: AbortSignal
}

/** Reads on only as quickly as its events are taken: nothing waits in memory but one page. */
async function* eventsOf({ pool, reader, signal, tenant, filters, after: start }: Followed) {
  let after = start
  yield `retry: ${RECONNECT_MS}\n\n`
  while (!signal.aborted) {
    const head = await reader.moved(after, signal)
    if (head === undefined) {
      yield ': still here\n\n'
      continue
    }
    while (!signal.aborted) {
      const page = await listEvents(pool, { tenant, after, limit: PAGE_EVENTS_MAX })
      const wanted = page.filter((one) => isWanted(filters, one))
      if (wanted.length > 0) yield wanted.map(sentEvent).join('')
      if (page.length < PAGE_EVENTS_MAX) {
        // Nothing of this tenant stands between the last of the page and the head that was seen before it was read.
        after = Math.max(head, page.at(-1)?.position ?? after)
        break
      }
      after = page.at(-1)?.position ?? after
    }
  }
}

const sentEvent = ({ id, body }: StoredEvent): string => `id: ${id}\ndata: ${body}\n\n`

const problems = problemsIn({
  400: 'The query or Last-Event-ID cannot be read',
  410: 'The event to go on after is not kept any more, or never was',
  429: 'Too many requests, or this key has as many readers as it may; see Retry-After',
  503: 'The database does not answer, or there are as many readers as there may be; see Retry-After',
})

const name = { type: 'string', minLength: 1, maxLength: 256 }
const described = (schema: object, description: string) => ({ ...schema, description })

const READ_EVENTS = onlyList('events:read', {
  operationId: 'readEvents',
  summary: 'Events of the tenant: as they come, or a page of those that are kept',
  description:
    'With `Accept: text/event-stream` every event comes as the data of a server-sent event, with its id, as soon as it is made. Whoever comes back with Last-Event-ID, or `after`, gets what follows, to whichever gateway: no event is lost or doubled. Without either a stream begins now; a connection ends after 15 minutes, come back then. Without that header: a page of what is kept, oldest first. The events of a tenant are kept from its first subscription or request here on.',
  querystring: listQuery({
    after: described({ type: 'string', maxLength: 64 }, 'The id of the last event that is known.'),
    since: described(
      { type: 'string', maxLength: 40 },
      'Those that were made events then and later.',
    ),
    type: described(
      { type: 'string', minLength: 1, maxLength: 1_024 },
      'Types with commas between them; one that ends in * is a prefix.',
    ),
    taskId: described(name, 'Those with this subject.'),
    fromAgent: name,
    toAgent: name,
    reason: name,
    filters: described(
      { type: 'string', maxLength: FILTERS_MAX },
      'A filter as subscriptions have them, as JSON.',
    ),
  }),
  headers: {
    type: 'object',
    properties: {
      'last-event-id': described(
        { type: 'string' },
        'The id of the last event that the reader has.',
      ),
    },
  },
  response: {
    200: {
      description: 'A page of events, or the events as they come.',
      content: {
        'application/json': { schema: ref('EventPage') },
        'text/event-stream': { schema: { type: 'string' } },
      },
    },
    ...problems([410]),
  },
})
