// What each migration does to tables that were there before it, measured on Postgres, and written down where operators read it. Those to
// come hinder no service of the version before.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { planAudit } from '@baton/audit'
import { applyMigrations } from '@baton/postgres'
import { createPool, migrateStore, planStore } from '@baton/store'
import type { PlannedMigration } from '@baton/store'
import {
  acquirePostgres,
  createAuditDatabases,
  createStoreDatabase,
  eventually,
  STORE_PASSWORDS,
  uniqueDatabaseName,
} from '@baton/testkit'
import { markdownTable } from '@baton/infra/markdown-table'

/** The last ones before this rule, which some of them break. */
const LAST_BEFORE = { store: 38, audit: 19, vault: 5 }

let planned: readonly PlannedMigration[] = []
let adminUrl = ''

beforeAll(async () => {
  adminUrl = (await acquirePostgres()).adminUrl
  await createStoreDatabase(adminUrl, uniqueDatabaseName('plan'))
  const [audit, vault] = [uniqueDatabaseName('plan'), uniqueDatabaseName('plan')]
  await createAuditDatabases(adminUrl, { audit, vault })
  const absent = uniqueDatabaseName('absent')
  const store = await planStore(adminUrl, absent)
  const log = await planAudit(adminUrl, { audit: absent, vault: absent })
  planned = [...store.map((one) => ({ ...one, name: `store/${one.name}` })), ...log]
}, 120_000)

describe('migrations', () => {
  it('lock what infra/migrations.md says', async () => {
    await expect(page(planned)).toMatchFileSnapshot('../../infra/migrations.md')
  })

  it('of this rule write or read no whole table while others wait, and take nothing away', () => {
    const faults = planned
      .filter(isOfTheRule)
      .flatMap(({ name, changes }) =>
        changes
          .filter(
            ({ lock, isRewritten, isScanned, withdrawn }) =>
              isRewritten || (isScanned && WAITED_FOR.has(lock)) || withdrawn.length > 0,
          )
          .map(({ table }) => `${name}: ${table}`),
      )
    expect(faults).toEqual([])
  })

  it('are found by the rule where they break it', () => {
    const broken = planned.flatMap(({ name, changes }) =>
      changes.some(({ isRewritten }) => isRewritten) ? [name] : [],
    )
    expect(broken).toEqual(['audit/0009_derived_state'])
    const renaming = planned.find(({ name }) => name === 'store/0008_standard_words')
    expect(renaming?.changes.flatMap(({ withdrawn }) => withdrawn)).toContain(
      'is sender_notification',
    )
  })

  it('that were applied are not planned, and planning leaves no database behind', async () => {
    const database = uniqueDatabaseName('planned')
    await migrateStore({ adminUrl, database, ...STORE_PASSWORDS })
    expect(await planStore(adminUrl, database)).toEqual([])
    const pool = createPool({ url: adminUrl, applicationName: 'test' })
    const { rows } = await pool.query({
      text: `select datname from pg_database where datname like 'baton_plan_%'`,
    })
    await pool.end()
    expect(rows).toEqual([])
  })
})

describe('a migration that waits for who reads a table', () => {
  it('lets go in between, so that others go on, and is applied when it can be', async () => {
    const database = uniqueDatabaseName('waiting')
    const server = createPool({ url: adminUrl, applicationName: 'test' })
    await server.query({ text: `create database "${database}"` })
    await server.end()
    const url = new URL(adminUrl)
    url.pathname = `/${database}`
    const pool = createPool({ url: url.href, applicationName: 'test', connectionsMax: 3 })
    await pool.query({ text: 'create table waited_for (id integer)' })
    const folder = await mkdtemp(join(tmpdir(), 'migrations-'))
    await writeFile(join(folder, '0001_add.sql'), 'alter table waited_for add column more text;')
    const reader = await pool.connect()
    await reader.query('begin')
    await reader.query('select from waited_for')
    const migrating = applyMigrations({
      url: url.href,
      folder: pathToFileURL(`${folder}/`),
      name: 'waiting',
    })
    const waits = `select from pg_locks l join pg_class c on c.oid = l.relation where c.relname = 'waited_for' and not l.granted`
    await eventually(async () => (await pool.query({ text: waits })).rowCount === 1, {
      deadlineMs: 10_000,
      describe: 'the migration waits for the reader',
    })
    // Behind the migration in the queue for the table, while the first reader still holds it.
    await pool.query({ text: 'select from waited_for' })
    await reader.query('rollback')
    reader.release()
    expect(await migrating).toEqual(['0001_add'])
    await rm(folder, { recursive: true })
    await pool.end()
  })
})

const WAITED_FOR = new Set([
  'AccessExclusiveLock',
  'ExclusiveLock',
  'ShareRowExclusiveLock',
  'ShareLock',
])

function isOfTheRule({ name }: PlannedMigration): boolean {
  const [folder, file = ''] = name.split('/')
  return Number(file.slice(0, 4)) > LAST_BEFORE[folder as keyof typeof LAST_BEFORE]
}

const INTRODUCTION = `# What each migration locks

For each migration: which tables that were there before it nobody can read or write meanwhile, which nobody can write, whether every row is read or written anew, and what
the version before would miss. Without such a word a migration only adds. Locks last as long as the migration, a few milliseconds where no row is read. \`baton migrate --dry-run\` says the same of those that an
installation does not have yet; [upgrade.md](upgrade.md) says what to do.

Measured by test/contract/migration-locks.test.ts, which refuses what is not up to date; \`npm test -- test/contract/migration-locks.test.ts --update\` writes it.`

function page(all: readonly PlannedMigration[]): string {
  const rows = all.map(({ name, changes }) => {
    const of = (...locks: readonly string[]) =>
      changes
        .filter(({ lock }) => locks.includes(lock))
        .map(({ table, isRewritten, isScanned }) =>
          isRewritten ? `${table} (written anew)` : isScanned ? `${table} (read)` : table,
        )
        .join(', ')
    const missed = changes.flatMap(({ table, withdrawn }) =>
      withdrawn.map((what) => `${table} ${what.startsWith('is ') ? what : `.${what}`}`),
    )
    return [
      name,
      of('AccessExclusiveLock'),
      of('ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock'),
      missed.join(', ').replaceAll(' .', '.'),
    ]
  })
  const head = ['migration', 'nobody reads or writes', 'nobody writes', 'the version before misses']
  return `${INTRODUCTION}\n\n${markdownTable(head, rows)}\n`
}
