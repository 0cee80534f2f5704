// Writes the table of the chart's values from its schema and its defaults; with --check it only says whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { markdownTable } from './markdown-table.ts'

interface Schema {
  readonly description?: string
  readonly type?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
}

const CHART = fileURLToPath(new URL('kubernetes/baton/', import.meta.url))
const PAGE = `${CHART}README.md`
/** Of every process the same: told once, below. */
const OF_EVERY_PROCESS = 'receiverDefaults'

const schema = JSON.parse(readFileSync(`${CHART}values.schema.json`, 'utf8')) as Schema
const defaults = parse(readFileSync(`${CHART}values.yaml`, 'utf8')) as Record<string, unknown>

const INTRODUCTION = `# Chart of Baton

Every value of the chart. What stands nowhere here is refused. How an installation is made, upgraded and checked stands in
[kubernetes.md](../../kubernetes.md).

This file is written by \`node infra/generate-chart.ts\` from values.schema.json and values.yaml; do not edit it.`

const HEADINGS = ['value', 'default', 'meaning']

function page(): string {
  const common = sharedKeys()
  const rows = rowsOf(schema, { path: [], value: defaults, skip: common })
  const shared = rowsOf(propertyOf(OF_EVERY_PROCESS), {
    path: [],
    value: {},
    only: common,
  })
  return `${[
    INTRODUCTION,
    markdownTable(HEADINGS, rows),
    '## Of every process',
    'gateway, relay, receiverDefaults, each of receivers, auditor, sealer, archiver, witness, migrate and operator have these too.',
    markdownTable(HEADINGS, shared),
  ].join('\n\n')}\n`
}

interface Walk {
  readonly path: readonly string[]
  readonly value: unknown
  readonly skip?: ReadonlySet<string>
  readonly only?: ReadonlySet<string>
}

function rowsOf(node: Schema, { path, value, skip, only }: Walk): string[][] {
  const { properties } = resolved(node)
  if (properties === undefined) {
    const choice = node.enum === undefined ? '' : `One of ${node.enum.join(', ')}. `
    return [[`\`${path.join('.')}\``, shown(value), `${choice}${node.description ?? ''}`]]
  }
  const own = Object.entries(properties).filter(
    ([key]) => (only?.has(key) ?? true) && !(isProcess(path) && skip?.has(key) === true),
  )
  const nested = own.flatMap(([key, child]) =>
    rowsOf(child, {
      path: [...path, key],
      value: (value as Record<string, unknown> | undefined)?.[key],
      ...(skip === undefined ? {} : { skip }),
    }),
  )
  const about = node.description
  const isTop = path.length === 1 && about !== undefined
  return isTop ? [[`**${path[0]}**`, '', about], ...nested] : nested
}

const resolved = (node: Schema): Schema =>
  node.$ref === undefined
    ? node
    : { ...schema.$defs?.[node.$ref.replace('#/$defs/', '')], ...pickDescription(node) }

const pickDescription = ({ description }: Schema) =>
  description === undefined ? {} : { description }

function propertyOf(name: string): Schema {
  const found = schema.properties?.[name]
  if (found === undefined) throw new Error(`the schema has no ${name}`)
  return found
}

/** What all processes may be told. */
function sharedKeys(): ReadonlySet<string> {
  const keys = (name: string) => Object.keys(propertyOf(name).properties ?? {})
  return new Set(keys('operator').filter((key) => keys('gateway').includes(key)))
}

const isProcess = (path: readonly string[]): boolean =>
  path.length === 1 &&
  schema.properties?.[path[0] ?? '']?.properties?.['accountAnnotations'] !== undefined

function shown(value: unknown): string {
  if (value === undefined || value === '') return ''
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``
}

const wanted = page()
if (wanted !== read()) {
  const isCheck = process.argv.includes('--check')
  process.stderr.write(
    `${isCheck ? 'not up to date' : 'written'}: infra/kubernetes/baton/README.md\n`,
  )
  if (isCheck) process.exitCode = 1
  else writeFileSync(PAGE, wanted)
}

function read(): string {
  try {
    return readFileSync(PAGE, 'utf8')
  } catch {
    return ''
  }
}
