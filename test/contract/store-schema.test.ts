// The operational schema: migrates from nothing, twice and at once; its role can destroy nothing; hot statements use indexes.
import { readdirSync } from 'node:fs'
import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { applyMigrations, ensureDatabase, withAdmin } from '@baton/postgres'
import {
  claimExecutions,
  claimOutbox,
  completeExecutions,
  countAlerts,
  createPool,
  endCanceledHandoffs,
  endHandoffs,
  expireHandoffs,
  extendLeases,
  findInterrupted,
  findOwnedTables,
  listAlerts,
  listClassesOf,
  listEscalations,
  listPendingHandoffs,
  listPriorityClasses,
  listUndelivered,
  markDispatched,
  markExecuting,
  migrateStore,
  outboxDepth,
  outboxQueueDepths,
  releaseLeasesLater,
  retryHandoffs,
  sendHandoffs,
  sweepExpiredLeases,
  sweepRetries,
} from '@baton/store'
import type { Database } from '@baton/store'
import { acquirePostgres, PASSWORDS, STORE_PASSWORDS, uniqueDatabaseName } from '@baton/testkit'
import { claim, executing, newHandoff, openStore, receiptOf, storeUrl } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

const FOLDER = new URL('../../packages/store/migrations/', import.meta.url)
const MIGRATIONS = readdirSync(FOLDER)
  .map((name) => name.replace(/\.sql$/, ''))
  .toSorted()

describe('migrating', () => {
  const migrate = async (database: string) => {
    const { adminUrl } = await acquirePostgres()
    return migrateStore({ adminUrl, database, ...STORE_PASSWORDS })
  }

  it('from nothing applies everything; a second time nothing', async () => {
    const database = uniqueDatabaseName('migrate')
    expect(await migrate(database)).toEqual(MIGRATIONS)
    expect(await migrate(database)).toEqual([])
  })

  it('several at once apply it once', async () => {
    const database = uniqueDatabaseName('migrate')
    const applied = await Promise.all(Array.from({ length: 4 }, () => migrate(database)))
    expect(applied.flat()).toEqual(MIGRATIONS)
  })

  it('counts alerts that were noted by the version before alerts were counted', async () => {
    const { adminUrl } = await acquirePostgres()
    const database = uniqueDatabaseName('migrate')
    const url = storeUrl(adminUrl, { database })
    const older = await mkdtemp(join(tmpdir(), 'migrations-'))
    const names = MIGRATIONS.filter((name) => name < '0015')
    await Promise.all(
      names.map((name) => copyFile(new URL(`${name}.sql`, FOLDER), join(older, `${name}.sql`))),
    )
    await withAdmin(adminUrl, async (admin) =>
      ensureDatabase(admin, database, { roles: ['baton_app'], creation: 'owner baton_owner' }),
    )
    await withAdmin(url, async (admin) => {
      await admin.query(`alter default privileges for role baton_owner
        grant select, insert, update, delete on tables to baton_app`)
    })
    const folder = pathToFileURL(`${older}/`)
    expect(await applyMigrations({ url, folder, name: 'older', role: 'baton_owner' })).toEqual(
      names,
    )
    await rm(older, { recursive: true })
    await withAdmin(url, async (admin) => {
      await admin.query(`insert into alert (kind, handoff_id, task_id, reason)
        select 'handoff.rolled_back', gen_random_uuid(), gen_random_uuid(), 'SCHEMA_INVALID' from generate_series(1, 2500)`)
      await admin.query(`insert into escalation (handoff_id, task_id, attempts, reason)
        values (gen_random_uuid(), gen_random_uuid(), 3, 'SCHEMA_INVALID')`)
    })
    expect(await migrate(database)).toEqual(MIGRATIONS.slice(names.length))
    const role = { user: 'baton_app', password: PASSWORDS.app }
    const app = createPool({
      url: storeUrl(adminUrl, { database, ...role }),
      applicationName: 'test',
    })
    expect(await countAlerts(app)).toBe(2_500)
    expect(await listAlerts(app, { limit: 10 })).toMatchObject([
      { occurrences: 2_500, subject: {} },
    ])
    expect(await listEscalations(app, { limit: 10 })).toMatchObject([{ state: 'open' }])
    await app.end()
  })

  it('leaves no way in for other roles', async () => {
    const { adminUrl } = await acquirePostgres()
    const database = uniqueDatabaseName('migrate')
    await migrate(database)
    const admin = createPool({ url: storeUrl(adminUrl, { database }), applicationName: 'test' })
    const { rows } = await admin.query<{ connect: boolean }>({
      text: `select has_database_privilege('public', $1, 'connect') as connect`,
      values: [database],
    })
    await admin.end()
    expect(rows).toEqual([{ connect: false }])
  })
})

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store schema')
})
afterAll(() => store.close())

describe('the role baton_app', () => {
  it.each([
    'truncate handoff',
    'drop table handoff',
    'alter table handoff add column x int',
    'create table x (y int)',
    'drop index handoff_open',
    'create role x',
    'drop database postgres',
    'set role baton_owner',
    'create temporary table x (y int)',
    'delete from kysely_migration',
    'update kysely_migration_lock set is_locked = 1',
  ])('cannot %s', async (statement) => {
    const refused = store.pool.query({ text: statement })
    await expect(refused).rejects.toMatchObject({ code: '42501' })
  })

  it('owns nothing', async () => {
    expect(await findOwnedTables(store.pool)).toEqual([])
    expect((await findOwnedTables(store.superuser)).length).toBeGreaterThan(5)
  })
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly PlanNode[]
}

const scans = (node: PlanNode): string[] => [
  ...(node['Node Type'] === 'Seq Scan' ? [node['Relation Name'] ?? ''] : []),
  ...(node.Plans ?? []).flatMap(scans),
]

/** Runs each statement and explains it with its own parameters, in a transaction that is rolled back. */
async function sequentialScans(work: (db: Database) => Promise<unknown>): Promise<string[]> {
  const client = await store.pool.connect()
  const found: string[] = []
  const explaining: Database = {
    async query(statement) {
      const { text, values } = statement as { text: string; values: unknown[] }
      const plan = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>({
        text: `explain (format json) ${text}`,
        values,
      })
      for (const row of plan.rows) found.push(...scans(row['QUERY PLAN'][0].Plan))
      return client.query(statement)
    },
  }
  try {
    await client.query('begin')
    await work(explaining)
  } finally {
    await client.query('rollback')
    client.release()
  }
  return found
}

describe('on tables with thousands of rows no hot statement reads a whole table', () => {
  const ROWS = 4_000
  const SET = 64
  beforeAll(async () => {
    for (let sent = 0; sent < ROWS; sent += SET * 10) {
      await sendHandoffs(
        store.pool,
        Array.from({ length: SET * 10 }, () => newHandoff()),
      )
    }
    await store.rows(`insert into execution (handoff_id, fencing_token, status, owner, lease_until)
      select id, 1, 'DONE', gen_random_uuid(), now() from handoff`)
    await store.rows('analyze')
  })

  // Behind a filter that lets it run only where something has expired.
  const gated: Record<string, string> = { expire: 'outbox', 'end canceled': 'outbox' }
  const set = () => Array.from({ length: SET }, () => newHandoff())
  const ofAnybody = (queue: string) => ({ queue, tenant: null })
  const DEPTHS = { queueMax: 100, criticalMax: 100, tenantMax: 400 }
  const CHANGE = { reason: 'X', details: '[]', costMicroUSD: 0, delayMs: 1, returned: true }

  it.each<[string, (db: Database) => Promise<unknown>]>([
    ['send', (db) => sendHandoffs(db, set())],
    ['classes', (db) => listPriorityClasses(db)],
    ['classes of queues', (db) => listClassesOf(db, ['reviewer', 'nobody'])],
    [
      'pending by agent',
      (db) => listPendingHandoffs(db, 'reviewer', { limit: 100, bytesMax: 3_000_000 }),
    ],
    ['outbox depth', (db) => outboxDepth(db)],
    ['queue depths', (db) => outboxQueueDepths(db, ['reviewer', 'nobody'].map(ofAnybody), DEPTHS)],
    [
      'claim outbox',
      (db) =>
        claimOutbox(db, [
          { tenant: 'default', queue: 'reviewer', priority: 2, afterSeq: 0, limit: 200 },
        ]),
    ],
    [
      'mark dispatched',
      async (db) =>
        markDispatched(
          db,
          (await sentSet()).map((one) => one.handoffId),
        ),
    ],
    [
      'claim',
      async (db) =>
        claimExecutions(
          db,
          { owner: newHandoff().handoffId, leaseMs: 1_000 },
          (await sentSet()).map(({ handoffId }) => ({ handoffId, publishAttempt: 1 })),
        ),
    ],
    [
      'mark executing',
      async (db) => {
        const [handoff] = await sentSet()
        const claimed = await claim(store.pool, handoff ?? newHandoff())
        return markExecuting(db, [receiptOf(claimed)])
      },
    ],
    ['extend leases', async (db) => extendLeases(db, [await executing(store.pool)], 1_000)],
    ['release', async (db) => releaseLeasesLater(db, [await executing(store.pool)], 1)],
    [
      'complete',
      async (db) =>
        completeExecutions(
          db,
          [{ ...(await executing(store.pool)), costMicroUSD: 1, result: '1', taskResult: '1' }],
          [],
        ),
    ],
    [
      'retry',
      async (db) => retryHandoffs(db, [{ ...(await executing(store.pool)), ...CHANGE }], []),
    ],
    [
      'end',
      async (db) =>
        endHandoffs(
          db,
          [
            {
              ...(await executing(store.pool)),
              ...CHANGE,
              state: 'ROLLED_BACK',
              taskStatus: 'PENDING_HANDOFF',
              alert: true,
              escalate: true,
            },
          ],
          [],
        ),
    ],
    ['sweep retries', (db) => sweepRetries(db)],
    ['sweep expired leases', (db) => sweepExpiredLeases(db)],
    ['list undelivered', (db) => listUndelivered(db, 1)],
    ['expire', (db) => expireHandoffs(db)],
    ['end canceled', (db) => endCanceledHandoffs(db)],
    ['find interrupted', async (db) => findInterrupted(db, [await executing(store.pool)])],
  ])('%s', async (name, work) => {
    expect((await sequentialScans(work)).filter((table) => table !== gated[name])).toEqual([])
  })

  async function sentSet() {
    const handoffs = set()
    await sendHandoffs(store.pool, handoffs)
    return handoffs
  }
})
