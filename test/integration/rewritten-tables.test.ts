// Rewriting takes what was deleted out of the files of a table, and leaves alone what is large or in use.
import { createPool } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { readStorageLeft, rewriteTables, TABLES_WITH_TEXT } from '@baton/store'
import { uniqueName } from '@baton/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'

const WORDS = `canary${uniqueName('words')}`
/** A checkpoint of a server that others load takes its time. */
const STATEMENT_MS = 60_000
const CHECKPOINTED = { timeout: 4 * STATEMENT_MS }
const BOUNDS = { tableBytesMax: Infinity, lockMs: 5_000 }

let store: StoreFixture
let session: Pool

beforeAll(async () => {
  store = await openStore('rewrite')
  const url = new URL(store.adminUrl)
  url.pathname = `/${store.database}`
  session = createPool({
    url: url.href,
    applicationName: 'test',
    connectionsMax: 1,
    statementMs: STATEMENT_MS,
  })
  await store.rows(`create table said (id integer, words text)`)
  await store.rows(`create table parted (id integer, words text) partition by range (id)`)
  await store.rows(`create table parted_1 partition of parted for values from (0) to (100)`)
  for (const table of ['said', 'parted']) {
    await store.rows(`insert into ${table} select n, $1 || n from generate_series(1, 50) n`, [
      WORDS,
    ])
    await store.rows(`insert into ${table} values (51, 'of somebody else')`)
    await store.rows(`delete from ${table} where id < 51`)
  }
})
afterAll(async () => {
  await session?.end()
  await store?.close()
})

/** Where the bytes of a table are, as the server says, once they are on the disk. */
async function fileOf(table: string): Promise<string> {
  await session.query({ text: 'checkpoint' })
  const [row] = await store.rows<{ path: string }>(
    `select current_setting('data_directory') || '/' || pg_relation_filepath('${table}') as path`,
  )
  return row?.path ?? ''
}

/** Through the server: it may run where this process cannot look. */
async function holds(table: string): Promise<boolean> {
  const path = await fileOf(table)
  const [row] = await store.rows<{ found: boolean }>(
    `select position($2::bytea in pg_read_binary_file($1)) > 0 as found`,
    [path, Buffer.from(WORDS)],
  )
  return row?.found ?? true
}

test('a plain vacuum leaves the bytes, which the measurement says', CHECKPOINTED, async () => {
  expect(await holds('said')).toBe(true)
  await session.query({ text: 'vacuum said' })
  expect(await holds('said')).toBe(true)
  const left = await readStorageLeft(store.pool)
  expect(left).toMatchObject({ database: store.database, tables: TABLES_WITH_TEXT.length })
  expect(left.tableBytes).toBeGreaterThan(0)
  expect(left.walPosition).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/)
})

test(
  'a table that is too large, and one that is in use, are left and named',
  CHECKPOINTED,
  async () => {
    const small = await rewriteTables(session, ['parted'], { tableBytesMax: 0, lockMs: 100 })
    expect(small).toMatchObject({ tables: 0, left: [{ table: 'parted_1', why: 'large' }] })
    const reader = await store.superuser.connect()
    try {
      await reader.query('begin')
      await reader.query('select from parted_1')
      const used = await rewriteTables(session, ['parted'], { ...BOUNDS, lockMs: 100 })
      expect(used).toMatchObject({ tables: 0, left: [{ table: 'parted_1', why: 'in use' }] })
    } finally {
      await reader.query('rollback')
      reader.release()
    }
    expect(await holds('parted_1')).toBe(true)
  },
)

test('a rewritten table holds nothing of it any more', CHECKPOINTED, async () => {
  expect(await rewriteTables(session, ['said', 'parted'], BOUNDS)).toEqual({ tables: 2, left: [] })
  expect(await holds('said')).toBe(false)
  expect(await holds('parted_1')).toBe(false)
})
