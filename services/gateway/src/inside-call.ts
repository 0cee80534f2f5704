// Calls of the gateway's own routes from inside of it: what another protocol asks runs as the HTTP operation itself, with its checks and its records.
import { randomBytes } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Identified } from './api-keys.ts'

export interface RouteCall {
  readonly method: 'GET' | 'POST'
  /** From the root, with its query. */
  readonly path: string
  readonly body?: object | undefined
  readonly headers?: Readonly<Record<string, string>>
}

export interface RouteAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: object
}

/** Names a call that is under way, with a secret that nobody outside of this process has seen. */
const HEADER = 'baton-inside'
const underWay = new Map<string, Identified>()

/** Who asked from outside for a call that came from inside; undefined where it did not. They were identified and counted then. */
export function insideCaller({ headers }: Pick<FastifyRequest, 'headers'>): Identified | undefined {
  const secret = headers[HEADER]
  return typeof secret === 'string' ? underWay.get(secret) : undefined
}

/** Calls a route as whoever sent `request`, from where they sent it. */
export async function callInside(
  scope: FastifyInstance,
  { identified, ip }: FastifyRequest,
  { method, path, body, headers = {} }: RouteCall,
): Promise<RouteAnswer> {
  const secret = randomBytes(32).toString('base64url')
  underWay.set(secret, identified)
  try {
    const answer = await scope.inject({
      method,
      url: path,
      remoteAddress: ip,
      headers: {
        ...headers,
        [HEADER]: secret,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    })
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<object>() }
  } finally {
    underWay.delete(secret)
  }
}
