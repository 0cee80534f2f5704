// Writes reference/http.md and reference/auditor-http.md from the OpenAPI documents of gateway and auditor; with --check it only says whether it is up to date.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { markdownTable } from './markdown-table.ts'
import { inCell, typeOf } from './schema-words.ts'
import type { JsonSchema } from './schema-words.ts'
import { writePage } from './write-page.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}
interface Body {
  readonly content?: Readonly<
    Record<
      string,
      {
        readonly schema?: JsonSchema
        readonly examples?: Readonly<
          Record<string, { readonly summary: string; readonly value: unknown }>
        >
      }
    >
  >
}
interface Operation {
  readonly operationId: string
  readonly tags: readonly [string]
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: Body
  readonly responses: Readonly<Record<string, Body & { readonly description: string }>>
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[]
}
interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

const INTRODUCTION = `# HTTP interface of the gateway

Every route, as the schemas that check requests describe it. A running gateway answers the same as OpenAPI at \`/openapi.json\`; clients in
[TypeScript](../../clients/typescript/baton.ts) and [Python](../../clients/python/baton.py) are one file each. The auditor's routes are
[a page of their own](auditor-http.md).

Callers send \`Authorization: Bearer …\`: an [API key](../keys.md) or an [access token](../oidc.md). Every error is a problem document (RFC 9457) with a stable
[code](../errors.md), a JSON pointer to what is wrong, and how to mend it; 429 and 503 say in \`Retry-After\` when to come back.

This file is written by \`node infra/generate-http.ts\`; do not edit it.`

const AUDITOR_INTRODUCTION = `# HTTP interface of the auditor

Every route of the tamper-evident log, with the schemas that check its requests. A running auditor answers the same as OpenAPI at \`/openapi.json\`. A route whose token
is not set answers 404 or 403; [the processes](../../services/README.md#auditor) says which setting holds which token.

Callers send \`Authorization: Bearer …\`: the token of that right, or an [access token](../oidc.md) with the role for it. Every error is a problem document (RFC 9457) with a
stable [code](../errors.md), a JSON pointer to what is wrong, and how to mend it; 503 says in \`Retry-After\` when to come back.

This file is written by \`node infra/generate-http.ts\`; do not edit it.`

/** What every route may answer is said once. */
type Everywhere = Readonly<Record<string, string>>

const OF_AUDITOR: Everywhere = {
  401: 'No bearer token',
  403: 'The token does not allow this',
  503: 'Overloaded, or a database does not answer',
}

const OF_GATEWAY: Everywhere = {
  400: 'The request cannot be read',
  401: 'No valid API key or access token',
  403: 'It may not do this: the scope is missing',
  413: 'The body is too large',
  415: 'The content type is not application/json, or the body is compressed',
  429: 'Too many requests, or too much waits for delivery',
  503: 'A database or the audit log cannot be reached',
}

/** Of the document whose page is being written. */
let names: ReadonlySet<string> = new Set()

const linked = (schema: JsonSchema): string =>
  typeOf(schema, (name) => (names.has(name) ? `[${name}](#${name.toLowerCase()})` : name))

function bodyOf({ content = {} }: Body): string {
  const types = Object.entries(content).map(([type, { schema }]) => {
    const shown = schema === undefined ? '' : linked(schema)
    return type === 'application/json' ? shown : `\`${type}\`${shown === '' ? '' : `: ${shown}`}`
  })
  return [...new Set(types)].filter((type) => type !== '').join(' or ')
}

function operation(
  { method, path }: { readonly method: string; readonly path: string },
  one: Operation,
  everywhere: Everywhere,
): string {
  const scopes = (one.security ?? []).flatMap((by) => Object.entries(by))
  const scope = scopes.map(([by, scopesOf]) =>
    by === 'peerToken' ? 'the token of a peer' : scopesOf.map((name) => `\`${name}\``).join(', '),
  )
  const needs = scopes.length === 0 ? 'Needs nothing.' : `Needs ${scope.join(' or ')}.`
  const given = (one.parameters ?? [])
    .filter(({ name }) => !name.startsWith('trace'))
    .map(({ name, in: where, required, description = '', schema }) => [
      `\`${name}\``,
      where,
      `${linked(schema)}${required ? ', **required**' : ''}`,
      inCell(description),
    ])
  const answers = Object.entries(one.responses)
    .filter(([status]) => !(status in everywhere))
    .map(([status, response]) => [status, inCell(response.description), bodyOf(response)])
  const request = one.requestBody ?? {}
  const body = bodyOf(request)
  return [
    `### \`${method.toUpperCase()} ${path}\``,
    `${one.summary}. ${one.description ?? ''}`.trim(),
    `${needs}${body === '' ? '' : ` Takes ${body}.`} \`${one.operationId}\` in OpenAPI.`,
    ...(given.length === 0 ? [] : [markdownTable(['parameter', 'in', 'type', 'meaning'], given)]),
    ...inlineFields('It takes:', request),
    ...examplesOf(request),
    ...(answers.length === 0 ? [] : [markdownTable(['answer', 'when', 'body'], answers)]),
    ...Object.entries(one.responses).flatMap(([status, response]) =>
      inlineFields(`The body of ${status}:`, response),
    ),
  ].join('\n\n')
}

/** Fields and, below them, those of the objects in them: `agent.agentId`, `branches[].handoffId`. */
function fieldsOf(schema: JsonSchema, path = ''): readonly (readonly string[])[] {
  const choices = schema.oneOf ?? schema.anyOf ?? []
  if (choices.length > 0) return choices.flatMap((one) => fieldsOf(one, path))
  if (schema.items !== undefined) return fieldsOf(schema.items, `${path}[]`)
  return Object.entries(schema.properties ?? {}).flatMap(([field, one]) => {
    const place = path === '' ? field : `${path}.${field}`
    const required = schema.required?.includes(field) === true ? ', **required**' : ''
    const row = [`\`${place}\``, `${linked(one)}${required}`, inCell(one.description ?? '')]
    return [row, ...fieldsOf(one, place)]
  })
}

const FIELD_TITLES = ['field', 'type', 'meaning']

/** What an operation takes or answers that has no name of its own. */
function inlineFields(words: string, { content = {} }: Body): readonly string[] {
  const fields = Object.values(content).flatMap(({ schema }) =>
    schema === undefined ? [] : fieldsOf(schema),
  )
  return fields.length === 0 ? [] : [words, markdownTable(FIELD_TITLES, fields)]
}

function examplesOf({ content = {} }: Body): readonly string[] {
  return Object.values(content)
    .flatMap(({ examples = {} }) => Object.values(examples))
    .map(({ summary, value }) => `${summary}:\n\n\`\`\`json\n${shownJson(value)}\n\`\`\``)
}

function schemaSection([name, schema]: readonly [string, JsonSchema]): string {
  const fields = fieldsOf(schema)
  const words = schema.description ?? ''
  const shape = fields.length > 0 ? markdownTable(FIELD_TITLES, fields) : linked(schema)
  return [`### ${name}`, ...(words === '' ? [] : [words]), shape].join('\n\n')
}

interface Page {
  readonly source: string
  readonly target: string
  readonly introduction: string
  readonly everywhere: Everywhere
}

function write({ source, target, introduction, everywhere }: Page): void {
  const file = new URL(`../services/${source}/openapi.json`, import.meta.url)
  const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as OpenApi
  names = new Set(Object.keys(components.schemas))
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      group: one.tags[0],
      text: operation({ method, path }, one, everywhere),
    })),
  )
  const groups = [...Map.groupBy(routes, ({ group }) => group)].map(
    ([group, all]) => `## ${group}\n\n${all.map(({ text }) => text).join('\n\n')}`,
  )
  writePage(
    fileURLToPath(new URL(`reference/${target}.md`, import.meta.url)),
    [
      introduction,
      '## What every route may answer',
      markdownTable(['answer', 'when'], Object.entries(everywhere)),
      ...groups,
      '## Bodies',
      ...Object.entries(components.schemas).map(schemaSection),
    ].join('\n\n'),
  )
}

write({
  source: 'gateway',
  target: 'http',
  introduction: INTRODUCTION,
  everywhere: OF_GATEWAY,
})
write({
  source: 'auditor',
  target: 'auditor-http',
  introduction: AUDITOR_INTRODUCTION,
  everywhere: OF_AUDITOR,
})

/** As the formatter of the pages leaves it: a list of one short text stands on one line. */
function shownJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replaceAll(/\[\n\s+("[^"\n]*")\n\s+\]/g, '[$1]')
}
