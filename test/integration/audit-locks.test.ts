// No role that reads, seals, archives or erases can keep anybody waiting who appends.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, extendPartitions } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor

const UNSEALED_MAX_MS = 1_500

beforeAll(async () => {
  fixture = await createAuditFixture()
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_UNSEALED_MAX_MS: String(UNSEALED_MAX_MS),
  })
  await sealing.startSealer()
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const MODES = [
  'access share',
  'row share',
  'row exclusive',
  'share update exclusive',
  'share',
  'share row exclusive',
  'exclusive',
  'access exclusive',
]
const ROLES = ['reader', 'sealer', 'archiver', 'eraser'] as const
const ADVISORY = [
  `pg_advisory_lock(hashtext('audit.erase'))`,
  `pg_advisory_lock(hashtext('audit.extend_partitions'))`,
  `pg_advisory_xact_lock_shared(hashtext('audit.extend_partitions'))`,
  `pg_try_advisory_lock(1, 2)`,
]

/** Runs every statement in one transaction; answers those that were not refused. */
async function attempt(
  client: Awaited<ReturnType<Pool['connect']>>,
  statements: readonly string[],
): Promise<string[]> {
  const granted: string[] = []
  for (const statement of statements) {
    await client.query('savepoint before')
    const refused = await client.query(statement).then(
      () => undefined,
      (error: { code?: string }) => error.code,
    )
    if (refused === undefined) granted.push(statement)
    else await client.query('rollback to savepoint before')
  }
  return granted
}

/** Every lock on the tables and views of the log that can be asked for. */
async function tableLocks(): Promise<string[]> {
  const { rows } = await fixture.superuser.query<{ name: string }>({
    text: `select relname as name from pg_class
      where relnamespace = 'audit'::regnamespace and relkind in ('r', 'p', 'v') order by relname`,
  })
  return rows.flatMap(({ name }) =>
    MODES.map((mode) => `lock table audit.${name} in ${mode} mode nowait`),
  )
}

const lastDay = (): string =>
  new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10).replaceAll('-', '')

describe.each(ROLES)('audit_%s', (role) => {
  test('holds every lock it can get, and appends are acknowledged and partitions made', async () => {
    const day = lastDay()
    await fixture.superuser.query({ text: `drop table audit.record_${day}, audit.payload_${day}` })
    const pool = createPool({
      url: fixture.urls[role],
      applicationName: 'test',
      statementMs: 60_000,
    })
    const client = await pool.connect()
    const writer = createPool({ url: fixture.urls.writer, applicationName: 'test' })
    try {
      await client.query('begin')
      const advisory = ADVISORY.map((lock) => `select ${lock}`)
      const granted = await attempt(client, [...(await tableLocks()), ...advisory])
      expect(granted).not.toHaveLength(0)
      const receipts = await auditor.client.append([entryOf(), entryOf(), entryOf()])
      expect(receipts).toHaveLength(3)
      expect(await extendPartitions(writer)).toBe(2)
      expect(granted.filter((statement) => statement.startsWith('select'))).toEqual([])
    } finally {
      client.release(true)
      await Promise.all([pool.end(), writer.end()])
    }
  })

  test('takes nothing else that all who use the server share', async () => {
    const pool = createPool({ url: fixture.urls[role], applicationName: 'test', connectionsMax: 1 })
    const statements = [
      'select lo_create(0)',
      'select lo_creat(-1)',
      `select lo_from_bytea(0, 'x')`,
      `select pg_logical_emit_message(false, 'x', 'x')`,
      `select pg_logical_emit_message(false, 'x', 'x'::bytea)`,
      'select pg_terminate_backend(pid) from pg_stat_activity where usename = current_user',
      'select pg_cancel_backend(pid) from pg_stat_activity where usename = current_user',
    ]
    const client = await pool.connect()
    await client.query('begin')
    expect(await attempt(client, statements)).toEqual([])
    client.release(true)
    await pool.end()
  })
})

describe('audit_reader', () => {
  test('has no more than 50 connections, and defaults that end what was forgotten', async () => {
    const { rows } = await fixture.superuser.query<{ limit: number; settings: string[] }>({
      text: `select rolconnlimit as limit, rolconfig as settings from pg_roles where rolname = 'audit_reader'`,
    })
    expect(rows).toEqual([
      {
        limit: 50,
        settings: [
          'statement_timeout=10min',
          'idle_in_transaction_session_timeout=1min',
          'idle_session_timeout=30min',
          'temp_file_limit=2GB',
        ],
      },
    ])
    const raised = fixture.reader.query({ text: `set temp_file_limit = '4GB'` })
    await expect(raised).rejects.toMatchObject({ code: '42501' })
  })

  test('is shut out, and the auditor still sees that its log is sealed again', async () => {
    await shutOut('audit_sealer')
    await eventually(async () => !(await isAppended()), {
      deadlineMs: 20_000,
      describe: 'appends stop because nothing is sealed',
    })
    await shutOut('audit_reader')
    await letIn('audit_sealer')
    await eventually(isAppended, { deadlineMs: 20_000, describe: 'appends go on' })
    await letIn('audit_reader')
    expect(await sealing.rules()).toEqual([])
  })
})

const isAppended = () =>
  auditor.client.append([entryOf()]).then(
    () => true,
    () => false,
  )

async function shutOut(role: string): Promise<void> {
  await fixture.superuser.query({
    text: `revoke connect on database ${fixture.databases.audit} from ${role}`,
  })
  await fixture.superuser.query({
    text: `select pg_terminate_backend(pid) from pg_stat_activity
      where usename = '${role}' and datname = current_database()`,
  })
}

async function letIn(role: string): Promise<void> {
  await fixture.superuser.query({
    text: `grant connect on database ${fixture.databases.audit} to ${role}`,
  })
}
