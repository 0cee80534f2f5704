// Refusals of A2A in its own envelopes, JSON-RPC's and google.rpc.Status, with Baton's code and what mends it in the details.
import {
  A2A_ERROR_CODE,
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  restStatusFor,
  TaskNotCancelableError,
  TaskNotFoundError,
  toJsonRpcError,
  toRestErrorBody,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import { ProblemError } from '@baton/http/server'
import type { A2aRefusal } from '@baton/protocol/dialects/a2a'
import type { Envelope } from '../dialect.ts'
import { problemOf } from '../problem.ts'

/** What the standard has an error of its own for. */
const ERRORS: Readonly<Record<string, typeof TaskNotFoundError>> = {
  BATON_TASK_UNKNOWN: TaskNotFoundError,
  BATON_TASK_ENDED: TaskNotCancelableError,
  BATON_A2A_TASK_CLOSED: UnsupportedOperationError,
  BATON_A2A_CONTENT_TYPE: ContentTypeNotSupportedError,
  BATON_MEDIA_TYPE_UNSUPPORTED: ContentTypeNotSupportedError,
  BATON_A2A_PUSH_REFUSED: PushNotificationNotSupportedError,
}

const BAD_REQUESTS: ReadonlySet<number> = new Set([400, 409, 422])

/** As an error of the SDK; undefined where the standard knows none such. */
function asA2aError(problem: ProblemError): A2AError | undefined {
  const { code, status, message, fix = '', pointer } = problem
  const options = {
    message: `${message}. ${fix}`,
    metadata: { code, fix, ...(pointer === undefined ? {} : { pointer }) },
  }
  const known = ERRORS[code]
  if (known !== undefined) return new known(options)
  return BAD_REQUESTS.has(status) ? new RequestMalformedError(options) : undefined
}

/** The `error` of a JSON-RPC answer. */
function rpcErrorOf(error: unknown): object {
  if (error instanceof A2AError) return toJsonRpcError(error)
  const problem = problemOf(error)
  const known = asA2aError(problem)
  const { code, message, fix = '', status, errors } = problem
  if (code === 'BATON_JSON_INVALID')
    return {
      code: A2A_ERROR_CODE.PARSE_ERROR,
      message: `${message}. ${fix}`,
      data: [ownInfo(problem)],
    }
  if (known === undefined)
    return {
      code: status >= 500 ? A2A_ERROR_CODE.INTERNAL_ERROR : REFUSED,
      message: `${message}. ${fix}`,
      data: [ownInfo(problem)],
    }
  const said = toJsonRpcError(known)
  return errors.length === 0 ? said : { ...said, data: [...(said.data ?? []), violations(problem)] }
}

/** What is no error of the standard: of the range that JSON-RPC leaves to servers. */
const REFUSED = -32_000

const ownInfo = ({ code, fix = '', kind }: ProblemError) => ({
  '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
  reason: code,
  domain: 'baton',
  metadata: { code, fix, retryable: String(kind === 'transient') },
})

const violations = ({ errors }: ProblemError) => ({
  '@type': 'type.googleapis.com/google.rpc.BadRequest',
  fieldViolations: errors.map(({ pointer, rule, detail, fix }) => ({
    field: pointer,
    reason: rule.toUpperCase(),
    description: `${detail}. ${fix}`,
  })),
})

/** A whole answer of JSON-RPC. */
export const rpcFailure = (error: unknown, id: unknown): object => ({
  jsonrpc: '2.0',
  id: typeof id === 'string' || (typeof id === 'number' && Number.isInteger(id)) ? id : null,
  error: rpcErrorOf(error),
})

/** Status and body of an answer of HTTP+JSON. */
export function restFailure(error: unknown): { readonly status: number; readonly body: object } {
  const problem = error instanceof A2AError ? undefined : problemOf(error)
  const known = problem === undefined ? (error as A2AError) : asA2aError(problem)
  if (known !== undefined) {
    const status = restStatusFor(known)
    const body = toRestErrorBody(known, status)
    if (problem === undefined || problem.errors.length === 0) return { status, body }
    const details = [...body.error.details, violations(problem)]
    return { status, body: { error: { ...body.error, details } } }
  }
  const { status, message, fix = '' } = problem as ProblemError
  const body = {
    error: {
      code: status,
      status: STATUS_NAMES[status] ?? (status >= 500 ? 'INTERNAL' : 'FAILED_PRECONDITION'),
      message: `${message}. ${fix}`,
      details: [ownInfo(problem as ProblemError)],
    },
  }
  return { status, body }
}

const STATUS_NAMES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'OUT_OF_RANGE',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

export const A2A_TYPE = 'application/a2a+json'

/** What is refused before a body is read, to callers of JSON-RPC, who read nothing else. */
export const rpcEnvelope = (problem: ProblemError): Envelope => ({
  status: restFailure(problem).status,
  contentType: 'application/json',
  body: JSON.stringify(rpcFailure(problem, null)),
})

/** The same to callers of HTTP+JSON. */
export function restEnvelope(problem: ProblemError): Envelope {
  const { status, body } = restFailure(problem)
  return { status, contentType: A2A_TYPE, body: JSON.stringify(body) }
}

export const TASK_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_TASK_UNKNOWN',
  detail: 'there is no such task',
  fix: 'Use the id of a task that SendMessage answered.',
})

export const taskEnded = (state: string): ProblemError =>
  new ProblemError({
    status: 409,
    code: 'BATON_TASK_ENDED',
    detail: `the task had ended before: it is ${state}`,
    fix: 'Nothing of it executes any more; there is nothing to cancel.',
  })

export const taskClosed = (state: string): ProblemError =>
  new ProblemError({
    status: 400,
    code: 'BATON_A2A_TASK_CLOSED',
    detail: `the task is ${state}`,
    fix: 'A task takes another message, and has followers, only until it has ended; send a message without taskId, in the same context.',
  })

export const taskBusy = (state: string): ProblemError =>
  new ProblemError({
    status: 400,
    code: 'BATON_A2A_TASK_CLOSED',
    detail: `the task is ${state} and waits for no message`,
    fix: 'Wait for its end, or send a message without taskId, in the same context.',
  })

export const refusedMessage = ({ kind, pointer, problem, fix }: A2aRefusal): ProblemError =>
  new ProblemError({
    status: kind === 'content' ? 415 : 400,
    code: kind === 'content' ? 'BATON_A2A_CONTENT_TYPE' : 'BATON_A2A_MESSAGE_INVALID',
    detail: `${pointer} of the message ${problem}`,
    fix,
    pointer: `/message${pointer}`,
  })

export const invalidRequest = (pointer: string, detail: string, fix: string): ProblemError =>
  new ProblemError({ status: 400, code: 'BATON_A2A_MESSAGE_INVALID', detail, fix, pointer })
