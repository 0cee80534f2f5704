// Which problem each error of the layers below becomes.
import { ProblemError } from '@baton/http/server'
import { BatonError } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'
import { ProtocolError } from '@baton/protocol'
import type { Detail } from '@baton/protocol'

/** 422 with every detail; `place` turns a pointer into the message into one into the body. */
export function invalidHandoff(
  code: ErrorCode,
  details: readonly Detail[],
  place: (pointer: string) => string = (pointer) => pointer,
): ProblemError {
  const errors = details.map(({ pointer, rule, message, fix, expected }) => ({
    pointer: place(pointer),
    rule,
    detail: message,
    fix,
    ...(expected === undefined ? {} : { expected }),
  }))
  return new ProblemError({
    status: 422,
    code,
    detail: errors[0]?.detail ?? 'the handoff is not valid',
    fix: errors[0]?.fix ?? 'Read the errors.',
    errors,
  })
}

/** The problem that any thrown value becomes. What is not known answers 500 and says nothing more. */
export function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (error instanceof ProtocolError) return invalidHandoff(error.code, error.details)
  if (error instanceof BatonError) return fromBaton(error)
  return fromFramework(error) ?? INTERNAL
}

/** Refusals of the layers below that a caller can act on. */
const REFUSALS: Readonly<Record<string, number>> = {
  BATON_PERSONAL_DATA_AMBIGUOUS: 422,
  BATON_SUBJECTS_TOO_MANY: 422,
  BATON_RESIDENCY_REFUSED: 422,
  BATON_BUDGET_MISMATCH: 422,
  BATON_BUDGET_EXCEEDED: 422,
  BATON_FAN_OUT_TOO_LARGE: 422,
  BATON_FAN_OUT_TOO_DEEP: 422,
  BATON_BRANCHES_OPEN: 422,
  BATON_RECEIVER_LIST_INVALID: 422,
  BATON_RECEIVER_MISSING: 422,
  BATON_NAME_UNRECORDABLE: 422,
  BATON_NO_CAPABLE_AGENT: 409,
  BATON_JOIN_IMPOSSIBLE: 422,
  BATON_REVISION_INVALID: 422,
  BATON_HANDOFF_CONFLICT: 409,
  BATON_TASK_ENDED: 409,
  BATON_TASK_OF_OTHER_TENANT: 409,
  BATON_AGENT_OF_OTHER_TENANT: 422,
  BATON_REVISION_CONFLICT: 409,
  BATON_HANDOFF_CLAIMED: 409,
  BATON_HANDOFF_NOT_RETURNED: 409,
  BATON_NOTHING_TO_RESUME: 409,
  BATON_HANDOFF_UNKNOWN: 404,
  BATON_TASK_UNKNOWN: 404,
  BATON_TASK_UNPROVEN: 404,
  BATON_CHUNK_INVALID: 422,
  BATON_CHUNK_UNSAFE: 422,
  BATON_CHUNK_CONFLICT: 409,
  BATON_CHUNK_GAP: 409,
  BATON_STREAM_FULL: 409,
  BATON_EXECUTION_LOST: 409,
  BATON_OUTBOX_FULL: 429,
  BATON_LARGE_WORK_ENDED: 503,
  BATON_LARGE_WORK_FULL: 503,
  BATON_SCHEMA_OUTDATED: 503,
}

/** The code that a caller is told of a message that cannot be built: its own where a caller can act on it. */
export const codeForCaller = (code: ErrorCode): ErrorCode =>
  REFUSALS[code] === undefined ? 'BATON_HANDOFF_INVALID' : code

function fromBaton({
  kind,
  code,
  message: detail,
  fix = 'Read the detail.',
}: BatonError): ProblemError {
  const status = REFUSALS[code]
  const headers = kind === 'transient' ? { 'retry-after': '1' } : {}
  if (status !== undefined) return new ProblemError({ status, code, detail, fix, headers })
  if (kind !== 'transient') return INTERNAL
  return new ProblemError({ status: 503, code, detail, fix: TRY_AGAIN, headers })
}

const TRY_AGAIN = 'Try again after the time in Retry-After; a repeated Idempotency-Key is safe.'

const INTERNAL = new ProblemError({
  status: 500,
  code: 'BATON_INTERNAL',
  detail: 'the gateway failed; nothing was stored unless a repetition with the same key says so',
  fix: 'Report the traceId to the operator.',
})

const FRAMEWORK: Readonly<Record<string, ProblemError>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: new ProblemError({
    status: 413,
    code: 'BATON_BODY_TOO_LARGE',
    detail: 'the body is larger than a handoff may be',
    fix: 'Compress the conversation, or send references to large data; a message takes at most 1 MiB.',
  }),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: new ProblemError({
    status: 415,
    code: 'BATON_MEDIA_TYPE_UNSUPPORTED',
    detail: 'the content type is not application/json',
    fix: 'Send JSON in UTF-8 with the header Content-Type: application/json.',
    headers: { accept: 'application/json' },
  }),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: new ProblemError({
    status: 400,
    code: 'BATON_BODY_CUT_OFF',
    detail: 'the body is not as long as Content-Length says',
    fix: 'Send the whole body, or leave Content-Length to the HTTP library.',
  }),
}

function fromFramework(error: unknown): ProblemError | undefined {
  const { code = '', statusCode = 500 } = (error ?? {}) as { code?: string; statusCode?: number }
  const known = FRAMEWORK[code]
  if (known !== undefined || statusCode < 400 || statusCode >= 500) return known
  return new ProblemError({
    status: statusCode,
    code: 'BATON_REQUEST_INVALID',
    detail: 'the request cannot be read',
    fix: 'Compare it with /openapi.json.',
  })
}
