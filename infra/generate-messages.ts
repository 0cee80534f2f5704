// Writes reference/messages.md from the newest schema of each format; with --check it only says whether it is up to date.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { markdownTable } from './markdown-table.ts'
import { inCell, typeOf } from './schema-words.ts'
import type { JsonSchema } from './schema-words.ts'
import { writePage } from './write-page.ts'

const SCHEMAS = new URL('../schemas/', import.meta.url)
const FORMATS = ['handoff', 'checkpoint', 'decision-record', 'dead-letter'] as const

const INTRODUCTION = `# Messages and records, field by field

The newest version of each format, from the schemas that check it. [How a format may change](../../schemas/README.md#how-it-may-change), what is signed and how versions
live side by side stands in [Formats](../../schemas/README.md). A running gateway publishes every version at \`/schemas\`, and it never changes.

This file is written by \`node infra/generate-messages.ts\`; do not edit it.`

type Titled = JsonSchema & { readonly title: string }

/** The versions of a format in order; the last is the newest. */
function newest(format: string): readonly [version: string, schema: Titled] {
  const versions = readdirSync(new URL(`${format}/`, SCHEMAS)).map((name) =>
    name.replace(/\.json$/, ''),
  )
  const version =
    versions.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })).at(-1) ??
    ''
  const text = readFileSync(new URL(`${format}/${version}.json`, SCHEMAS), 'utf8')
  return [version, JSON.parse(text) as Titled]
}

function fieldsOf(schema: JsonSchema, link: (name: string) => string): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    `\`${name}\``,
    `${typeOf(field, link)}${schema.required?.includes(name) === true ? ', **required**' : ''}`,
    inCell(field.description ?? ''),
  ])
  return markdownTable(['field', 'type', 'meaning'], rows)
}

const sections = FORMATS.map((format) => {
  const [version, schema] = newest(format)
  const parts = Object.entries(schema.$defs ?? {})
  const composed = new Set(
    parts.filter(([, one]) => one.properties !== undefined).map(([name]) => name),
  )
  const simple = new Map(parts.filter(([name]) => !composed.has(name)))
  const anchor = (name: string) => `${schema.title}-${name}`.toLowerCase()
  const link = (name: string): string =>
    composed.has(name) ? `[${name}](#${anchor(name)})` : typeOf(simple.get(name) ?? {}, link)
  const below = parts.flatMap(([name, one]) =>
    composed.has(name)
      ? [
          `### ${schema.title} ${name}`,
          ...(one.description === undefined ? [] : [one.description]),
          fieldsOf(one, link),
        ]
      : [],
  )
  return [
    `## ${schema.title} ${version}`,
    schema.description ?? '',
    fieldsOf(schema, link),
    ...below,
  ].join('\n\n')
})

writePage(
  fileURLToPath(new URL('reference/messages.md', import.meta.url)),
  [INTRODUCTION, ...sections].join('\n\n'),
)
