// Who acts in a request.
import type { FastifyRequest } from 'fastify'
import type { ApiKey } from './api-keys.ts'

/** The key of a request. Behind requireScope only. */
export function keyOf({ identified }: FastifyRequest): ApiKey {
  if (!identified.ok) throw new TypeError('only an identified caller acts')
  return identified.key
}

/** The person behind the key; several keys of one operator are one person. */
export const operatorOf = (request: FastifyRequest): string => keyOf(request).operator
