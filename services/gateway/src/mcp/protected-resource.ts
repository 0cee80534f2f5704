// Where a client that has no token learns where to get one: RFC 9728, and the challenges that lead there (RFC 6750).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { Issuer } from '@baton/http/access-tokens'
import { SCOPES } from '../api-keys.ts'
import type { Scope } from '../api-keys.ts'
import { JSON_FACE } from '../dialect.ts'
import type { Face } from '../dialect.ts'
import { answers, open, problem, USUAL_PROBLEMS } from '../operation.ts'
import { REQUEST_MS } from '../v2.ts'

export interface Protection {
  readonly issuers: readonly Issuer[]
  /** Where callers reach this gateway; as they name it where nobody says. */
  readonly publicUrl: string | undefined
}

const WELL_KNOWN = '/.well-known/oauth-protected-resource'

function baseOf({ publicUrl }: Protection, { protocol, host }: FastifyRequest): string {
  if (publicUrl !== undefined) return publicUrl
  const named = `${protocol}://${host}`
  // What a caller calls this host goes into a header.
  return URL.canParse(named) ? new URL(named).origin : ''
}

/** Scopes as the issuer calls them, where all issuers call them the same. */
function namedScopes({ issuers }: Protection, scopes: readonly Scope[]): readonly string[] {
  const [prefix = '', other] = new Set(issuers.map(({ scopePrefix }) => scopePrefix))
  return other === undefined ? scopes.map((scope) => prefix + scope) : scopes
}

export const createMetadataFace = (
  protection: Protection,
  authentication: Face['authentication'],
): Face => ({
  ...JSON_FACE,
  path: WELL_KNOWN,
  authentication,
  requestMs: REQUEST_MS,
  addRoutes(scope: FastifyInstance) {
    for (const path of ['', '/mcp'])
      scope.get(path, described(path), async (request, reply) =>
        send(reply, {
          resource: `${baseOf(protection, request)}${path}`,
          // Where nobody issues tokens, callers have API keys.
          ...(protection.issuers.length === 0
            ? {}
            : { authorization_servers: protection.issuers.map(({ issuer }) => issuer) }),
          scopes_supported: namedScopes(protection, SCOPES),
          bearer_methods_supported: ['header'],
          resource_name: 'Baton',
        }),
      )
  },
})

const send = (reply: FastifyReply, document: object) =>
  reply
    .header('cache-control', 'public, max-age=300')
    .header('access-control-allow-origin', '*')
    .send(document)

const text = { type: 'string' }

const described = (path: string) =>
  open({
    operationId: path === '' ? 'readProtectedResource' : 'readMcpProtectedResource',
    summary: 'Who issues access tokens for this gateway, and which scopes there are (RFC 9728)',
    response: {
      200: answers('The metadata', {
        type: 'object',
        properties: {
          resource: text,
          authorization_servers: { type: 'array', items: text },
          scopes_supported: { type: 'array', items: text },
          bearer_methods_supported: { type: 'array', items: text },
          resource_name: text,
        },
        required: ['resource', 'scopes_supported', 'bearer_methods_supported'],
      }),
      429: problem(USUAL_PROBLEMS[429]),
    },
  })

interface Challenged {
  readonly request: FastifyRequest
  /** What the request would need. */
  readonly scope: Scope | undefined
}

/** The same refusal with what a client needs to come back with another token. Anything else that was thrown is thrown again. */
export function challenging(
  error: unknown,
  protection: Protection,
  { request, scope }: Challenged,
): unknown {
  if (!(error instanceof ProblemError) || ![401, 403].includes(error.status)) return error
  const metadata = `${baseOf(protection, request)}${WELL_KNOWN}/mcp`
  const given = error.headers['www-authenticate']
  const missing =
    error.status === 403
      ? `Bearer realm="baton", error="insufficient_scope"`
      : 'Bearer realm="baton"'
  const [named] = scope === undefined ? [] : namedScopes(protection, [scope])
  const challenge = [
    given ?? missing,
    `resource_metadata="${metadata}"`,
    ...(named === undefined ? [] : [`scope="${named}"`]),
  ].join(', ')
  const { status, code, message: detail, fix, pointer, parameter, errors, headers } = error
  return new ProblemError({
    status,
    code,
    detail,
    fix,
    pointer,
    parameter,
    errors,
    headers: { ...headers, 'www-authenticate': challenge },
  })
}
