// Errors leave as RFC 9457 problems: what is wrong, where, how to mend it, and a stable code.
import { STATUS_CODES } from 'node:http'

export interface Problem {
  readonly status: number
  /** A stable BATON_* code. */
  readonly code: string
  readonly detail: string
  readonly fix?: string
  /** JSON pointer into the request body. */
  readonly pointer?: string
  /** Seconds after which a repetition makes sense. */
  readonly retryAfter?: number
  readonly problems?: readonly object[]
}

/** Thrown inside a route to end it with this answer. */
export class ProblemError extends Error {
  readonly problem: Problem

  constructor(problem: Problem) {
    super(problem.detail)
    this.problem = problem
  }
}

/** The problem document; the time to wait travels in the Retry-After header instead. */
export function problemBody(problem: Problem): string {
  const { retryAfter: _, ...members } = problem
  return JSON.stringify({ type: 'about:blank', title: STATUS_CODES[problem.status], ...members })
}
