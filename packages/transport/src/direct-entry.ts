// Where a receiver takes handoffs by direct calls: what the queue would have told it, told over HTTP by somebody who waits for the
// outcome. Like the queue it carries ids only and may lose everything; who claims first has the handoff.
import {
  createHttpServer,
  listenOn,
  ProblemError,
  readBodies,
  requireToken,
} from '@baton/http/server'
import type { HttpServer, ServerTls } from '@baton/http/server'
import { UUID_PATTERN } from '@baton/protocol'
import { BatonError, codeOf, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { DIRECT_PATH, WAIT_MAX_MS } from './direct-call.ts'
import type { DirectAnswer, DirectCall, DirectClaim } from './direct-call.ts'
import { createRunningHandlers } from './running-handlers.ts'
import type { RunningHandlers } from './running-handlers.ts'
import type { Consumer } from './transport.ts'

export interface DirectEntryOptions {
  readonly host: string
  /** 0 takes any free one. */
  readonly port: number
  /** Who calls sends it as a bearer token. */
  readonly token: string
  /** Plain HTTP without it. */
  readonly tls?: ServerTls | undefined
  readonly agentTypes: readonly string[]
  /** Calls under way at once; more are refused with 503. */
  readonly concurrency: number
  /** Resolves once nothing is left to do here, with whether it was claimed here. */
  readonly handle: (claim: DirectClaim, agentType: string) => Promise<boolean>
  readonly logger: Logger
}

export interface DirectEntry extends Consumer {
  /** Where it listens. */
  readonly url: string
}

const REQUEST_MS = 5_000
const BODY_BYTES_MAX = 4_096
const CONNECTIONS = { max: 512, perAddressMax: 512 }

const CALL = {
  type: 'object',
  properties: {
    agentType: { type: 'string', minLength: 1, maxLength: 256 },
    handoffId: { type: 'string', pattern: UUID_PATTERN },
    publishAttempt: { type: 'integer', minimum: 1, maximum: 2_147_483_647 },
    waitMs: { type: 'integer', minimum: 0, maximum: WAIT_MAX_MS },
  },
  required: ['agentType', 'handoffId', 'publishAttempt', 'waitMs'],
  additionalProperties: false,
}

/** Listens once it resolves. A caller that goes away changes nothing: what was claimed is executed and settled. */
export async function openDirectEntry(options: DirectEntryOptions): Promise<DirectEntry> {
  const running = createRunningHandlers()
  const types = new Set(options.agentTypes)
  let paused = false
  const server = createEntryServer(options.tls)
  const authorise = requireToken(options.token, 'receiver')
  server.post<{ Body: DirectCall }>(
    DIRECT_PATH,
    {
      onRequest: async ({ headers }) => authorise(headers.authorization),
      schema: { body: CALL },
    },
    async ({ body }): Promise<DirectAnswer> => {
      if (!types.has(body.agentType)) throw NOT_HOSTED
      if (paused || running.count >= options.concurrency) throw BUSY
      return answerWithin(body.waitMs, handled(options, running, body))
    },
  )
  const url = await listen(server, options)
  options.logger.info({ event: 'receiver.listening', url })
  return {
    url,
    async pause() {
      paused = true
    },
    async resume() {
      paused = false
    },
    async stop() {
      paused = true
      await running.idle()
      await server.close()
    },
  }
}

/** Resolves with whether it was claimed; what fails here is left to whoever drives it again. */
async function handled(
  { handle, logger }: DirectEntryOptions,
  running: RunningHandlers,
  { agentType, handoffId, publishAttempt }: DirectCall,
): Promise<boolean> {
  let isTaken = false
  await running.track(async () => {
    try {
      isTaken = await handle({ handoffId, publishAttempt }, agentType)
    } catch (error) {
      logger.error({ event: 'call.failed', handoffId, code: codeOf(error) })
    }
  })
  return isTaken
}

// What takes longer has been claimed: a claim that is refused is refused at once.
function answerWithin(waitMs: number, handling: Promise<boolean>): Promise<DirectAnswer> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ taken: true, ended: false }), waitMs)
    void handling.then((taken) => {
      clearTimeout(timer)
      resolve({ taken, ended: true })
    })
  })
}

function createEntryServer(tls: ServerTls | undefined): HttpServer['server'] {
  const { server, authenticated } = createHttpServer({
    bodyBytesMax: BODY_BYTES_MAX,
    requestMs: REQUEST_MS,
    connections: CONNECTIONS,
    tls,
    allErrors: false,
    problemOf,
    routeUnknown: ROUTE_UNKNOWN,
  })
  server.addHook('preHandler', async (_, reply) => authenticated(reply.raw))
  readBodies(server, 'application/json', (bytes) => JSON.parse(bytes.toString()) as unknown)
  return server
}

async function listen(
  server: HttpServer['server'],
  { host, port }: DirectEntryOptions,
): Promise<string> {
  try {
    return await listenOn(server, { host, port })
  } catch (cause) {
    throw transient('BATON_RECEIVER_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
      cause,
      fix: 'Stop the process that has the port, or set BATON_RECEIVER_PORT.',
    })
  }
}

const problemOf = (error: unknown): ProblemError =>
  error instanceof ProblemError
    ? error
    : new ProblemError({
        status: error instanceof BatonError ? 503 : 400,
        code: 'BATON_CALL_INVALID',
        detail: 'this is not a call that a receiver takes',
        fix: 'Send JSON with agentType, handoffId, publishAttempt and waitMs.',
      })

const NOT_HOSTED = new ProblemError({
  status: 404,
  code: 'BATON_AGENT_UNKNOWN',
  detail: 'this receiver does not host that agent type',
  fix: 'Name the receiver that hosts it in BATON_SYNC_RECEIVERS.',
  pointer: '/agentType',
})

const BUSY = new ProblemError({
  status: 503,
  code: 'BATON_OVERLOADED',
  detail: 'this receiver takes no further calls at this moment',
  fix: 'Leave it to the queue, or call again after the time in Retry-After.',
  headers: { 'retry-after': '1' },
})

const ROUTE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_ROUTE_UNKNOWN',
  detail: 'there is nothing at this path',
  fix: `Post to ${DIRECT_PATH}.`,
})
