// OpenAPI 3.1 of this interface, made of what the routes say of themselves.
import swagger from '@fastify/swagger'
import type { FastifyInstance, FastifySchema } from 'fastify'
import { problem, USUAL_PROBLEMS } from './operation.ts'

/** Collects every route that is added from now on; `server.swagger()` is the document once the server is ready. */
export function describeRoutes(server: FastifyInstance): void {
  void server.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Baton gateway',
        version: '2.0.0',
        description:
          'Hands work from one agent to the next. Every error is an RFC 9457 problem with a stable code, a pointer and a fix.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: 'http://127.0.0.1:8420' }],
      components: {
        securitySchemes: {
          peerToken: {
            type: 'http',
            scheme: 'bearer',
            description: 'The bearer of a session peer, whose SHA-256 stands in the file of peers.',
          },
          apiKey: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An API key bk_<id>_<secret>, or an access token (JWT) of an issuer that the operator named, with the named scope.',
          },
        },
      },
    },
    convertConstToEnum: false,
    refResolver: { buildLocalReference: ({ $id }) => $id as string },
    transform: ({ schema, url, route: { method } }) => ({
      schema: {
        ...schema,
        tags: [tagOf(url)],
        ...bodyOf(schema),
        ...nameRest(schema, url),
        ...refusals(schema, method !== 'GET'),
      },
      url: url.replace('*', ':path'),
    }),
    transformObject: (documents) => {
      if (!('openapiObject' in documents)) return documents.swaggerObject
      const { openapiObject } = documents
      const operations = Object.values(openapiObject.paths ?? {}).flatMap(
        (path) => Object.values(path ?? {}) as Operation[],
      )
      for (const operation of operations) sayOptional(operation)
      const tags = new Set(operations.flatMap((operation) => operation.tags ?? []))
      return { ...openapiObject, tags: [...tags].map((name) => ({ name })) }
    },
  })
}

/** What an operation is about, by the first part of its path that says so. */
function tagOf(path: string): string {
  const [first = '', second = ''] = path.split('/').filter((part) => part !== '')
  if (first === 'v2') return `/v2/${second}`
  if (first === 'api') return '/api, the Handoffs API'
  if (first === 'mcp' || second.startsWith('oauth-')) return '/mcp, the Model Context Protocol'
  return first === 'jsonrpc' || first === 'health' || first.startsWith('.')
    ? 'Session handshake'
    : 'About the gateway'
}

/** OpenAPI lists alternatives; the check of `messageOr` also says which one is meant. */
function bodyOf({ body }: FastifySchema = {}): FastifySchema {
  const { allOf, ...rest } = (body ?? {}) as { allOf?: readonly { else: object }[] }
  return allOf === undefined ? {} : { body: { ...rest, oneOf: allOf.map((one) => one.else) } }
}

// No route takes a query parameter that it does not name, and a body is measured and read before any route sees it.
const refusals = ({ response, hide }: FastifySchema = {}, takesBody: boolean): FastifySchema =>
  hide === true
    ? {}
    : {
        response: {
          400: QUERY_REFUSED,
          ...(takesBody ? BODY_REFUSED : {}),
          ...(response as object),
        },
      }

const QUERY_REFUSED = problem('The path takes no such query parameter')

const BODY_REFUSED = {
  413: problem(USUAL_PROBLEMS[413]),
  415: problem(USUAL_PROBLEMS[415]),
}

// What stands for the rest of a path has no name in Fastify.
function nameRest({ params }: FastifySchema = {}, url: string): FastifySchema {
  if (!url.endsWith('*') || params === undefined) return {}
  const { '*': path, ...others } = (params as { properties: Record<string, object> }).properties
  return { params: { type: 'object', properties: { ...others, path } } }
}

interface Operation {
  tags?: string[]
  'x-optional-body'?: true
  requestBody?: { required: boolean }
}

function sayOptional(operation: Operation): void {
  if (operation.requestBody !== undefined && operation['x-optional-body'] === true)
    operation.requestBody.required = false
  delete operation['x-optional-body']
}
