// The tables on which the statements of the audit store are written are those that its migrations make.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createPool } from '@baton/audit'
import { acquirePostgres, createAuditDatabases, uniqueDatabaseName } from '@baton/testkit'

const GENERATED = readFileSync(
  new URL('../../packages/audit/src/generated/tables.ts', import.meta.url),
  'utf8',
)

const TYPES: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'Buffer',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  jsonb: 'unknown',
  text: 'string',
  timestamptz: 'Date',
  uuid: 'string',
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
  readonly isNullable: boolean
  readonly hasDefault: boolean
}

const COLUMNS = `select n.nspname || '.' || c.relname as "table", a.attname as name, t.typname as type,
    not a.attnotnull as "isNullable", a.atthasdef or a.attidentity <> '' as "hasDefault"
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname, a.attnum`

function typed({ type, isNullable, hasDefault }: Column): string {
  const element = TYPES[type.replace(/^_/, '')]
  const value = type.startsWith('_') ? `readonly ${element}[]` : `${element}`
  const told = isNullable && value !== 'unknown' ? `${value} | null` : value
  return hasDefault ? `Generated<${told}>` : told
}

/** The tables of one schema as the file has them, by name. */
function generated(schema: string): Record<string, string> {
  const tables = GENERATED.matchAll(/ {2}'(\w+)\.(\w+)': \{\n(.*?) {2}\}\n/gs)
  return Object.fromEntries(
    [...tables].flatMap(([, of, name, body]) =>
      of === schema ? [[`${of}.${name}`, body ?? '']] : [],
    ),
  )
}

it.each(['audit', 'vault'] as const)('the schema %s', async (schema) => {
  const { adminUrl } = await acquirePostgres()
  const databases = { audit: uniqueDatabaseName('audit'), vault: uniqueDatabaseName('vault') }
  await createAuditDatabases(adminUrl, databases, 1)
  const url = new URL(adminUrl)
  url.pathname = `/${databases[schema]}`
  const pool = createPool({ url: url.href, applicationName: 'test' })
  try {
    const { rows } = await pool.query<Column & Record<string, unknown>>({
      text: COLUMNS,
      values: [schema],
    })
    const tables = [...Map.groupBy(rows, ({ table }) => table)].map(([table, columns]) => [
      table,
      columns.map((column) => `    ${column.name}: ${typed(column)}\n`).join(''),
    ])
    expect(generated(schema)).toEqual(Object.fromEntries(tables))
  } finally {
    await pool.end()
  }
})
