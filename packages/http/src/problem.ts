// Every error leaves as an RFC 9457 problem: stable code, where it is, how to mend it. No payload text.
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { BatonError } from '@baton/runtime'
import type { ErrorCode } from '@baton/runtime'

export const PROBLEM_TYPE = 'application/problem+json'

/** One thing that is wrong with the request, at a JSON pointer into its body. */
export interface ProblemItem {
  readonly pointer: string
  readonly rule: string
  readonly detail: string
  readonly fix: string
  readonly expected?: string
}

export interface ProblemOptions {
  readonly status: number
  readonly code: ErrorCode
  readonly detail: string
  readonly fix?: string | undefined
  readonly pointer?: string | undefined
  /** The name of the parameter of path or query that is meant. */
  readonly parameter?: string | undefined
  readonly errors?: readonly ProblemItem[]
  readonly headers?: Readonly<Record<string, string>>
}

/** An answer that ends a request; thrown by whoever finds the problem. */
export class ProblemError extends BatonError {
  readonly status: number
  readonly pointer: string | undefined
  readonly parameter: string | undefined
  readonly errors: readonly ProblemItem[]
  readonly headers: Readonly<Record<string, string>>

  constructor({ status, code, detail, fix, pointer, parameter, ...more }: ProblemOptions) {
    const { errors = [], headers = {} } = more
    const kind = status === 429 || status === 503 ? 'transient' : 'permanent'
    super(kind, code, detail, fix === undefined ? {} : { fix })
    this.status = status
    this.pointer = pointer ?? errors[0]?.pointer
    this.parameter = parameter
    this.errors = errors
    this.headers = headers
  }
}

/**
 * What is sent as application/problem+json: bytes, because a text would be given a charset, which this type does
 * not have. `traceId` finds the request in logs and traces.
 */
export function problemBody(problem: ProblemError, traceId?: string): Buffer {
  const { status, code, message: detail, fix, pointer, parameter, errors } = problem
  return Buffer.from(
    JSON.stringify({
      type: `urn:baton:problem:${code}`,
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail,
      code,
      fix,
      ...(pointer === undefined ? {} : { pointer }),
      ...(parameter === undefined ? {} : { parameter }),
      ...(errors.length === 0 ? {} : { errors }),
      ...(traceId === undefined ? {} : { traceId }),
    }),
  )
}

/** Answers a socket of which no request can be read, or is wanted, and ends it. */
export function writeProblem(socket: Socket, problem: ProblemError): void {
  const body = problemBody(problem)
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    `content-type: ${PROBLEM_TYPE}`,
    `content-length: ${body.length}`,
    'connection: close',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  socket.end(body)
}

/** Of every server that takes what people sign in a header. */
export const DECISION_UNREADABLE = new ProblemError({
  status: 400,
  code: 'BATON_DECISION_INVALID',
  detail: 'the Baton-Decision header is not a key id, a time, a salt, a digest and a signature',
  fix: 'Send 16 hex digits, a UTC time with milliseconds, 32 hex digits, 64 hex digits and 64 bytes in base64, with one space between each.',
})
