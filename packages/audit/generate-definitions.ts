// Writes down what the migrations of the audit databases make; with --check it only says whether that is up to date.
// A contract test holds what is written to a migrated database. Named a superuser's URL, it adds what only the
// Postgres there has of its own version, and compares the rest.
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@baton/embedded'
import { migrateAudit } from './src/migrate.ts'
import { createPool, inSnapshot } from './src/database.ts'
import { OF_POSTGRES, readDefinitions } from './src/verify/definitions.ts'
import { describeSchema, digestOf, ofAnyDay } from './src/verify/describe-schema.ts'
import type { Description, SchemaName } from './src/verify/describe-schema.ts'

const DATABASES = { audit: 'baton_definitions_audit', vault: 'baton_definitions_vault' }
const PASSWORDS = { writer: 'w', reader: 'r', vault: 'v', sealer: 's' }

const fileOf = (schema: SchemaName): URL =>
  new URL(`src/generated/${schema}-definitions.txt`, import.meta.url)
const headOf = (schema: SchemaName): string =>
  `# What the migrations of baton_${schema} make. Written by generate-definitions.ts; do not edit. Of ${digestOf(schema)}.\n`

function written(schema: SchemaName): string {
  try {
    return readFileSync(fileOf(schema), 'utf8')
  } catch {
    return ''
  }
}

async function describe(adminUrl: string, schema: SchemaName): Promise<Description> {
  const url = new URL(adminUrl)
  url.pathname = `/${DATABASES[schema]}`
  const pool = createPool({ url: url.href, applicationName: 'generate-definitions' })
  try {
    return ofAnyDay(await inSnapshot(pool, (db) => describeSchema(db, schema, null)))
  } finally {
    await pool.end()
  }
}

/** What other versions of Postgres have of their own stays. */
function render(schema: SchemaName, found: Description): string {
  const kept = [...readDefinitions(written(schema))].filter(([object]) => OF_POSTGRES.test(object))
  const lines = [...new Map([...kept, ...found])].map(
    ([object, state]) => `${object} := ${state}\n`,
  )
  return headOf(schema) + lines.toSorted().join('')
}

async function write(adminUrl: string): Promise<void> {
  await migrateAudit(adminUrl, { passwords: PASSWORDS, databases: DATABASES })
  for (const schema of SCHEMAS) {
    writeFileSync(fileOf(schema), render(schema, await describe(adminUrl, schema)))
    console.error(`written: ${schema}`)
  }
}

const SCHEMAS = ['audit', 'vault'] as const
const [given] = process.argv.slice(2)

if (given === '--check') {
  const stale = SCHEMAS.filter((schema) => !written(schema).startsWith(headOf(schema)))
  for (const schema of stale) console.error(`out of date: ${fileOf(schema).pathname}`)
  if (stale.length > 0) process.exitCode = 1
} else if (given !== undefined) await write(given)
else {
  const folder = await mkdtemp(join(tmpdir(), 'baton-definitions-'))
  const quiet = { info: () => undefined, warn: () => undefined }
  const postgres = await startPostgres({
    dataDir: join(folder, 'pg'),
    temporary: true,
    logger: quiet,
  })
  try {
    await write(postgres.superuserUrl)
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
