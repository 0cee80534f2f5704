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
  // Commands take no shorter one.
  app: 'test-app-9d3f6a1c84e7052bb61d0f2e',
  gateway: 'test-gateway',
  delivery: 'test-delivery',
  writer: 'test-writer',
  reader: 'test-reader',
  vault: 'test-vault',
  sealer: 'test-sealer',
  archiver: 'test-archiver',
  eraser: 'test-eraser',
}
const { app, gateway, delivery, ...passwords } = PASSWORDS

/** Of the operational database, as `migrateStore` takes them. */
export const STORE_PASSWORDS = {
  appPassword: app,
  gatewayPassword: gateway,
  deliveryPassword: delivery,
}

const LOCK = 7_246_099
const LOCK_WAIT_MS = 60_000
const COPY_WAIT_MS = 60_000
const MIGRATIONS = ['packages/store/migrations', 'packages/audit/migrations']
const RIGHTS = 'packages/store/src/roles.ts'
const VERSION = digestOfMigrations()

/** An operational database as `migrateStore` leaves it. */
export async function createStoreDatabase(adminUrl: string, database: string): Promise<void> {
  const template = `test_template_store_${VERSION}`
  await prepare(adminUrl, template, () =>
    migrateStore({ adminUrl, database: template, ...STORE_PASSWORDS }),
  )
  await copy(adminUrl, [{ template, database }])
}

/** The databases of an audit log with so many chains as `migrateAudit` leaves them. */
export async function createAuditDatabases(
  adminUrl: string,
  databases: { readonly audit: string; readonly vault: string },
  shards = 4,
): Promise<AuditUrls> {
  const nameOf = (what: string) => `test_template_${what}_${shards}_${VERSION}`
  const templates = { audit: nameOf('audit'), vault: nameOf('vault') }
  const { urls } = await prepare(adminUrl, templates.audit, () =>
    migrateAudit(adminUrl, { passwords, databases: templates, log: { shards } }),
  )
  await copy(adminUrl, [
    { template: templates.audit, database: databases.audit },
    { template: templates.vault, database: databases.vault },
  ])
  const copyOf = (url: string, database: string) => {
    const located = new URL(url)
    located.pathname = `/${database}`
    return located.href
  }
  return {
    writer: copyOf(urls.writer, databases.audit),
    reader: copyOf(urls.reader, databases.audit),
    sealer: copyOf(urls.sealer, databases.audit),
    archiver: copyOf(urls.archiver, databases.audit),
    eraser: copyOf(urls.eraser, databases.audit),
    vault: copyOf(urls.vault, databases.vault),
  }
}

const prepared = new Map<string, Promise<unknown>>()

/** The workers of a run share a server: the first one migrates, the others wait for it. */
function prepare<Migrated>(
  adminUrl: string,
  name: string,
  migrate: () => Promise<Migrated>,
): Promise<Migrated> {
  const key = `${adminUrl} ${name}`
  const known = prepared.get(key) ?? whileLocked(adminUrl, migrate)
  prepared.set(key, known)
  return known as Promise<Migrated>
}

const whileLocked = <Migrated>(adminUrl: string, migrate: () => Promise<Migrated>) =>
  onServer(adminUrl, async (pool) => {
    const lock = { text: 'select pg_try_advisory_lock($1) as locked', values: [LOCK] }
    await eventually(async () => (await pool.query<{ locked: boolean }>(lock)).rows[0]?.locked, {
      deadlineMs: LOCK_WAIT_MS,
      describe: 'the databases to copy are migrated',
    })
    return await migrate()
  })

/** A server that outlives the run may still have what older migrations made. */
function digestOfMigrations(): string {
  const hash = createHash('sha256')
  for (const folder of MIGRATIONS) {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter((name) => name.endsWith('.sql')).toSorted())
      hash.update(file).update(readFileSync(join(ROOT, folder, file)))
  }
  hash.update(readFileSync(join(ROOT, RIGHTS))).update(JSON.stringify(PASSWORDS))
  return hash.digest('hex').slice(0, 12)
}

interface Copy {
  readonly template: string
  readonly database: string
}

// Owner, rights and settings of a database itself are not copied with it: to migrate again for them took most of the time.
const COPY_OWN_RIGHTS = `update pg_database d set datdba = t.datdba, datacl = t.datacl
  from pg_database t where t.datname = $1 and d.datname = $2`
const COPY_OWN_SETTINGS = `insert into pg_db_role_setting (setdatabase, setrole, setconfig)
  select d.oid, s.setrole, s.setconfig from pg_db_role_setting s
  join pg_database t on t.oid = s.setdatabase and t.datname = $1 join pg_database d on d.datname = $2`

const copy = (adminUrl: string, copies: readonly Copy[]) =>
  onServer(adminUrl, async (pool) => {
    for (const { template, database } of copies) {
      // Beside other tests it may outlast a wait for a lock or for who leaves the template: then it begins anew.
      const create = async () => {
        await pool.query({ text: `drop database if exists ${database}` })
        await pool.query({ text: `create database ${database} template ${template}` })
        return true
      }
      await eventually(create, {
        deadlineMs: COPY_WAIT_MS,
        describe: `${database} is copied from ${template}`,
      })
      for (const text of [COPY_OWN_RIGHTS, COPY_OWN_SETTINGS])
        await pool.query({ text, values: [template, database] })
    }
  })

async function onServer<Result>(
  adminUrl: string,
  work: (pool: Pool) => Promise<Result>,
): Promise<Result> {
  const pool = createPool({
    url: adminUrl,
    applicationName: 'test',
    connectionsMax: 1,
    statementMs: COPY_WAIT_MS,
  })
  try {
    return await work(pool)
  } finally {
    await pool.end()
  }
}
