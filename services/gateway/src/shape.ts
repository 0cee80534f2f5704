// Says where a body differs from the form it should have, in pointers a caller can follow.
import type { FastifyRequest } from 'fastify'
import { ProblemError } from './problem.ts'
import type { ProblemItem } from './problem.ts'

const ERRORS_MAX = 50

interface FoundError {
  readonly instancePath: string
  readonly keyword: string
  readonly message?: string
  readonly params: Readonly<Record<string, unknown>>
  readonly propertyName?: string
}

/** Throws 422 BATON_REQUEST_INVALID with every difference between `value` and `schema`. */
export function requireShape(request: FastifyRequest, schema: object, value: unknown): void {
  const check = request.compileValidationSchema(schema)
  if (check(value)) return
  const found = (check.errors ?? []) as readonly FoundError[]
  const errors = found
    .filter(({ keyword }) => keyword !== 'propertyNames')
    .slice(0, ERRORS_MAX)
    .map(itemOf)
  throw new ProblemError({
    status: 422,
    code: 'BATON_REQUEST_INVALID',
    detail: errors[0]?.detail ?? 'The body does not have the form of a handoff',
    fix: errors[0]?.fix ?? 'Compare it with /openapi.json.',
    errors,
  })
}

function itemOf({
  instancePath,
  keyword: rule,
  message = '',
  params,
  propertyName,
}: FoundError): ProblemItem {
  const member = params['missingProperty'] ?? params['additionalProperty'] ?? propertyName
  const pointer = typeof member === 'string' ? `${instancePath}/${escaped(member)}` : instancePath
  return {
    pointer,
    rule,
    detail: DETAILS[rule] ?? `The value ${message}`,
    fix: FIXES[rule] ?? `Make it fit: it ${message}.`,
  }
}

const escaped = (token: string): string =>
  token.slice(0, 256).replaceAll('~', '~0').replaceAll('/', '~1')

const DETAILS: Readonly<Record<string, string>> = {
  required: 'The field is missing',
  additionalProperties: 'There is no such field here',
}

const FIXES: Readonly<Record<string, string>> = {
  required: 'Add the field.',
  additionalProperties: 'Remove the field, or correct its name; /openapi.json lists all of them.',
}
