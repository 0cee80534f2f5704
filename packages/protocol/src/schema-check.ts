// Checks a message against the published JSON Schema of its version (E05).
import handoff20 from '@baton/schemas/handoff/2.0.json' with { type: 'json' }
import handoff21 from '@baton/schemas/handoff/2.1.json' with { type: 'json' }
import handoff22 from '@baton/schemas/handoff/2.2.json' with { type: 'json' }
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { createDeprecationCheck } from './deprecations.ts'
import type { Detail } from './detail.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { JsonValue } from './json.ts'
import { describeSchemaErrors } from './schema-errors.ts'
import { readSchemaVersion } from './schema-version.ts'

export type SchemaCheck =
  | {
      readonly ok: true
      readonly message: HandoffMessage
      /** Deprecated members that it has. */
      readonly warnings: readonly Detail[]
    }
  | { readonly ok: false; readonly details: readonly Detail[] }

/** Checks version, required fields and types. Stops at the first error, and only then lists all. */
export function checkSchema(value: JsonValue): SchemaCheck {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { ok: false, details: [NOT_AN_OBJECT] }
  const version = readSchemaVersion((value as Record<string, JsonValue>)['schemaVersion'])
  if (!version.ok) return { ok: false, details: [version.detail] }
  const name = version.known ? (`2.${version.minor}` as Exclude<Name, 'newer'>) : 'newer'
  const first = validator(name, 'first')
  if (first(value)) return { ok: true, message: value, warnings: DEPRECATIONS[name](value) }
  const all = validator(name, 'all')
  all(value)
  return { ok: false, details: describeSchemaErrors(all.errors ?? []) }
}

/** Compiles the validators that every delivery needs, so that the first one does not wait for it. */
export function prepareSchemas(): void {
  validator('2.0', 'first')
  validator('2.1', 'first')
  validator('2.2', 'first')
}

const NOT_AN_OBJECT: Detail = {
  pointer: '',
  rule: 'type',
  message: 'a handoff message is a JSON object',
  fix: 'Send the message itself, not a list or a text that holds it.',
}

type Name = '2.0' | '2.1' | '2.2' | 'newer'

/** A newer minor may bring fields that are unknown here; they stay in the signed bytes. */
const DOCUMENTS = {
  '2.0': handoff20,
  '2.1': handoff21,
  '2.2': handoff22,
  newer: { ...handoff22, $id: `${handoff22.$id}:newer`, additionalProperties: true },
} satisfies Record<Name, object>

const DEPRECATIONS = {
  '2.0': createDeprecationCheck(handoff20),
  '2.1': createDeprecationCheck(handoff21),
  '2.2': createDeprecationCheck(handoff22),
  newer: createDeprecationCheck(handoff22),
} satisfies Record<Name, unknown>

type Validator = ValidateFunction<HandoffMessage>

const compiled = new Map<string, Validator>()

function validator(name: Name, errors: 'first' | 'all'): Validator {
  const key = `${name} ${errors}`
  const found = compiled.get(key) ?? compile(name, errors === 'all')
  compiled.set(key, found)
  return found
}

/** That the documents are schemas themselves is a test's business: to ask here took longer than compiling them. */
const TRUSTED = { validateSchema: false, meta: false }

function compile(name: Name, allErrors: boolean): Validator {
  const strictness = { strict: true, ownProperties: true, allErrors, verbose: allErrors }
  const ajv = new Ajv2020({ ...strictness, ...TRUSTED })
  addFormats.default(ajv, { mode: 'full', formats: ['date-time', 'uri'] })
  return ajv.compile<HandoffMessage>(DOCUMENTS[name])
}
