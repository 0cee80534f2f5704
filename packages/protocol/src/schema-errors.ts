// Turns what the schema validator found into details a person can act on.
import type { ErrorObject } from 'ajv/dist/2020.js'
import { boundedPointer, DETAILS_MAX } from './detail.ts'
import type { Detail } from './detail.ts'
import { pointerTo } from './json.ts'

/** One detail per place, at most DETAILS_MAX; the value itself is never repeated. */
export function describeSchemaErrors(errors: readonly ErrorObject[]): readonly Detail[] {
  const byPlace = new Map<string, Detail>()
  for (const error of errors) {
    if (byPlace.size >= DETAILS_MAX) break
    const pointer = pointerOf(error)
    if (!byPlace.has(pointer)) byPlace.set(pointer, describe(error, pointer))
  }
  return [...byPlace.values()]
}

function pointerOf({ instancePath, params, propertyName }: ErrorObject): string {
  const found: Readonly<Record<string, unknown>> = params
  const member = found['missingProperty'] ?? found['additionalProperty'] ?? propertyName
  return boundedPointer(typeof member === 'string' ? pointerTo(instancePath, member) : instancePath)
}

function describe(error: ErrorObject, pointer: string): Detail {
  const { keyword: rule, message = 'is not valid' } = error
  const expected = expectedOf(error)
  return {
    pointer,
    rule,
    message: MESSAGES[rule] ?? `the value ${message}`,
    fix: FIXES[rule] ?? `Make it fit: it ${message}.`,
    ...(expected === undefined ? {} : { expected }),
  }
}

const MESSAGES: Readonly<Record<string, string>> = {
  required: 'the field is missing',
  additionalProperties: 'the schema version of the message does not know this field',
  pattern: 'the text does not have the right form',
  uniqueItems: 'the list holds the same entry twice',
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

/** What the schema asks for: its own words where a pattern would say little, else the bound. */
function expectedOf({ keyword, params, parentSchema }: ErrorObject): string | undefined {
  const description: unknown = parentSchema?.['description']
  if (FORMS.has(keyword) && typeof description === 'string') return description
  const value: unknown = (params as Record<string, unknown>)[EXPECTED_PARAMS[keyword] ?? '']
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return undefined
}

const FORMS = new Set(['pattern', 'format'])

const EXPECTED_PARAMS: Readonly<Record<string, string>> = {
  type: 'type',
  enum: 'allowedValues',
  pattern: 'pattern',
  format: 'format',
  minimum: 'limit',
  maximum: 'limit',
  minLength: 'limit',
  maxLength: 'limit',
  minItems: 'limit',
  maxItems: 'limit',
}
