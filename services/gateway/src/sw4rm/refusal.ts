// What goes wrong in the words of gRPC: one status for each problem, and the words of the running peers where they have some.
import { Metadata, status } from '@grpc/grpc-js'
import { Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import type { ProblemError } from '@baton/http/server'
import { problemOf } from '../problem.ts'

/** A refusal that peers know by these words. */
export class PeerRefusal extends Error {
  readonly status: status
  constructor(code: status, details: string) {
    super(details)
    this.status = code
  }
}

/** Ids come from callers; so much of one is repeated to them. */
const ID_SHOWN_MAX = 256

const shown = (id: string): string => id.slice(0, ID_SHOWN_MAX).toWellFormed()

export const notFound = (id: string) =>
  new PeerRefusal(status.NOT_FOUND, `Handoff ${shown(id)} not found`)

export const existsAlready = (id: string) =>
  new PeerRefusal(status.ALREADY_EXISTS, `Handoff request with ID '${shown(id)}' already exists`)

export const notPending = (id: string, current: string) =>
  new PeerRefusal(
    status.FAILED_PRECONDITION,
    `Handoff ${shown(id)} is not in PENDING status (current: ${current})`,
  )

export const notAccepted = (id: string, current: string) =>
  new PeerRefusal(
    status.FAILED_PRECONDITION,
    `Handoff ${shown(id)} is not in ACCEPTED status (current: ${current})`,
  )

export interface Refusal {
  readonly code: status
  readonly details: string
  readonly metadata: Metadata
  /** For the log. */
  readonly problemCode: string
  /** Whether the fault is here. */
  readonly isFault: boolean
}

const STATUS_OF: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  408: status.DEADLINE_EXCEEDED,
  409: status.FAILED_PRECONDITION,
  413: status.RESOURCE_EXHAUSTED,
  422: status.INVALID_ARGUMENT,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
}

/** The refusal that any thrown value becomes; of what is not known it says nothing. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof PeerRefusal)
    return refusal(error.status, error.message, `SW4RM_${status[error.status]}`)
  if (error instanceof Sw4rmError)
    return refusal(status.INVALID_ARGUMENT, error.message, error.code)
  const problem = problemOf(error)
  const isConflict = problem.status === 409 && problem.headers['retry-after'] !== undefined
  const code = isConflict ? status.ABORTED : (STATUS_OF[problem.status] ?? status.INTERNAL)
  return {
    ...refusal(code, wordsOf(problem), problem.code, problem),
    isFault: problem.status >= 500,
  }
}

// Where it is wrong and how to mend it: gRPC has one line for both.
function wordsOf({ message, fix = '', pointer = '' }: ProblemError): string {
  return `${pointer === '' ? '' : `${pointer}: `}${message}. ${fix}`.trim()
}

function refusal(
  code: status,
  details: string,
  problemCode: string,
  problem?: ProblemError,
): Refusal {
  const metadata = new Metadata()
  metadata.set('baton-code', problemCode)
  const retryAfter = problem?.headers['retry-after']
  if (retryAfter !== undefined) metadata.set('retry-after', String(retryAfter))
  return { code, details, metadata, problemCode, isFault: false }
}
