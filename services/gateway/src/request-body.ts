// Reads request bodies from their bytes: strict JSON with a pointer to what is wrong, whatever the spelling.
import { ProblemError } from '@baton/http/server'
import { DEFAULT_LIMITS, parseMessage } from '@baton/protocol'
import type { Detail, JsonValue } from '@baton/protocol'

/** A message of 1 MiB, and room for what stands around it. */
export const BODY_BYTES_MAX = DEFAULT_LIMITS.bytesMax + 65_536

/** Levels around a message in the body of POST /v2/handoffs. */
const LEVELS_AROUND = 2

/** One strict JSON value, with a message in so many levels at most. Throws 400 BATON_JSON_INVALID. */
export function parseStrictly(bytes: Buffer, levelsAround = LEVELS_AROUND): JsonValue {
  const depthMax = DEFAULT_LIMITS.depthMax + levelsAround
  const parsed = parseMessage(bytes, { ...DEFAULT_LIMITS, bytesMax: BODY_BYTES_MAX, depthMax })
  if (parsed.ok) return parsed.value
  throw notJson(parsed.details)
}

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
    detail: 'the body is not one strict JSON value',
    fix: errors[0]?.fix ?? 'Send one JSON value, as RFC 8259 defines it.',
    errors,
  })
}
