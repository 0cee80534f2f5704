// What a route says of itself: who may call it, what it takes, what it answers. Fastify checks by it, and OpenAPI is made of it.
import type { FastifyRequest, FastifySchema } from 'fastify'
import { PROBLEM_TYPE, ProblemError } from '@baton/http/server'
import { UUID_PATTERN } from '@baton/protocol'
import type { Scope } from './api-keys.ts'
import { LIMIT_MAX, refusedRequest } from './refused-request.ts'
import { requireScope } from './request-context.ts'

/** A named schema: one of `addSchema`. */
export const ref = (name: string) => ({ $ref: `${name}#` })

const HAS_MESSAGE = { type: 'object', required: ['message'] }

/** A body with a message has one form and every other body another one, so that what is wrong is told of the one that is meant. */
export const messageOr = (message: string, other: string) => ({
  allOf: [
    { if: HAS_MESSAGE, else: ref(other) },
    { if: { not: HAS_MESSAGE }, else: ref(message) },
  ],
})

interface Operation extends FastifySchema {
  readonly operationId: string
  readonly summary: string
  /** A request without a body is one with `{}`, and the description says so. */
  readonly 'x-optional-body'?: true
}

/** A route that anybody may call. */
export const open = (schema: Operation) => ({ schema: { ...schema, security: [] } })

/** A route for keys with one scope, which is checked before the body is read. No body at all is `{}`. */
export const only = (scope: Scope, schema: Operation) => ({
  preParsing: requireScope(scope),
  schema: { ...schema, security: [{ apiKey: [scope] }] },
  ...(schema.body === undefined ? {} : { preValidation: emptyBody }),
})

/** The same for a route with `/:id` of something, which its refusal names. */
export const onlyById = (what: string, scope: Scope, schema: Operation) => ({
  ...only(scope, { ...schema, params: BY_ID }),
  schemaErrorFormatter: refusedRequest(what),
})

async function emptyBody(request: FastifyRequest): Promise<void> {
  if (request.body === undefined) request.body = {}
}

/** The body of a request that needs one. Throws the problem of a request that came without. */
export async function requireBody({ body }: FastifyRequest): Promise<void> {
  if (body === undefined) throw NO_BODY
}

const NO_BODY = new ProblemError({
  status: 400,
  code: 'BATON_JSON_INVALID',
  detail: 'the request has no body',
  fix: 'Send one JSON value with content-type: application/json.',
})

export interface ById {
  Params: { id: string }
}

export const BY_ID = {
  type: 'object',
  properties: { id: { type: 'string', format: 'uuid', pattern: UUID_PATTERN } },
  required: ['id'],
}

export const TRACE_HEADERS = {
  traceparent: {
    type: 'string',
    description: 'W3C trace context; an invalid one starts a new trace.',
  },
  tracestate: { type: 'string' },
}

/** The headers of routes that go on in the caller's trace. */
export const TRACED = { headers: { type: 'object', properties: TRACE_HEADERS } }

const LIMIT_DEFAULT = 50

export interface PageQuery {
  Querystring: { limit: number; cursor?: string }
}

/** How many rows a list has at most, and what else its query may say. */
export const listQuery = (others: object = {}) => ({
  type: 'object',
  properties: {
    ...others,
    limit: { type: 'integer', minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT },
  },
})

/** Before the check: a limit in digits is a number, none is the default. */
async function readLimit(request: FastifyRequest): Promise<void> {
  const query = request.query as { limit?: unknown }
  const { limit = String(LIMIT_DEFAULT) } = query
  query.limit = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : limit
}

/** A route that lists: as `only`, with a limit. */
export const onlyList = (scope: Scope, schema: Operation) => ({
  ...only(scope, { querystring: listQuery(), ...schema }),
  preValidation: readLimit,
})

/** A JSON answer: its schema, or the name of one. */
export const answers = (description: string, schema: object | string, headers?: object) => ({
  description,
  content: {
    'application/json': { schema: typeof schema === 'string' ? ref(schema) : schema },
  },
  ...(headers === undefined ? {} : { headers }),
})

export const LOCATION = { Location: { type: 'string', description: 'Path of the handoff.' } }

/** Problems that a route answers with, in the words of its family unless the route has its own. */
export function problemsIn(family: Readonly<Record<number, string>>) {
  const usual: Readonly<Record<number, string>> = { ...USUAL_PROBLEMS, ...family }
  return (own: readonly number[], words: Readonly<Record<number, string>> = {}) => {
    const named: Readonly<Record<number, string>> = { ...usual, ...words }
    const statuses = [400, 401, 403, ...own, ...Object.keys(words).map(Number), 429, 503]
    return Object.fromEntries(statuses.map((status) => [status, problem(named[status] ?? '')]))
  }
}

export const problem = (description: string) => ({
  description,
  content: { [PROBLEM_TYPE]: { schema: ref('Problem') } },
})

/** What each status says where a route has no words of its own. */
export const USUAL_PROBLEMS = {
  400: 'The request cannot be read',
  401: 'No valid API key',
  403: 'The key lacks the scope',
  404: 'There is no such thing',
  413: 'The body is too large',
  415: 'The content type is not application/json, or the body is compressed',
  422: 'The handoff is not valid',
  429: 'Too many requests, or too much waits for delivery; see Retry-After',
  500: 'The gateway failed',
  503: 'Overloaded, or a database does not answer; see Retry-After',
}

/** The usual problems. */
export const problems = problemsIn({})
