// Path and query parameters, read strictly: anything unexpected is a 400 that names the parameter.
import { ProblemError } from './problem.ts'

export interface ById {
  Params: { id: string }
}

export interface ListQuery {
  Querystring: Readonly<Record<string, unknown>>
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const STATUSES = ['PENDING_HANDOFF', 'RUNNING', 'AWAITING_HUMAN', 'COMPLETED', 'FAILED', 'CANCELED']
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 500

export function readUuid(
  text: string,
  what: 'handoff' | 'task' | 're-drive' | 'notice' | 'erasure',
): string {
  if (UUID.test(text)) return text
  throw invalid(`The ${what} id is not a lower-case UUID`, 'Use the id as it was answered.')
}

const FILTER_MAX = 1_024

/** A text to filter by. */
export function readFilterText(given: unknown, name: string): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && given.length <= FILTER_MAX && !/\p{Cc}/u.test(given))
    return given
  throw invalid(
    `The query parameter ${name} cannot be read`,
    `Give one text of at most ${FILTER_MAX} characters.`,
  )
}

/** A task status to filter by. */
export function readStatus(given: unknown): string | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'string' && STATUSES.includes(given)) return given
  throw invalid(
    'The query parameter status is not a task status',
    `Use one of ${STATUSES.join(', ')}.`,
  )
}

/** How many rows a list has at most. */
export function readLimit(given: unknown): number {
  if (given === undefined) return LIMIT_DEFAULT
  const limit = typeof given === 'string' && /^\d{1,4}$/.test(given) ? Number(given) : 0
  if (limit >= 1 && limit <= LIMIT_MAX) return limit
  throw invalid(
    'The query parameter limit is out of bounds',
    `Use a whole number from 1 to ${LIMIT_MAX}.`,
  )
}

const invalid = (detail: string, fix: string) =>
  new ProblemError({ status: 400, code: 'BATON_PARAMETER_INVALID', detail, fix })

export const notFound = (what: 'handoff' | 'task') =>
  new ProblemError({
    status: 404,
    code: what === 'task' ? 'BATON_TASK_UNKNOWN' : 'BATON_HANDOFF_UNKNOWN',
    detail: `There is no ${what} with this id`,
    fix: `Use the ${what}Id that POST /v2/handoffs answered.`,
  })
