// Writes clients/typescript/generated/operations.ts from openapi.json; with --check it only says whether the file is up to date.
import { readFileSync, writeFileSync } from 'node:fs'

interface Schema {
  readonly [key: string]: unknown
}

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly requestBody?: Content & { readonly required?: boolean }
  readonly responses: Readonly<Record<string, Content>>
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
    readonly required?: boolean
  }[]
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
}

const TARGET = new URL('../../clients/typescript/generated/operations.ts', import.meta.url)
const { components, paths } = JSON.parse(
  readFileSync(new URL('openapi.json', import.meta.url), 'utf8'),
) as {
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}

const list = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value : [])
const union = (types: readonly string[]): string => [...new Set(types)].join(' | ')

/** What TypeScript can say of a schema. */
function typeOf(schema: Schema): string {
  if (typeof schema['$ref'] === 'string') return schema['$ref'].split('/').at(-1) ?? 'unknown'
  if ('const' in schema) return JSON.stringify(schema['const'])
  if (Array.isArray(schema['enum'])) return union(schema['enum'].map((one) => JSON.stringify(one)))
  const either = [...list(schema['oneOf']), ...list(schema['anyOf'])]
  // Alternatives that only say which members there must be change nothing about the members.
  if (either.length > 0 && schema['properties'] === undefined) return union(either.map(typeOf))
  const forms = list(schema['allOf']).flatMap(({ else: form }) => (form ? [form as Schema] : []))
  if (forms.length > 0) return union(forms.map(typeOf))
  if (Array.isArray(schema['type']))
    return union(schema['type'].map((type: string) => typeOf({ ...schema, type })))
  return plainTypeOf(schema)
}

function plainTypeOf(schema: Schema): string {
  switch (schema['type']) {
    case 'string':
    case 'boolean':
    case 'null':
    case 'number':
      return schema['type']
    case 'integer':
      return 'number'
    case 'array':
      return `readonly (${typeOf((schema['items'] ?? {}) as Schema)})[]`
    case 'object':
      return objectOf(schema)
    default:
      return 'unknown'
  }
}

function objectOf({ properties, required, additionalProperties }: Schema): string {
  if (properties === undefined) {
    const known = typeof additionalProperties === 'object' && additionalProperties !== null
    return `Readonly<Record<string, ${known ? typeOf(additionalProperties as Schema) : 'unknown'}>>`
  }
  const needed = Array.isArray(required) ? (required as readonly string[]) : []
  const members = Object.entries(properties as Readonly<Record<string, Schema>>).map(
    ([name, schema]) => member(name, schema, needed.includes(name)),
  )
  return `{\n${members.join('\n')}\n}`
}

function member(name: string, schema: Schema, isNeeded: boolean): string {
  const { description } = schema
  const told = typeof description === 'string' ? `/** ${description.replaceAll('*/', '')} */\n` : ''
  return `${told}readonly ${JSON.stringify(name)}${isNeeded ? '' : '?'}: ${typeOf(schema)}`
}

const jsonOf = (content: Content | undefined): Schema | undefined =>
  content?.content?.['application/json']?.schema

function operation(method: string, path: string, told: Operation): string {
  const success = Object.entries(told.responses).filter(([status]) => status.startsWith('2'))
  const answers = success.map(([, response]) => jsonOf(response)).filter((one) => one !== undefined)
  const parameters = (place: string): string => {
    const own = (told.parameters ?? []).filter((one) => one.in === place)
    return objectOf({
      properties: Object.fromEntries(own.map(({ name, schema }) => [name, schema])),
      required: own.flatMap(({ name, required }) => (required === true ? [name] : [])),
    })
  }
  const body = jsonOf(told.requestBody)
  return `/** ${told.summary ?? ''} */
${told.operationId}: {
  readonly method: '${method.toUpperCase()}'
  readonly path: '${path}'
  readonly inPath: ${parameters('path')}
  readonly query: ${parameters('query')}
  readonly body: ${body === undefined ? 'undefined' : typeOf(body)}
  readonly answer: ${answers.length === 0 ? 'unknown' : union(answers.map(typeOf))}
}`
}

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, told]) => ({ method, path, told })),
)
const types = Object.entries(components.schemas).map(
  ([name, schema]) => `export type ${name} = ${typeOf(schema)}`,
)
const places = operations.map(
  ({ method, path, told }) => `${told.operationId}: ['${method.toUpperCase()}', '${path}'],`,
)
const wanted = `// Generated from services/gateway/openapi.json by services/gateway/generate-client.ts; do not edit.
${types.join('\n\n')}

/** Every operation, by its operationId. */
export interface Operations {
${operations.map(({ method, path, told }) => operation(method, path, told)).join('\n')}
}

/** Where each operation is. */
export const PLACES: { readonly [Name in keyof Operations]: readonly [string, string] } = {
${places.join('\n')}
}
`

if (wanted !== read()) {
  const check = process.argv.includes('--check')
  process.stderr.write(
    `${check ? 'out of date' : 'written'}: clients/typescript/generated/operations.ts\n`,
  )
  if (check) process.exitCode = 1
  else writeFileSync(TARGET, wanted)
}

function read(): string {
  try {
    return readFileSync(TARGET, 'utf8')
  } catch {
    return ''
  }
}
