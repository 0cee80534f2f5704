// The tables on which statements are written are those that the migrations make.
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createPool } from '@baton/audit'
import {
  acquirePostgres,
  createAuditDatabases,
  createStoreDatabase,
  uniqueDatabaseName,
} from '@baton/testkit'

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
  /** The check on this column alone, where there is one. */
  readonly check: string | null
}

const COLUMNS = `select case when $1 = 'public' then '' else n.nspname || '.' end || c.relname as "table",
    a.attname as name, t.typname as type, not a.attnotnull as "isNullable",
    a.atthasdef or a.attidentity <> '' as "hasDefault",
    (select pg_get_constraintdef(k.oid) from pg_constraint k where k.conrelid = c.oid
      and k.contype = 'c' and k.conkey = array[a.attnum]) as check
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition
    and c.relname not like 'kysely%'
  order by c.relname, a.attnum`

/** The texts that a check allows, where it names them all. */
const choices = (check: string | null): string | undefined =>
  /= ANY \(ARRAY\[(.*)\]\)/
    .exec(check ?? '')?.[1]
    ?.replaceAll('::text', '')
    .replaceAll(', ', ' | ')

function typed({ type, isNullable, hasDefault, check }: Column): string {
  const element = choices(check) ?? TYPES[type.replace(/^_/, '')]
  const value = type.startsWith('_') ? `readonly ${element}[]` : `${element}`
  const told = isNullable && value !== 'unknown' ? `${value} | null` : value
  return hasDefault ? `Generated<${told}>` : told
}

/** The tables of one interface as the file of `owner` has them, by name. */
function generated(owner: string, named: string): Record<string, string> {
  const file = new URL(`../../packages/${owner}/src/generated/tables.ts`, import.meta.url)
  const [, body = ''] =
    new RegExp(`interface ${named} \\{\n(.*?)\n\\}`, 's').exec(readFileSync(file, 'utf8')) ?? []
  const tables = `${body}\n`.matchAll(/ {2}'([\w.]+)': \{\n(.*?) {2}\}\n/gs)
  return Object.fromEntries([...tables].map(([, name, columns]) => [name, columns ?? '']))
}

const databases = {
  store: uniqueDatabaseName('store'),
  audit: uniqueDatabaseName('audit'),
  vault: uniqueDatabaseName('vault'),
}

it.each([
  ['store', 'Tables', 'public', databases.store],
  ['audit', 'AuditTables', 'audit', databases.audit],
  ['audit', 'VaultTables', 'vault', databases.vault],
])('%s: %s', async (owner, named, schema, database) => {
  const { adminUrl } = await acquirePostgres()
  if (owner === 'store') await createStoreDatabase(adminUrl, database)
  else if (schema === 'audit') await createAuditDatabases(adminUrl, databases, 1)
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
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
    expect(tables.length).toBeGreaterThan(1)
    expect(generated(owner, named)).toEqual(Object.fromEntries(tables))
  } finally {
    await pool.end()
  }
})
