// Reads the Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header-07).
import { hash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { ProblemError } from '@baton/http/server'
import type { RequestKey } from './submit.ts'

/** For the description of a route. */
export const KEY_HEADER = {
  'Idempotency-Key': {
    type: 'string',
    description:
      'One string of 1 to 255 characters, quoted or bare. A repetition with the same body gets the first answer; 409 while the first is running, 422 with another body.',
    examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'],
  },
}

const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
const BARE = /^[\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]+$/
const LENGTH_MAX = 255

/**
 * The key that a quoted structured-field string or a bare token names; undefined without a header.
 * Throws 400 BATON_IDEMPOTENCY_KEY_INVALID.
 */
function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  const text = String(header).trim()
  const quoted = QUOTED.exec(text)?.[1]?.replaceAll(/\\(["\\])/g, '$1')
  const key = quoted ?? (BARE.test(text) ? text : '')
  if (key.length >= 1 && key.length <= LENGTH_MAX) return key
  throw new ProblemError({
    status: 400,
    code: 'BATON_IDEMPOTENCY_KEY_INVALID',
    detail: `the Idempotency-Key is not one string of 1 to ${LENGTH_MAX} printable ASCII characters`,
    fix: 'Send one key in quotes, for example Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324".',
  })
}

/** A hook that refuses a request whose key cannot be read. */
export async function requireKey({ headers }: FastifyRequest): Promise<void> {
  readIdempotencyKey(headers['idempotency-key'])
}

/** The key of a request and the digest of its body; undefined where it has none. */
export function requestKey(request: FastifyRequest): RequestKey | undefined {
  const key = readIdempotencyKey(request.headers['idempotency-key'])
  const { identified, bodyBytes } = request
  if (key === undefined || !identified.ok || bodyBytes === undefined) return undefined
  return { apiKeyId: identified.key.id, key, requestSha256: hash('sha256', bodyBytes, 'buffer') }
}
