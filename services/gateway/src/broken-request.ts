// Answers what never became a request: too slow, too large, or not HTTP.
import type { Socket } from 'node:net'
import { ProblemError, problemBody } from './problem.ts'

/** How long headers and the whole request may take to arrive, and how large the headers may be. */
export const HEADERS_MS = 5_000
export const REQUEST_MS = 15_000
export const HEADERS_BYTES_MAX = 16_384

/** Writes a problem to the socket, which is all that is known of such a request, and ends it. */
export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return
  const problem = BROKEN[error.code ?? ''] ?? REQUEST_INVALID
  const body = problemBody(problem, undefined)
  const head = [
    `HTTP/1.1 ${problem.status} Refused`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}

const REQUEST_INVALID = new ProblemError({
  status: 400,
  code: 'BATON_REQUEST_INVALID',
  detail: 'This is not an HTTP/1.1 request',
  fix: 'Use an HTTP client library.',
})

const BROKEN: Readonly<Record<string, ProblemError>> = {
  ERR_HTTP_REQUEST_TIMEOUT: new ProblemError({
    status: 408,
    code: 'BATON_REQUEST_TOO_SLOW',
    detail: 'The request did not arrive in time',
    fix: `Send the headers within ${HEADERS_MS / 1000} s and the body within ${REQUEST_MS / 1000} s.`,
  }),
  HPE_HEADER_OVERFLOW: new ProblemError({
    status: 431,
    code: 'BATON_HEADERS_TOO_LARGE',
    detail: 'The headers are larger than they may be',
    fix: `Send at most ${HEADERS_BYTES_MAX} bytes of headers.`,
  }),
}
