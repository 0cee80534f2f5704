// Calls of the gateway's own routes from inside of it: what another protocol asks runs as the HTTP operation itself, with its checks and its records.
import { AsyncLocalStorage } from 'node:async_hooks'
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

const inside = new AsyncLocalStorage<Identified>()

/** Who asked from outside for the call that runs here; undefined where nobody calls from inside. They were counted then. */
export const insideCaller = (): Identified | undefined => inside.getStore()

/** Calls a route as whoever sent `request`, from where they sent it. */
export async function callInside(
  scope: FastifyInstance,
  { identified, ip }: FastifyRequest,
  { method, path, body, headers = {} }: RouteCall,
): Promise<RouteAnswer> {
  // An injection begins when it is awaited, which must be in there.
  const answer = await inside.run(
    identified,
    async () =>
      await scope.inject({
        method,
        url: path,
        remoteAddress: ip,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      }),
  )
  return { status: answer.statusCode, headers: answer.headers, body: answer.json<object>() }
}
