// Reads request bodies from their bytes: strict JSON with a pointer to what is wrong, whatever the spelling.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { DEFAULT_LIMITS, parseMessage } from '@baton/protocol'
import type { Detail, JsonValue } from '@baton/protocol'
import { ProblemError } from './problem.ts'

export interface RequestBody {
  readonly value: JsonValue
  /** The bytes as they came. */
  readonly bytes: Buffer
}

/** A message of 1 MiB, and room for what stands around it. */
export const BODY_BYTES_MAX = DEFAULT_LIMITS.bytesMax + 65_536

const LIMITS = {
  ...DEFAULT_LIMITS,
  bytesMax: BODY_BYTES_MAX,
  depthMax: DEFAULT_LIMITS.depthMax + 2,
}

/** Makes `application/json` the only content type; every other one is answered with 415. */
export function readJsonStrictly(server: FastifyInstance): void {
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_, body, done) => {
    const bytes = body as Buffer
    const parsed = parseMessage(bytes, LIMITS)
    if (parsed.ok) done(null, { value: parsed.value, bytes } satisfies RequestBody)
    else done(notJson(parsed.details))
  })
}

/** The body of a request that needs one. Throws the problem of a request that came without. */
export function requiredBody({ body }: Pick<FastifyRequest, 'body'>): RequestBody {
  if (body === undefined) throw NO_BODY
  return body as RequestBody
}

const NO_BODY = new ProblemError({
  status: 400,
  code: 'BATON_JSON_INVALID',
  detail: 'The request has no body',
  fix: 'Send one JSON value with content-type: application/json.',
})

function notJson(details: readonly Detail[]): ProblemError {
  const errors = details.map(({ pointer, rule, message, fix }) => ({
    pointer,
    rule,
    detail: message,
    fix,
  }))
  return new ProblemError({
    status: 400,
    code: 'BATON_JSON_INVALID',
    detail: 'The body is not one strict JSON value',
    fix: errors[0]?.fix ?? 'Send one JSON value, as RFC 8259 defines it.',
    errors,
  })
}
