// Who acts in a request, and the body it came with, checked.
import type { FastifyRequest } from 'fastify'
import type { RequestBody } from './request-body.ts'
import { requireShape } from './shape.ts'

/** The person behind the key; several keys of one operator are one person. Behind requireScope only. */
export function operatorOf({ identified }: FastifyRequest): string {
  if (!identified.ok) throw new TypeError('only an identified caller acts')
  return identified.key.operator
}

/** The body where it has the form of `schema`; no body at all is `{}`. Throws BATON_REQUEST_INVALID. */
export function bodyOf<Body extends object>(request: FastifyRequest, schema: object): Body {
  const value: unknown = (request.body as RequestBody | undefined)?.value ?? {}
  requireShape(request, schema, value)
  return value as Body
}
