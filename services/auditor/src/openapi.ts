// OpenAPI 3.1 of this interface, made of what the routes say of themselves.
import { PROBLEM_TYPE } from '@baton/http/server'
import { OPERATIONS } from './operations.ts'
import type { Operation } from './operations.ts'

const text = { type: 'string' }

/** As `problemBody` writes it. */
const PROBLEM = {
  type: 'object',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: text,
    title: text,
    status: { type: 'integer' },
    detail: text,
    code: { type: 'string', description: 'Stable: BATON_WHAT_IS_WRONG.' },
    fix: { type: 'string', description: 'What to do about it.' },
    pointer: { type: 'string', description: 'Where in the body, as a JSON pointer.' },
    parameter: { type: 'string', description: 'The parameter of path or query that is meant.' },
    errors: { type: 'array', items: { type: 'object' } },
  },
}

const problem = (description: string) => ({
  description,
  content: { [PROBLEM_TYPE]: { schema: { $ref: '#/components/schemas/Problem' } } },
})

/** No route takes a query parameter that it does not name, and a path that cannot be read names nothing. */
const REFUSED = { 400: problem('The path cannot be read, or takes no such query parameter') }
/** A body is measured and read before any route sees it. */
const BODY_REFUSED = {
  400: problem('The body is not JSON, or the path takes no query parameter'),
  413: problem('The body is too large'),
  415: problem('The body is compressed'),
}

const OF_TOKENS = {
  401: problem('No bearer token'),
  403: problem('The token does not allow this'),
}
/** Settings leave these out: a route for nothing but one of them is not there then. */
const OPTIONAL: ReadonlySet<string> = new Set(['evidence', 'hold', 'erase'])
const SWITCHED_OFF = { 404: problem('This auditor has no token for it, and no such route') }
const BUSY = { 503: problem('Overloaded, or a database does not answer; see Retry-After') }

function parametersOf({ params, query }: Operation): readonly object[] {
  const path = Object.entries(params?.properties ?? {})
  const others = Object.entries(query?.properties ?? {})
  return [
    ...path.map(([name, schema]) => ({ name, in: 'path', required: true, schema })),
    ...others.map(([name, schema]) => ({ name, in: 'query', schema })),
  ]
}

/** What an operation is about, by the first part of its path that says so. */
function tagOf({ path }: Operation): string {
  const [first = '', second = ''] = path.split('/').filter((part) => part !== '')
  if (first === 'v1') return `/v1/${second}`
  return ['checkpoint', 'tile', 'chains', 'tasks'].includes(first)
    ? 'The log as tiles'
    : 'About the auditor'
}

function describeOperation(one: Operation): object {
  const { id, summary, description, tokens, body, answer, problems } = one
  const { type = 'application/json', schema = text } = answer
  const own = Object.entries(problems).map(([status, words]) => [status, problem(words)] as const)
  const parameters = parametersOf(one)
  return {
    operationId: id,
    tags: [tagOf(one)],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: body } } } }),
    security: tokens.map((token) => ({ token: [token] })),
    responses: {
      200: { description: answer.description, content: { [type]: { schema } } },
      ...(one.method === 'get' ? REFUSED : BODY_REFUSED),
      ...(tokens.length === 0 ? {} : OF_TOKENS),
      ...(tokens.length > 0 && tokens.every((one) => OPTIONAL.has(one)) ? SWITCHED_OFF : {}),
      ...BUSY,
      ...Object.fromEntries(own),
    },
  }
}

const pathsOf = (operations: readonly Operation[]) =>
  Object.fromEntries(
    [...Map.groupBy(operations, ({ path }) => path)].map(([path, all]) => [
      path,
      Object.fromEntries(all.map((one) => [one.method, describeOperation(one)])),
    ]),
  )

/** The document. Routes for which no token is set are in it too, and answer 404 there. */
export const OPENAPI = {
  openapi: '3.1.0',
  info: {
    title: 'Baton auditor',
    version: '1.0.0',
    description:
      'The tamper-evident log: append, trace, verify, search, hold, export, erase. Every error is an RFC 9457 problem with a stable code, a pointer and a fix.',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: 'http://127.0.0.1:8421' }],
  tags: [...new Set(OPERATIONS.map(tagOf))].map((name) => ({ name })),
  components: {
    securitySchemes: {
      token: {
        type: 'http',
        scheme: 'bearer',
        description:
          'A token of the auditor’s settings, one for each right, or an access token (JWT) of an issuer that the operator named.',
      },
    },
    schemas: { Problem: PROBLEM },
  },
  paths: pathsOf(OPERATIONS),
}
