// Which role may do what in the operational database, asked of Postgres for every table and right; and attempts of those that deliver.
import { hash, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { operationInvariant } from '@baton/engine'
import { closeMaintenanceDatabases, ensureRole, withAdmin } from '@baton/postgres'
import type { Admin } from '@baton/postgres'
import {
  createPool,
  migrateStore,
  sendHandoffs,
  SPLIT_ROLES,
  storeMigrations,
  TABLE_RIGHTS,
} from '@baton/store'
import type { Pool, SplitRole } from '@baton/store'
import { createAuditDatabases, PASSWORDS, uniqueDatabaseName } from '@baton/testkit'
import { newHandoff, openStore, storeUrl } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
let delivery: Pool
let gateway: Pool

beforeAll(async () => {
  store = await openStore('roles')
  const as = (user: SplitRole, password: string) =>
    createPool({
      url: storeUrl(store.adminUrl, { database: store.database, user, password }),
      applicationName: 'test',
      connectionsMax: 2,
    })
  delivery = as('baton_delivery', PASSWORDS.delivery)
  gateway = as('baton_gateway', PASSWORDS.gateway)
})
afterAll(async () => {
  await Promise.all([delivery?.end(), gateway?.end()])
  await store?.close()
})

const RIGHTS = ['select', 'insert', 'update', 'delete', 'truncate', 'references', 'trigger']

describe('the rights of each role', () => {
  it('are those of the table, on every table that there is and on no other', async () => {
    const rows = await store.rows<{ role: string; name: string; rights: string }>(
      `select r.rolname as role, c.relname as name, coalesce(string_agg(w.right_, ', ' order by w.place)
          filter (where has_table_privilege(r.oid, c.oid, w.right_)), '') as rights
       from pg_class c cross join pg_roles r cross join unnest($1::text[]) with ordinality as w (right_, place)
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and r.rolname = any($2::text[])
       group by 1, 2`,
      [RIGHTS, [...SPLIT_ROLES]],
    )
    const asked: Record<string, Record<string, string>> = {}
    for (const { role, name, rights } of rows) (asked[name] ??= {})[role] = rights
    const nothing = { baton_gateway: '', baton_delivery: '' }
    expect(asked).toEqual({
      ...TABLE_RIGHTS,
      kysely_migration: nothing,
      kysely_migration_lock: nothing,
    })
  })

  it('reach no column further, and no sequence', async () => {
    const columns = await store.rows(
      `select a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
       where c.relnamespace = 'public'::regnamespace and a.attacl is not null`,
    )
    const sequences = await store.rows(
      `select c.relname from pg_class c cross join unnest($1::name[]) as r (role)
       where c.relnamespace = 'public'::regnamespace and c.relkind = 'S' and has_sequence_privilege(r.role, c.oid, 'usage, select, update')`,
      [[...SPLIT_ROLES]],
    )
    expect([columns, sequences]).toEqual([[], []])
  })

  it('make a session of one tenant where it serves callers, and nowhere else', async () => {
    const { rows } = await gateway.query({ text: 'set role baton_tenant; reset role' })
    expect(rows ?? []).toEqual([])
    await expect(delivery.query({ text: 'set role baton_tenant' })).rejects.toMatchObject({
      code: '42501',
    })
  })

  it('are bounded: connections, and how long a session may do nothing', async () => {
    const log = uniqueDatabaseName('roles')
    await createAuditDatabases(store.adminUrl, { audit: `${log}_audit`, vault: `${log}_vault` })
    const rows = await store.rows<{ role: string; most: number; set: string[] }>(
      `select rolname as role, rolconnlimit as most, rolconfig as set from pg_roles
       where rolname in ('baton_app', 'baton_gateway', 'baton_delivery', 'audit_writer', 'audit_sealer', 'audit_archiver',
         'audit_eraser', 'audit_reader', 'vault_keeper') order by 1`,
    )
    const [server] = await store.rows<{ most: number }>(
      `select setting::integer as most from pg_settings where name = 'max_connections'`,
    )
    expect(rows).toHaveLength(9)
    for (const { most, set } of rows) {
      expect(most).toBeGreaterThan(0)
      expect(most).toBeLessThan(server?.most ?? 0)
      for (const name of ['statement', 'idle_in_transaction_session', 'idle_session'])
        expect(set.some((one) => one.startsWith(`${name}_timeout=`))).toBe(true)
    }
  })
})

it('no role connects to the databases beside Baton’s, on a server that is its own', async () => {
  const open = `select r.rolname as role, d.datname as database from pg_roles r cross join pg_database d
    where r.rolname in ('baton_gateway', 'baton_delivery') and d.datname in ('postgres', 'template1')
      and (has_database_privilege(r.oid, d.oid, 'connect') or has_database_privilege(r.oid, d.oid, 'temporary'))`
  // Rolled back: the server of the tests is not one instance's own.
  await withAdmin(store.adminUrl, async (admin) => {
    await admin.query('begin')
    await admin.query('grant connect on database postgres, template1 to public')
    expect((await admin.query(open)).rowCount).toBe(4)
    await closeMaintenanceDatabases(admin)
    expect((await admin.query(open)).rows).toEqual([])
    await admin.query('rollback')
  })
})

it('passwords reach the server as what it keeps of them', async () => {
  const asked: string[] = []
  const query = async (text: string) => {
    asked.push(text)
    return { rowCount: 0 }
  }
  const admin = { query }
  await ensureRole(admin as unknown as Admin, 'somebody', 'a password in words')
  expect(asked.join()).toContain('SCRAM-SHA-256$4096:')
  expect(asked.join()).not.toContain('a password')
})

it('a role that has a password keeps it where a later run is given none', async () => {
  const { adminUrl } = store
  const database = uniqueDatabaseName('roles')
  await migrateStore({ adminUrl, database, appPassword: PASSWORDS.app })
  const { rows } = await delivery.query({ text: 'select current_user as name' })
  expect(rows).toEqual([{ name: 'baton_delivery' }])
  const [role] = await store.rows(
    `select rolcanlogin as "mayLogIn" from pg_roles where rolname = 'baton_delivery'`,
  )
  expect(role).toEqual({ mayLogIn: true })
})

/** The last migration that needs a table which others use; it and those behind it can be done again. */
const LAST_THAT_LOCKS = '0036_indexes_for_what_is_asked'

it.each([
  ['a number', 'select pg_advisory_lock(7246051)'],
  ['the number of the library', 'select pg_advisory_lock(3853314791062309107)'],
  ['a table', 'begin; select from handoff limit 0; lock table handoff in row exclusive mode'],
])(
  'a migration says whose session keeps it waiting by %s, and what ends that',
  async (_, lock) => {
    const { adminUrl, database } = store
    const password = PASSWORDS.delivery
    const role = { database, user: 'baton_delivery', password } as const
    const url = storeUrl(adminUrl, role)
    const thief = createPool({ url, applicationName: 'test', connectionsMax: 1 })
    const names = (await storeMigrations()).map(({ name }) => name)
    const again = names.slice(names.indexOf(LAST_THAT_LOCKS))
    try {
      const { rows } = await thief.query<{ pid: number }>({
        text: 'select pg_backend_pid() as pid',
      })
      await thief.query({ text: lock })
      const migrating = { adminUrl, database, appPassword: PASSWORDS.app, lockWaitMs: 100 }
      await store.rows('delete from kysely_migration where name = any($1)', [again])
      // The migration of another test may hold the lock of the whole server, and is named then.
      await vi.waitFor(
        () =>
          expect(migrateStore(migrating)).rejects.toMatchObject({
            code: 'BATON_MIGRATION_BLOCKED',
            message: expect.stringContaining(`${rows[0]?.pid} (baton_delivery)`),
            fix: expect.stringContaining(`pg_terminate_backend(${rows[0]?.pid})`),
          }),
        { timeout: 30_000 },
      )
    } finally {
      await thief.end()
    }
    const free = { adminUrl, database, appPassword: PASSWORDS.app }
    expect(await migrateStore(free)).toEqual(again)
  },
  60_000,
)

describe('whoever delivers', () => {
  const REFUSED = '42501'
  const codeOf = (text: string, values: readonly unknown[] = []) =>
    delivery.query({ text, values: [...values] }).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )

  async function sent(): Promise<string> {
    const handoff = newHandoff()
    await sendHandoffs(delivery, [handoff])
    return handoff.handoffId
  }

  it.each([
    ['a vote', `insert into review_vote select (null::review_vote).*`],
    ['an override', `insert into approval_override select (null::approval_override).*`],
    ['a key', `insert into api_key select (null::api_key).*`],
    ['a tenant', `insert into tenant (name) values ('thief')`],
    ['a grant', `insert into tenant_grant values ('default', 'acme/reader', 'thief')`],
    ['a bulk re-drive', `insert into redrive select (null::redrive).*`],
    ['a change of a vote', `update review_vote set signed = null`],
    ['a change of an override', `update approval_override set votes = null`],
    ['a longer life of a key', `update api_key set expires_at = null`],
    ['the end of an approval', `delete from approval`],
    ['the look at keys', `select from api_key`],
    ['the look at the pepper', `select from subject_pepper`],
    ['a change of what came before', `update handoff_revision set body = ''`],
    ['a change of what waits to be recorded', `update audit_outbox set entry = '{}'`],
    ['what was done to the installation', `delete from told_operation`],
    ['the look at it', `select from told_operation`],
    [
      'settings that nobody recorded',
      `insert into recorded_settings values ('gateway', sha256(''))`,
    ],
    ['other settings', `update recorded_settings set sha256 = sha256('')`],
    [
      'a scanner that nobody recorded',
      `insert into recorded_ruleset values ('gateway', repeat('a', 64))`,
    ],
    ['an earlier artefact', `update recorded_ruleset set artefact_version = 0`],
    ['its own table', `create table thief ()`],
    ['a large object', `select lo_create(0)`],
    ['what only the WAL holds', `select pg_logical_emit_message(false, 'thief', repeat('x', 9))`],
    ['the end of another session', `select pg_terminate_backend(pg_backend_pid())`],
  ])('is refused %s', async (_, text) => {
    expect(await codeOf(text)).toBe(REFUSED)
  })

  it('says which scanner judges only with the record of just that', async () => {
    const told = (event: string, subject: string) =>
      codeOf('select tell_ruleset($1, $2, $3, $4)', [
        'gateway',
        randomUUID(),
        randomUUID(),
        JSON.stringify({
          event,
          epoch: 0,
          act: { id: randomUUID() },
          operation: { subject, details: [{ code: 'TO', value: 'ab'.repeat(32), sha256: null }] },
        }),
      ])
    expect(await told('SETTINGS_CHANGED', 'gateway')).toBe(REFUSED)
    expect(await told('RULESET_ACTIVATED', 'receiver')).toBe(REFUSED)
    expect(await told('RULESET_ACTIVATED', 'gateway')).toBeUndefined()
    const waiting = await store.rows<{ entry: string }>(
      `delete from audit_outbox where entry::json ->> 'event' = 'RULESET_ACTIVATED' returning entry`,
    )
    expect(waiting).toHaveLength(1)
    await store.rows(`delete from told_operation where event = 'RULESET_ACTIVATED'`)
  })

  it('says what settings there are only with the record of just these', async () => {
    const recorded = (process: string, entry: object) =>
      codeOf('select record_settings($1, $2, $3, $4)', [
        process,
        randomUUID(),
        randomUUID(),
        JSON.stringify({ epoch: 0, act: { id: randomUUID() }, ...entry }),
      ])
    const details = [{ code: 'PERSON', value: 'eve', sha256: null }]
    const operation = { subject: 'gateway', details }
    expect(await recorded('gateway', { event: 'TEXT_READ', operation })).toBe(REFUSED)
    expect(await recorded('receiver', { event: 'SETTINGS_CHANGED', operation })).toBe(REFUSED)
    expect(await recorded('gateway', { event: 'SETTINGS_CHANGED', operation })).toBeUndefined()
    const kept = await store.rows<{ sha256: string; entry: string }>(
      `select encode(sha256, 'hex') as sha256, entry from recorded_settings, audit_outbox
       where process = 'gateway' and entry::json #>> '{operation,subject}' = 'gateway'`,
    )
    expect(kept).toEqual([
      { sha256: hash('sha256', JSON.stringify(details)), entry: expect.stringContaining('eve') },
    ])
    // What waited to be recorded can be forgotten, and is found missing.
    expect(await codeOf('delete from audit_outbox')).toBeUndefined()
    await store.superuser.query({
      text: `update told_operation set told_at = clock_timestamp() - interval '11 minutes'`,
    })
    const missing = operationInvariant(store.pool, async () => new Map())
    expect(await missing.check()).toEqual([
      expect.stringMatching(/^SETTINGS_CHANGED [0-9a-f-]{36}$/),
    ])
    const found = operationInvariant(
      store.pool,
      async (ids) => new Map(ids.map((id) => [id, 'a record'])),
    )
    expect(await found.check()).toEqual([])
  })

  it('takes nobody out of those who sent a handoff', async () => {
    const handoffId = await sent()
    const become = (sentBy: string | null, earlier: readonly string[] = []) =>
      codeOf('update handoff set sent_by = $2, earlier_senders = $3 where id = $1', [
        handoffId,
        sentBy,
        earlier,
      ])
    expect(await become('ann')).toBeUndefined()
    expect(await become('bob')).toBe(REFUSED)
    expect(await become(null)).toBe(REFUSED)
    expect(await become('bob', ['ann'])).toBeUndefined()
    expect(await become('bob', [])).toBe(REFUSED)
    expect(await become('ann', ['bob'])).toBeUndefined()
  })

  it('asks for an approval and closes it, and writes none', async () => {
    const handoffId = await sent()
    const taskId = randomUUID()
    expect(
      await codeOf(
        `insert into approval (handoff_id, task_id, decision, decided_by, closed_at)
         values ($1, $2, 'approve', 'ann', now())`,
        [handoffId, taskId],
      ),
    ).toBe(REFUSED)
    const asked = `insert into approval (handoff_id, task_id) values ($1, $2)`
    expect(await codeOf(asked, [handoffId, taskId])).toBeUndefined()
    for (const forged of [
      `decision = 'approve', decided_by = 'ann', closed_at = now()`,
      `decided_by = 'ann'`,
      `signed = '{}'`,
    ]) {
      expect(await codeOf(`update approval set ${forged} where handoff_id = $1`, [handoffId])).toBe(
        REFUSED,
      )
    }
    const closed = `update approval set closed_at = now() where handoff_id = $1`
    expect(await codeOf(closed, [handoffId])).toBeUndefined()
  })

  it('stops a handoff, and says of none that a person let it go or gave it up', async () => {
    const handoffId = await sent()
    const stopped = `insert into dead_letter (handoff_id, task_id, reason, details) values ($1, $2, 'EXPIRED', '[]')`
    expect(await codeOf(stopped, [handoffId, randomUUID()])).toBeUndefined()
    const become = (resolution: string | null) =>
      codeOf('update dead_letter set resolved_at = now(), resolution = $2 where handoff_id = $1', [
        handoffId,
        resolution,
      ])
    for (const decided of ['RELEASED', 'REDACTED', 'DISCARDED'])
      expect(await become(decided)).toBe(REFUSED)
    for (const came of ['REDRIVEN', 'REVISED', 'CANCELED', null])
      expect(await become(came)).toBeUndefined()
  })
})

it('what a role set its later sessions to ends with the next run, and what makes queries faster stays', async () => {
  const { adminUrl, database } = store
  const within = `alter role baton_delivery in database "${database}"`
  const password = PASSWORDS.delivery
  const role = { database, user: 'baton_delivery', password } as const
  const settings = async () => {
    const later = createPool({ url: storeUrl(adminUrl, role), applicationName: 'test' })
    const shown = ['default_transaction_read_only', 'synchronous_commit', 'search_path', 'work_mem']
    try {
      const { rows } = await later.query({
        text: `select array(select current_setting(name) from unnest($1::text[]) as s (name)) as now`,
        values: [shown],
      })
      return (rows[0] as { now: string[] }).now
    } finally {
      await later.end()
    }
  }
  const [readOnly, commit, path] = await settings()
  for (const set of [
    `default_transaction_read_only = on`,
    `synchronous_commit = off`,
    `search_path = pg_temp`,
    `work_mem = '9MB'`,
  ])
    await delivery.query({ text: `${within} set ${set}` })
  expect(await settings()).toEqual(['on', 'off', 'pg_temp', '9MB'])

  await migrateStore({ adminUrl, database, appPassword: PASSWORDS.app })

  expect(await settings()).toEqual([readOnly, commit, path, '9MB'])
})
