// Reads JSON that somebody else wrote, against a schema of this program: strictly, and saying where it is wrong.
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Detail } from './detail.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import { parseMessage } from './parse-message.ts'
import { describeSchemaErrors } from './schema-errors.ts'

export type DocumentCheck<Document> =
  | { readonly ok: true; readonly document: Document }
  | { readonly ok: false; readonly details: readonly Detail[] }

/** The first wrong place, by its JSON pointer, and what is wrong there. */
export const firstProblem = ([wrong]: readonly Detail[]): string =>
  `${wrong?.pointer ?? ''}: ${wrong?.message ?? 'is wrong'}`

/**
 * What reads bytes as a document of the schema, with the defaults it names: strict JSON within the limits of a message. Compiled at its
 * first use; never throws.
 */
export function createDocumentCheck<Document>(
  schema: object,
): (bytes: Uint8Array) => DocumentCheck<Document> {
  const compile = () => {
    const ajv = new Ajv2020({
      strict: true,
      // What a condition asks for stands in another branch than what it is asked of.
      strictTypes: false,
      strictRequired: false,
      ownProperties: true,
      useDefaults: true,
      allErrors: true,
      verbose: true,
    })
    addFormats.default(ajv, { mode: 'full', formats: ['date-time', 'uuid'] })
    return ajv.compile<Document>(schema)
  }
  let validate: ReturnType<typeof compile> | undefined
  return (bytes) => {
    const parsed = parseMessage(bytes, DEFAULT_LIMITS)
    if (!parsed.ok) return parsed
    validate ??= compile()
    const document: unknown = parsed.value
    if (validate(document)) return { ok: true, document }
    return { ok: false, details: describeSchemaErrors(validate.errors ?? []) }
  }
}
