// /v2/handoffs/{id}/chunks: agents outside add to the stream of what they execute, and readers follow it.
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { emitRemote, readChunk } from '@baton/engine'
import type { Chunk, LargeWork } from '@baton/engine'
import type { Scanner } from '@baton/safety'
import { listChunks, listStreams } from '@baton/store'
import type { Pool, StreamView } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { keyOf } from '../acting.ts'
import { offered } from '../executions/remote-work.ts'
import type { RemoteWork } from '../executions/remote-work.ts'
import { notFound } from '../not-found.ts'
import { answers, onlyById, problems, ref, requireBody, TRACED } from '../operation.ts'
import type { ById } from '../operation.ts'
import { eventsOf, showStream } from './events.ts'
import type { StreamReaders } from './readers.ts'

interface StreamRouteOptions {
  /** Of all tenants: for whoever holds the execution, and to go on with a stream that the caller was shown. */
  readonly pool: Pool
  /** Of the caller's. */
  readonly tenantPool: Pool
  readonly readers: StreamReaders
  /** Undefined where this gateway gives nothing away. */
  readonly remote: RemoteWork | undefined
  readonly largeWork: LargeWork
  readonly scanner: Scanner
  readonly metrics: Pick<Metrics, 'chunksTotal'>
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export function addStreamRoutes(scope: FastifyInstance, options: StreamRouteOptions): void {
  const { tenantPool, bounded } = options
  scope.get<Reading>('/handoffs/:id/chunks', READ_CHUNKS, async (request, reply) => {
    const [view] = await listStreams(tenantPool, [request.params.id])
    if (view === undefined) throw notFound('handoff')
    return EVENT_STREAM.test(request.headers.accept ?? '')
      ? follow(request, reply, options)
      : readPage(request, tenantPool, view)
  })
  scope.post<Emitting>('/handoffs/:id/chunks', EMIT_CHUNKS, (request) =>
    bounded(() => emit(request, options)),
  )
}

const EVENT_STREAM = /\btext\/event-stream\b/i

interface Reading extends ById {
  Querystring: { after: number; limit: number }
  Headers: { 'last-event-id'?: string }
}

const LIMIT_DEFAULT = 100
const DIGITS = /^\d{1,5}$/

/** Before the check: numbers in digits are numbers, and a reader that comes back says what it had last. */
async function readNumbers({ query, headers }: FastifyRequest): Promise<void> {
  const asked = query as { after?: unknown; limit?: unknown }
  const { after = '0', limit = String(LIMIT_DEFAULT) } = asked
  asked.after = numberOf(headers['last-event-id'] ?? after)
  asked.limit = numberOf(limit)
}

const numberOf = (value: unknown): unknown =>
  typeof value === 'string' && DIGITS.test(value) ? Number(value) : value

const READ_CHUNKS = {
  ...onlyById('handoff', 'handoffs:read', {
    operationId: 'readChunks',
    summary: 'What an execution yields while it runs: a page of it, or all of it as it comes',
    description:
      'With `Accept: text/event-stream` every chunk comes as an event `chunk` once it is durable, with its number as id, and an event `end` says how the stream ended. Whoever comes back with Last-Event-ID, or `after`, gets what follows: no chunk is lost, doubled or out of order, whatever became of the execution or of this gateway in between. A connection ends after 15 minutes; come back then. Without it: one page.',
    querystring: {
      type: 'object',
      properties: {
        after: {
          type: 'integer',
          minimum: 0,
          maximum: 10_000,
          default: 0,
          description: 'The number of the last chunk that is known.',
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 1_000,
          default: LIMIT_DEFAULT,
          description: 'Of a page; it also ends after about 1 MiB.',
        },
      },
    },
    ...TRACED,
    response: {
      200: {
        description: 'A page of chunks and how the stream stands, or its events.',
        content: {
          'application/json': { schema: ref('StreamPage') },
          'text/event-stream': { schema: { type: 'string' } },
        },
      },
      ...problems([404]),
    },
  }),
  preValidation: readNumbers,
}

async function readPage(
  { params: { id }, query }: FastifyRequest<Reading>,
  pool: Pool,
  view: StreamView,
) {
  const chunks = await listChunks(pool, id, query)
  return { ...showStream(view), chunks: chunks.map(readChunk) }
}

/** Whoever reads for so long connects again: keys may have expired. */
const READ_MS = 900_000
/** How long a reader that must end may take to take what it was given. */
const LEAVE_MS = 1_000

async function follow(
  request: FastifyRequest<Reading>,
  reply: FastifyReply,
  { pool, readers }: StreamRouteOptions,
): Promise<FastifyReply> {
  const reader = readers.enter(keyOf(request).id)
  const gone = new AbortController()
  const signal = AbortSignal.any([gone.signal, reader.stopping, AbortSignal.timeout(READ_MS)])
  const { id: handoffId } = request.params
  const { after } = request.query
  const events = Readable.from(eventsOf({ pool, reader, handoffId, after, signal }))
  signal.addEventListener('abort', () => void setTimeout(() => events.destroy(), LEAVE_MS).unref())
  reply.raw.once('close', () => gone.abort())
  events.once('close', reader.leave)
  // A connection that is kept behind the last event would hold up a gateway that stops.
  return reply
    .header('connection', 'close')
    .header('content-type', 'text/event-stream; charset=utf-8')
    .send(events)
}

interface Emitting extends ById {
  Body: {
    readonly fencingToken: number
    readonly seq: number
    readonly chunks: readonly Chunk[]
  }
}

const EMIT_CHUNKS = {
  ...onlyById('handoff', 'executions:claim', {
    operationId: 'emitChunks',
    summary:
      'Add chunks to the stream of an execution that is yours; answered once they are durable',
    description:
      'Numbers go on over all attempts. Safe to repeat: the same chunk under a committed number is recognised; another one is refused, and so is one that the scanner judges unsafe: both end the execution. Say in the settlement how many chunks the stream has: it commits only with exactly these.',
    ...TRACED,
    body: ref('EmitRequest'),
    response: {
      200: answers('They are durable', 'Emitted'),
      ...problems([413, 415, 422], {
        409: 'It is not yours any more, or they do not follow what is committed',
      }),
    },
  }),
  preValidation: requireBody,
}

async function emit(
  request: FastifyRequest<Emitting>,
  { pool, remote, largeWork, scanner, metrics }: StreamRouteOptions,
): Promise<object> {
  const { settle } = offered(remote)
  const { fencingToken, seq, chunks } = request.body
  const fence = { handoffId: request.params.id, fencingToken }
  const parts = { pool, settle, largeWork, scanner, metrics }
  await emitRemote(parts, keyOf(request), { ...fence, seq, chunks })
  return { handoffId: fence.handoffId, seq: seq + chunks.length - 1 }
}
