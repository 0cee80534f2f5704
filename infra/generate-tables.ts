// Writes the tables of a database as types, from its migrations; with --check it only says whether they are up to date.
// A contract test holds what is written to what a migrated database says of itself.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'

const DATABASES = [
  { of: 'packages/store/migrations/', named: 'Tables', in: 'store' },
  { of: 'packages/audit/migrations/audit/', named: 'AuditTables', in: 'audit' },
  { of: 'packages/audit/migrations/vault/', named: 'VaultTables', in: 'audit' },
] as const

const root = new URL('../', import.meta.url)

interface Column {
  readonly type: string
  /** The texts that a check allows, where it names them all. */
  readonly choices: readonly string[]
  readonly isNullable: boolean
  /** Whether an insert may leave it out. */
  readonly hasDefault: boolean
}

type Tables = Map<string, Map<string, Column>>

/** The tables that these migrations leave behind, one after the other. */
function readTables(migrations: readonly string[]): Tables {
  const tables: Tables = new Map()
  for (const migration of migrations) {
    const text = migration.replaceAll(/--.*$/gm, '')
    for (const [, name = '', body = ''] of text.matchAll(
      /^create table (?:if not exists )?(\S+) \(\n(.*?)^\)/gms,
    )) {
      tables.set(name, columnsOf(items(body)))
    }
    for (const [, name = '', body = ''] of text.matchAll(/^alter table (\S+)\s(.*?);/gms)) {
      for (const item of items(body)) alter(tables, name, item)
    }
    for (const [, name = ''] of text.matchAll(/^drop table (\S+);/gm)) tables.delete(name)
  }
  return tables
}

/** What stands between the commas that no parenthesis encloses. */
function items(body: string): string[] {
  const found = ['']
  let depth = 0
  for (const character of body) {
    depth += Number(character === '(') - Number(character === ')')
    if (character === ',' && depth === 0) found.push('')
    else found.push(`${found.pop() ?? ''}${character}`)
  }
  return found.map((item) => item.replaceAll(/\s+/g, ' ').trim()).filter((item) => item !== '')
}

const CONSTRAINT = /^(?:primary key|unique|constraint|check|foreign key|exclude)\b/

function columnsOf(definitions: readonly string[]): Map<string, Column> {
  const columns = definitions.filter((item) => !CONSTRAINT.test(item)).map(columnOf)
  const keys = definitions.flatMap(
    (item) => /^primary key \((.*)\)/.exec(item)?.[1]?.split(', ') ?? [],
  )
  return new Map(
    columns.map(({ name, ...column }) => [
      name,
      keys.includes(name) ? { ...column, isNullable: false } : column,
    ]),
  )
}

function columnOf(definition: string): Column & { readonly name: string } {
  const [name = '', type = ''] = definition.split(' ')
  return {
    name,
    type,
    choices: choicesOf(name, definition),
    isNullable: !/ (?:not null|primary key)\b/.test(definition),
    hasDefault: / (?:default|generated)\b/.test(definition),
  }
}

/** From `check (name in ('a', 'b'))`. */
function choicesOf(name: string, definition: string): string[] {
  const [, checked, list = ''] = / check \((\w+) in ?\(([^)]*)\)\)/.exec(definition) ?? []
  return checked === name ? list.split(',').map((choice) => choice.trim()) : []
}

const LEAVES_COLUMNS =
  /^(?:add constraint|add primary key|drop constraint|validate constraint|enable|disable|alter column \S+ set storage)\b/

function alter(tables: Tables, name: string, item: string): void {
  const columns = tables.get(name) ?? new Map<string, Column>()
  const [, from, to = ''] = /^rename(?: column (\S+))? to (\S+)$/.exec(item) ?? []
  if (to === '') change(columns, item)
  else if (from !== undefined) tables.set(name, renamed(columns, from, to))
  else {
    tables.delete(name)
    tables.set(to, columns)
  }
}

/** The same entries in the same order, one of them under another key. */
const renamed = <Value>(entries: Map<string, Value>, from: string, to: string) =>
  new Map([...entries].map(([key, value]) => [key === from ? to : key, value]))

function change(columns: Map<string, Column>, item: string): void {
  const added = /^add column (?:if not exists )?(.*)/.exec(item)?.[1]
  const [, changed = '', isNullable] =
    /^alter column (\S+) (drop not null|set not null)/.exec(item) ?? []
  const column = columns.get(changed)
  const [, checked = ''] = /^add constraint \w+ check \((\w+) in /.exec(item) ?? []
  const narrowed = columns.get(checked)
  if (narrowed !== undefined)
    columns.set(checked, { ...narrowed, choices: choicesOf(checked, ` ${item}`) })
  else if (added !== undefined) {
    const { name, ...rest } = columnOf(added)
    columns.set(name, rest)
  } else if (column !== undefined) {
    columns.set(changed, { ...column, isNullable: isNullable === 'drop not null' })
  } else if (!LEAVES_COLUMNS.test(item)) {
    throw new TypeError(`what becomes of a table is not known: ${item}`)
  }
}

const TYPES: Readonly<Record<string, string>> = {
  boolean: 'boolean',
  bytea: 'Buffer',
  bigint: 'number',
  float8: 'number',
  integer: 'number',
  jsonb: 'unknown',
  smallint: 'number',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
}

function typeOf({ type, choices, isNullable, hasDefault }: Column): string {
  const element = choices.length > 0 ? choices.join(' | ') : TYPES[type.replace('[]', '')]
  if (element === undefined) throw new TypeError(`the type ${type} has no counterpart`)
  const value = type.endsWith('[]') ? `readonly ${element}[]` : element
  const told = isNullable && value !== 'unknown' ? `${value} | null` : value
  return hasDefault ? `Generated<${told}>` : told
}

function render(named: string, tables: Tables): string {
  const rendered = [...tables].map(([table, columns]) => {
    const lines = [...columns].map(([name, column]) => `    ${name}: ${typeOf(column)}\n`)
    return `  '${table}': {\n${lines.join('')}  }\n`
  })
  return `export interface ${named} {\n${rendered.join('')}}\n`
}

const GENERATED_TYPE = '@baton/postgres/statements'
const BANNER = `// Generated from the migrations by infra/generate-tables.ts; do not edit.
import type { Generated } from '${GENERATED_TYPE}'
`

function pageOf(owner: string): string {
  const databases = DATABASES.filter((database) => database.in === owner)
  const tables = databases.map(({ of, named }) => {
    const folder = new URL(of, root)
    const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
    return render(
      named,
      readTables(names.toSorted().map((name) => readFileSync(new URL(name, folder), 'utf8'))),
    )
  })
  return [BANNER, ...tables].join('\n')
}

const check = process.argv.includes('--check')
for (const owner of new Set(DATABASES.map((database) => database.in))) {
  const path = `packages/${owner}/src/generated/tables.ts`
  const wanted = pageOf(owner)
  let found = ''
  try {
    found = readFileSync(new URL(path, root), 'utf8')
  } catch {
    // Written for the first time.
  }
  if (wanted === found) continue
  console.error(`${check ? 'out of date' : 'written'}: ${path}`)
  if (check) process.exitCode = 1
  else writeFileSync(new URL(path, root), wanted)
}
