// Turns what the schema validator found into details a person can act on.
import type { ErrorObject } from 'ajv/dist/2020.js'
import { DETAILS_MAX, type Detail } from './detail.ts'
import { pointerTo } from './json.ts'

/** One detail per error, at most DETAILS_MAX; the value itself is never repeated. */
export function describeSchemaErrors(errors: readonly ErrorObject[]): readonly Detail[] {
  return errors.slice(0, DETAILS_MAX).map(describe)
}

function describe(error: ErrorObject): Detail {
  const { keyword: rule, instancePath, params, message = 'is not valid' } = error
  const member = memberOf(params)
  const pointer = member === undefined ? instancePath : pointerTo(instancePath, member)
  const expected = expectedOf(error)
  return {
    pointer,
    rule,
    message: MESSAGES[rule] ?? sentence(message),
    fix: FIXES[rule] ?? `Make it fit: it ${message}.`,
    ...(expected === undefined ? {} : { expected }),
  }
}

function memberOf(params: Readonly<Record<string, unknown>>): string | undefined {
  const name = params['missingProperty'] ?? params['additionalProperty'] ?? params['propertyName']
  return typeof name === 'string' ? name : undefined
}

const MESSAGES: Readonly<Record<string, string>> = {
  required: 'The field is missing',
  additionalProperties: 'The schema version of the message does not know this field',
  pattern: 'The text does not have the required form',
  uniqueItems: 'The list holds the same entry twice',
}

const FIXES: Readonly<Record<string, string>> = {
  required: 'Add the field.',
  additionalProperties: 'Remove the field, name it x-..., or send the schema version that has it.',
  pattern: 'Write it in the form that the schema gives.',
  format: 'Write a value that exists, in the form that the schema gives.',
  type: 'Send a value of the expected type.',
  enum: 'Use one of the allowed values.',
  uniqueItems: 'List every entry once.',
}

function expectedOf({ keyword, params }: ErrorObject): string | undefined {
  const value: unknown = (params as Record<string, unknown>)[EXPECTED_PARAMS[keyword] ?? '']
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return undefined
}

const EXPECTED_PARAMS: Readonly<Record<string, string>> = {
  type: 'type',
  enum: 'allowedValues',
  pattern: 'pattern',
  format: 'format',
  minimum: 'limit',
  maximum: 'limit',
  minLength: 'limit',
  maxLength: 'limit',
  maxItems: 'limit',
}

function sentence(message: string): string {
  return `The value ${message}`
}
