// Nobody but the append function writes to the audit log, and operational credentials do not get in.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, migrateAudit } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { PASSWORDS } from '@baton/testkit'
import { createAuditFixture, entryOf, onDatabase } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'

let fixture: AuditFixture
let writer: Pool
let partitions: { record: string; payload: string }

const TABLES = ['record', 'payload', 'idem', 'batch_sig', 'head']

beforeAll(async () => {
  fixture = await createAuditFixture()
  const { client } = await fixture.startAuditor()
  await client.append([entryOf()])
  writer = createPool({ url: fixture.urls.writer, applicationName: 'test', connectionsMax: 1 })
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
  partitions = { record: `record_${day}`, payload: `payload_${day}` }
})
afterAll(async () => {
  await writer?.end()
  await fixture?.close()
})

/** The SQLSTATE a statement fails with; undefined when it succeeds. */
async function stateOf(pool: Pool, text: string): Promise<string | undefined> {
  try {
    await pool.query({ text })
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  }
}

const NOT_ALLOWED = '42501'

const updateOf = (name: string): string =>
  `update audit.${name} set ${name === 'head' ? 'size = 0' : 'chain = chain'}`

describe('operational credentials', () => {
  test('cannot connect to the audit database or to the vault', async () => {
    const role = `operational_${randomUUID().slice(0, 8)}`
    await fixture.superuser.query({ text: `create role ${role} login password 'app'` })
    for (const database of [fixture.databases.audit, fixture.databases.vault]) {
      const url = new URL(onDatabase(fixture.adminUrl, database))
      url.username = role
      url.password = 'app'
      const pool = createPool({ url: url.href, applicationName: 'test' })
      expect(await stateOf(pool, 'select 1')).toBe(NOT_ALLOWED)
      await pool.end()
    }
    await fixture.superuser.query({ text: `drop role ${role}` })
  })

  test('the audit roles cannot connect to the vault, nor its keeper to the log', async () => {
    const cross = [
      onDatabase(fixture.urls.writer, fixture.databases.vault),
      onDatabase(fixture.urls.reader, fixture.databases.vault),
      onDatabase(fixture.urls.vault, fixture.databases.audit),
    ]
    for (const url of cross) {
      const pool = createPool({ url, applicationName: 'test' })
      expect(await stateOf(pool, 'select 1')).toBe(NOT_ALLOWED)
      await pool.end()
    }
  })
})

describe('T33 the writer role', () => {
  test('changes no table and no partition', async () => {
    const names = [...TABLES, partitions.record, partitions.payload]
    for (const name of names) {
      for (const statement of [
        updateOf(name),
        `delete from audit.${name}`,
        `truncate audit.${name}`,
        `insert into audit.${name} default values`,
        `copy audit.${name} from stdin`,
        `drop table audit.${name}`,
        `alter table audit.${name} disable trigger all`,
        `alter table audit.${name} add column x int`,
        `create trigger t before insert on audit.${name} execute function audit.refuse_change()`,
      ]) {
        expect([statement, await stateOf(writer, statement)]).toEqual([statement, NOT_ALLOWED])
      }
    }
  })

  test('reads heads and keys, and nothing that could hold what was said', async () => {
    expect(await stateOf(writer, 'select * from audit.head')).toBeUndefined()
    expect(await stateOf(writer, 'select * from audit.idem')).toBeUndefined()
    for (const name of ['record', 'payload', 'batch_sig', partitions.record]) {
      expect(await stateOf(writer, `select * from audit.${name}`)).toBe(NOT_ALLOWED)
    }
  })

  test('cannot switch triggers off, take other roles, or make objects', async () => {
    for (const statement of [
      'set session_replication_role = replica',
      'set role audit_owner',
      'set role audit_eraser',
      'create table audit.x (a int)',
      'create table public.x (a int)',
      'create schema x',
      'create temporary table x (a int)',
      'drop function audit.append',
      `select audit.guard('audit.head', '')`,
      'alter function audit.extend_partitions() security invoker',
    ]) {
      expect([statement, await stateOf(writer, statement)]).toEqual([statement, NOT_ALLOWED])
    }
  })
})

describe('the reader role', () => {
  test('reads everything and changes nothing', async () => {
    for (const view of ['handoff_audit', 'handoff_events']) {
      expect(await stateOf(fixture.reader, `select * from ${view}`)).toBeUndefined()
      expect(await stateOf(fixture.reader, `delete from ${view}`)).toBeTruthy()
    }
    for (const name of TABLES) {
      expect(await stateOf(fixture.reader, `select * from ${name}`)).toBeUndefined()
      expect(await stateOf(fixture.reader, `delete from ${name}`)).toBe(NOT_ALLOWED)
      expect(await stateOf(fixture.reader, `truncate ${name}`)).toBe(NOT_ALLOWED)
    }
    expect(await stateOf(fixture.reader, 'select audit.extend_partitions()')).toBe(NOT_ALLOWED)
  })
})

describe('the sealer role', () => {
  test('reads what it seals, stores copies through one function, and changes nothing', async () => {
    const sealer = createPool({ url: fixture.urls.sealer, applicationName: 'test' })
    for (const name of ['record', 'idem', 'batch_sig', 'head', 'seal', 'chain_checkpoint']) {
      expect([name, await stateOf(sealer, `select * from audit.${name}`)]).toEqual([
        name,
        undefined,
      ])
      for (const statement of [
        `delete from audit.${name}`,
        `truncate audit.${name}`,
        `insert into audit.${name} default values`,
      ]) {
        expect([statement, await stateOf(sealer, statement)]).toEqual([statement, NOT_ALLOWED])
      }
    }
    for (const statement of [
      'select * from audit.payload',
      `select audit.append(${Array(27).fill('null').join(', ')})`,
      'select audit.store_scrub(null)',
      'set role audit_owner',
      'create table audit.x (a int)',
    ]) {
      expect([statement, await stateOf(sealer, statement)]).toEqual([statement, NOT_ALLOWED])
    }
    await sealer.end()
  })

  test('nobody else stores seals, and no copy of one is replaced or made smaller', async () => {
    const store = (body: string) =>
      `select audit.store_seal(0, now(), '${body}', 'note', '{0}', '{5}', '{note}') as stored`
    expect(await stateOf(writer, store('a'))).toBe(NOT_ALLOWED)
    expect(await stateOf(fixture.reader, store('a'))).toBe(NOT_ALLOWED)
    const sealer = createPool({ url: fixture.urls.sealer, applicationName: 'test' })
    const stored = async (body: string) =>
      (await sealer.query<{ stored: boolean }>({ text: store(body) })).rows[0]?.stored
    expect([await stored('a'), await stored('a'), await stored('b')]).toEqual([true, true, false])
    const ahead = (name: string, held: string) =>
      `select audit.${name}(${held}2, now(), 'x', 'note', '{0}', '{5}', '{note}') as outcome`
    const outcome = async (text: string) =>
      (await sealer.query<{ outcome: unknown }>({ text })).rows[0]?.outcome
    expect(await outcome(ahead('store_seal', ''))).toBe(false)
    const { rows } = await sealer.query<{ epoch: number }>({
      text: `select epoch from audit.take_seal_lease('thief', 600000, null, false, false)`,
    })
    expect(await outcome(ahead('publish_seal', `${rows[0]?.epoch}, 'thief', `))).toBe('other')
    await sealer.end()
    for (const statement of [
      'update audit.seal set note = note',
      'update audit.chain_checkpoint set size = 4',
      'delete from audit.chain_checkpoint',
      'truncate audit.seal',
    ]) {
      expect([statement, await stateOf(fixture.superuser, statement)]).toEqual([
        statement,
        NOT_ALLOWED,
      ])
    }
  })
})

describe('the guards', () => {
  test('refuse even a superuser, also in replica mode and on every partition', async () => {
    const names = [...TABLES, partitions.record, partitions.payload]
    for (const name of names) {
      for (const statement of [
        updateOf(name),
        `delete from audit.${name}`,
        `truncate audit.${name}`,
      ]) {
        expect([statement, await stateOf(fixture.superuser, statement)]).toEqual([
          statement,
          NOT_ALLOWED,
        ])
        const replica = `set session_replication_role = replica; ${statement}`
        expect([replica, await stateOf(fixture.superuser, replica)]).toEqual([replica, NOT_ALLOWED])
      }
    }
  })

  test('stand on all partitions and always fire', async () => {
    const { rows } = await fixture.superuser.query<{ table: string; guards: string }>({
      text: `select c.relname as table, string_agg(t.tgname || t.tgenabled::text, ' ' order by t.tgname) as guards
        from pg_class c join pg_trigger t on t.tgrelid = c.oid
        where c.relnamespace = 'audit'::regnamespace group by c.relname order by c.relname`,
    })
    const parts = rows.filter(({ table }) => /_\d{8}$/.test(table))
    expect(parts).toHaveLength(18)
    for (const { table, guards } of parts) {
      const follows = table.startsWith('record_') ? 'follow_holdA ' : ''
      expect(guards).toBe(`${follows}refuse_changeA refuse_truncateA`)
    }
  })

  test('a wrong hash and a stale head are refused', async () => {
    const wrong = `insert into audit.record values
      (0, 99, now(), gen_random_uuid(), gen_random_uuid(), 1, null, 'body', sha256('other'))`
    expect(await stateOf(fixture.superuser, wrong)).toBe('23514')
  })
})

test('migrating again changes nothing, also twice at once', async () => {
  const { adminUrl, databases } = fixture
  const again = () =>
    migrateAudit(adminUrl, { passwords: PASSWORDS, databases, log: { shards: 9 } })
  const results = await Promise.all([again(), again()])
  expect(results.map(({ applied }) => applied)).toEqual([[], []])
  const heads = await fixture.reader.query({ text: 'select * from head' })
  expect(heads.rowCount).toBe(4)
})
