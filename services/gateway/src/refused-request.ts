// Says where a request differs from the form it should have, in pointers a caller can follow.
import type { FastifySchemaValidationError } from 'fastify/types/schema.js'
import { ProblemError } from '@baton/http/server'
import type { ProblemItem } from '@baton/http/server'
import { pointerTo, TASK_STATUSES } from '@baton/protocol'

export const LIMIT_MAX = 1_000
export const FILTER_MAX = 1_024

const ERRORS_MAX = 50

/**
 * The problem of a request that is not what its route takes: 400 BATON_PARAMETER_INVALID for its path and query,
 * 422 BATON_REQUEST_INVALID with every difference of its body. `what` is what the id in the path is of.
 */
export const refusedRequest =
  (what: string) =>
  (errors: readonly FastifySchemaValidationError[], part: string): ProblemError => {
    if (part === 'body') return invalidBody(errors)
    const parameter = errors[0]?.instancePath.slice(1) || 'id'
    const [detail, fix] = PARAMETERS[parameter] ?? otherParameter(part, parameter, what)
    return new ProblemError({
      status: 400,
      code: 'BATON_PARAMETER_INVALID',
      detail,
      fix,
      parameter,
    })
  }

const otherParameter = (part: string, name: string, what: string) =>
  part === 'params'
    ? ([`the ${what} id is not a lower-case UUID`, 'Use the id as it was answered.'] as const)
    : filter(name)

const filter = (name: string) =>
  [
    `the query parameter ${name} cannot be read`,
    `Give one text of at most ${FILTER_MAX} characters.`,
  ] as const

const PARAMETERS: Readonly<Record<string, readonly [detail: string, fix: string]>> = {
  limit: [
    'the query parameter limit is out of bounds',
    `Use a whole number from 1 to ${LIMIT_MAX}.`,
  ],
  mode: ['the query parameter mode is not a mode', 'Use async or sync, once.'],
  after: [
    'the query parameter after, or the header Last-Event-ID, is no number of a chunk',
    'Use the number of the last chunk that was read; 0 reads from the beginning.',
  ],
  branch: ['the place of the branch is no number', 'Use `href` as it stands beside `cut`.'],
  status: [
    'the query parameter status is not a task status',
    `Use one of ${TASK_STATUSES.join(', ')}.`,
  ],
  idPrefix: [
    'the query parameter idPrefix is not the beginning of a task id',
    'Use at least its first 4 hexadecimal digits, in lower case.',
  ],
  transport: ['the query parameter transport is no transport', 'Use http, queue or temporal.'],
  from: filter('from'),
  to: filter('to'),
  state: ['the query parameter state is not a state', 'Use one of those that /openapi.json lists.'],
  severity: ['the query parameter severity is not a severity', 'Use page or ticket.'],
  cursor: [
    'the query parameter cursor is no cursor',
    'Use nextCursor as the page before answered it.',
  ],
  kind: filter('kind'),
  reason: filter('reason'),
  cluster: filter('cluster'),
  sender: filter('sender'),
  fromPrefix: filter('fromPrefix'),
  toPrefix: filter('toPrefix'),
  before: ['the query parameter before is no time', 'Use one such as 2026-11-23T01:02:03Z.'],
  since: ['the query parameter since is no time', 'Use one such as 2026-11-23T01:02:03Z.'],
}

function invalidBody(found: readonly FastifySchemaValidationError[]): ProblemError {
  const errors = found
    .filter(({ keyword }) => keyword !== 'propertyNames' && keyword !== 'if')
    .slice(0, ERRORS_MAX)
    .map(itemOf)
  return new ProblemError({
    status: 422,
    code: 'BATON_REQUEST_INVALID',
    detail: errors[0]?.detail ?? 'the body does not have the form of a handoff',
    fix: errors[0]?.fix ?? 'Compare it with /openapi.json.',
    errors,
  })
}

function itemOf(error: FastifySchemaValidationError & { propertyName?: string }): ProblemItem {
  const { instancePath, keyword: rule, message = '', params, propertyName } = error
  const member = params['missingProperty'] ?? params['additionalProperty'] ?? propertyName
  const pointer =
    typeof member === 'string' ? pointerTo(instancePath, member.slice(0, 256)) : instancePath
  return {
    pointer,
    rule,
    detail: DETAILS[rule] ?? `the value ${message}`,
    fix: FIXES[rule] ?? `Make it fit: it ${message}.`,
  }
}

const DETAILS: Readonly<Record<string, string>> = {
  required: 'the field is missing',
  additionalProperties: 'there is no such field here',
}

const FIXES: Readonly<Record<string, string>> = {
  required: 'Add the field.',
  additionalProperties: 'Remove the field, or correct its name; /openapi.json lists all of them.',
}
