// Refusals of the Handoffs API: problem documents whose member `error` says it as the API's other servers do.
import { PROBLEM_TYPE, problemBody, ProblemError } from '@baton/http/server'
import { STATUSES } from '@baton/protocol/dialects/handoffs-api'
import type { Answer, ApiRefusal, Status } from '@baton/protocol/dialects/handoffs-api'
import type { Envelope } from '../dialect.ts'

/**
 * A problem document that also has `error`. What other faces call unprocessable is a bad request here. A client that
 * asks for application/json, and reads nothing else, gets the same document as that.
 */
export function apiEnvelope(
  problem: ProblemError,
  traceId: string | undefined,
  accept = '*/*',
): Envelope {
  const told = AS_400.has(problem.code) ? asBadRequest(problem) : problem
  const document = JSON.parse(problemBody(told, traceId).toString('utf8')) as object
  const body = Buffer.from(JSON.stringify({ error: told.message, ...document }))
  const isPlain = accept.includes(JSON_TYPE) && !accept.includes(PROBLEM_TYPE)
  return { status: told.status, contentType: isPlain ? JSON_TYPE : PROBLEM_TYPE, body }
}

const JSON_TYPE = 'application/json'

const AS_400: ReadonlySet<string> = new Set(['BATON_HANDOFF_INVALID', 'BATON_REQUEST_INVALID'])

const asBadRequest = ({ code, message: detail, fix, pointer, parameter, errors }: ProblemError) =>
  new ProblemError({ status: 400, code, detail, fix, pointer, parameter, errors })

/** The value, or the refusal thrown as a 400 problem. */
export function orRefuse<Value>(answer: Answer<Value>): Value {
  if (answer.ok) return answer.value
  throw refusal(answer.refusal)
}

export const refusal = ({ error, code, fix, pointer }: ApiRefusal, status = 400): ProblemError =>
  new ProblemError({ status, code, detail: error, fix, pointer })

export const MESSAGE_UNKNOWN = new ProblemError({
  status: 404,
  code: 'BATON_HANDOFF_UNKNOWN',
  detail: 'Handoff not found',
  fix: 'Use the id that POST /api/handoffs answered.',
})

export const alreadyDecided = (action: string, status: Status): ProblemError =>
  new ProblemError({
    status: 409,
    code: 'BATON_APPROVAL_CLOSED',
    detail: `Cannot ${action} a handoff with status: ${status}`,
    fix:
      status === 'pending'
        ? 'It waits for no approval and goes on by itself; nothing has to be decided.'
        : 'It was decided or has ended before; GET it to see how it stands.',
  })

export const profileUnknown = (what: 'Source' | 'Target', id: string): ApiRefusal => ({
  error: `${what} profile not found: ${id}`,
  code: 'BATON_PROFILE_UNKNOWN',
  fix: 'Use the id of a profile of BATON_PROFILES; without that file, an agent type that a worker hosts now.',
  pointer: what === 'Source' ? '/fromProfileId' : '/toProfileId',
})

export const SELF_HANDOFF: ApiRefusal = {
  error: 'Cannot hand off to the same profile (no self-handoff)',
  code: 'BATON_SELF_HANDOFF',
  fix: 'Send it to another profile.',
  pointer: '/toProfileId',
}

export const parentUnknown = (id: string): ApiRefusal => ({
  error: `Parent message not found: ${id}`,
  code: 'BATON_PARENT_UNKNOWN',
  fix: 'Use the id that POST /api/handoffs answered for the parent; a message whose text was erased has no children.',
  pointer: '/parentMessageId',
})

export const chainTooDeep = (depthMax: number): ApiRefusal => ({
  error: `Chain depth limit reached (max ${depthMax}). Cannot create further handoffs in this chain.`,
  code: 'BATON_CHAIN_DEPTH',
  fix: 'Finish the work here, or begin a new chain without parentMessageId.',
  pointer: '/parentMessageId',
})

export const PROFILE_NOT_FOUND = new ProblemError({
  status: 404,
  code: 'BATON_PROFILE_UNKNOWN',
  detail: 'Profile not found',
  fix: 'Use the id of a profile of BATON_PROFILES; without that file, an agent type that a worker hosts now.',
})

/** The refusal of a query that has another form: the API has two filters. */
export const refusedQuery = (
  errors: readonly { readonly instancePath: string }[],
): ProblemError => {
  const parameter = errors[0]?.instancePath.slice(1) ?? ''
  const [detail, fix] =
    parameter === 'status'
      ? [`status must be one of ${STATUSES.join(', ')}`, 'Use one of these, once.']
      : [`${parameter} must be one text of 1 to 256 characters`, 'Give the id of one profile.']
  return new ProblemError({ status: 400, code: 'BATON_PARAMETER_INVALID', detail, fix, parameter })
}
