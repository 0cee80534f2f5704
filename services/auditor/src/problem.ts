// Which problem each error becomes, and how a route refuses what does not have the form that its schema asks for.
import { ProblemError } from '@baton/http/server'
import { BatonError, codeOf } from '@baton/runtime'
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'

type Refusal = (errors: readonly FastifySchemaValidationError[]) => ProblemError

/** What a route answers to a path, a query or a body of another form. */
export const refusing =
  (refusals: {
    readonly params?: ProblemError
    readonly querystring?: ProblemError | Refusal
    readonly body?: ProblemError | Refusal
  }) =>
  (errors: FastifySchemaValidationError[], part: string): ProblemError => {
    const { params, querystring, body } = refusals
    const refusal = part === 'params' ? params : part === 'querystring' ? querystring : body
    return (typeof refusal === 'function' ? refusal(errors) : refusal) ?? UNREADABLE
  }

/** The problem that any thrown value becomes. */
export function problemOf(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error
  if (error instanceof BatonError) return ofBaton(error)
  const code = codeOf(error)
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return BODY_TOO_LARGE
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return NOT_JSON
  const status = (error as { statusCode?: number } | null)?.statusCode ?? 500
  return status < 500 ? unreadable(status) : failed(status)
}

function ofBaton({ kind, code, message: detail, fix }: BatonError): ProblemError {
  if (kind !== 'transient') return new ProblemError({ status: 500, code, detail, fix })
  return new ProblemError({ status: 503, code, detail, fix, headers: { 'retry-after': '1' } })
}

const unreadable = (status: number) =>
  new ProblemError({
    status,
    code: 'BATON_AUDITOR_FAILED',
    detail: 'the request cannot be read',
    fix: 'Use an HTTP client library.',
  })

const UNREADABLE = unreadable(400)

const failed = (status: number) =>
  new ProblemError({
    status,
    code: 'BATON_AUDITOR_FAILED',
    detail: 'the auditor failed',
    fix: 'Read the auditor’s log.',
  })

export const NOT_JSON = new ProblemError({
  status: 400,
  code: 'BATON_BODY_NOT_JSON',
  detail: 'the body is not JSON in UTF-8',
  fix: 'Send a JSON body with content-type application/json.',
  pointer: '',
})

const BODY_TOO_LARGE = new ProblemError({
  status: 413,
  code: 'BATON_BODY_TOO_LARGE',
  detail: 'the body is larger than the auditor takes',
  fix: 'Send fewer entries in one request.',
})
