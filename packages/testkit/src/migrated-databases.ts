// Databases at the current schema in a fraction of the time: migrated once per run, copied for each test.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrateAudit } from '@baton/audit'
import type { AuditUrls } from '@baton/audit'
import { createPool, migrateStore } from '@baton/store'
import type { Pool } from '@baton/store'
import { eventually } from './eventually.ts'
import { ROOT } from './folders.ts'

/** Roles belong to the whole cluster, so every database of a run gives them the same passwords. */
export const PASSWORDS = {
  app: 'test-app',
  writer: 'test-writer',
  reader: 'test-reader',
  vault: 'test-vault',
  sealer: 'test-sealer',
  archiver: 'test-archiver',
  eraser: 'test-eraser',
}
const { app: appPassword, ...passwords } = PASSWORDS

const LOCK = 7_246_099
const LOCK_WAIT_MS = 60_000
const MIGRATIONS = ['packages/store/migrations', 'packages/audit/migrations']
const VERSION = digestOfMigrations()

/** An operational database as `migrateStore` leaves it. */
export async function createStoreDatabase(adminUrl: string, database: string): Promise<void> {
  const template = `test_template_store_${VERSION}`
  await prepare(adminUrl, template, () =>
    migrateStore({ adminUrl, database: template, appPassword }),
  )
  await copy(adminUrl, [[template, `${database} owner baton_owner`]])
  await migrateStore({ adminUrl, database, appPassword })
}

/** The databases of an audit log with so many chains as `migrateAudit` leaves them. */
export async function createAuditDatabases(
  adminUrl: string,
  databases: { readonly audit: string; readonly vault: string },
  shards = 4,
): Promise<AuditUrls> {
  const nameOf = (what: string) => `test_template_${what}_${shards}_${VERSION}`
  const templates = { audit: nameOf('audit'), vault: nameOf('vault') }
  const migrate = (names: typeof databases) =>
    migrateAudit(adminUrl, { passwords, databases: names, log: { shards } })
  await prepare(adminUrl, templates.audit, () => migrate(templates))
  await copy(adminUrl, [
    [templates.audit, databases.audit],
    [templates.vault, databases.vault],
  ])
  return (await migrate(databases)).urls
}

const prepared = new Map<string, Promise<void>>()

/** The workers of a run share a server: the first one migrates, the others wait for it. */
function prepare(adminUrl: string, name: string, migrate: () => Promise<unknown>): Promise<void> {
  const key = `${adminUrl} ${name}`
  const known = prepared.get(key) ?? whileLocked(adminUrl, migrate)
  prepared.set(key, known)
  return known
}

const whileLocked = (adminUrl: string, migrate: () => Promise<unknown>) =>
  onServer(adminUrl, async (pool) => {
    const lock = { text: 'select pg_try_advisory_lock($1) as locked', values: [LOCK] }
    await eventually(async () => (await pool.query<{ locked: boolean }>(lock)).rows[0]?.locked, {
      deadlineMs: LOCK_WAIT_MS,
      describe: 'the databases to copy are migrated',
    })
    await migrate()
  })

/** A server that outlives the run may still have what older migrations made. */
function digestOfMigrations(): string {
  const hash = createHash('sha256')
  for (const folder of MIGRATIONS) {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => name.endsWith('.sql')).toSorted())
      hash.update(file).update(readFileSync(join(ROOT, folder, file)))
  }
  return hash.digest('hex').slice(0, 12)
}

const copy = (adminUrl: string, copies: readonly (readonly [string, string])[]) =>
  onServer(adminUrl, async (pool) => {
    for (const [template, target] of copies)
      await pool.query({ text: `create database ${target} template ${template}` })
  })

async function onServer(adminUrl: string, work: (pool: Pool) => Promise<void>): Promise<void> {
  const pool = createPool({ url: adminUrl, applicationName: 'test', connectionsMax: 1 })
  try {
    await work(pool)
  } finally {
    await pool.end()
  }
}
