// Old row versions, planner statistics and write-ahead log leave the disk now instead of in the course of time.
import { createPool } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { permanent } from '@baton/runtime'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { openDatabases } from './databases.ts'

export interface Purged {
  /** Tables that were rewritten. */
  readonly tables: number
  /** Files of write-ahead log that are left. */
  readonly walFiles: number
}

const STORE_TABLES = [
  'handoff_body',
  'handoff_revision',
  'checkpoint',
  'execution',
  'task',
  'handoff',
  'dead_letter',
  'review_vote',
  'redrive',
  'handoff_return',
  'sender_notification',
  'audit_outbox',
  'idempotency_key',
  'handoff_subject',
]
const VAULT_TABLES = ['vault.subject_key', 'vault.subject_member', 'vault.erasure']
const SWITCHES_MAX = 200
const STATEMENT_MS = 600_000

/**
 * Rewrites the tables that an erasure touches, renews what the planner remembers of them, and drops the
 * write-ahead log behind a checkpoint. Each table is locked while it is rewritten: seconds where it is small.
 * Replicas, archived write-ahead log and backups are not reached. Needs the superuser of the databases.
 */
export async function purgeStorage(context: Context): Promise<Purged> {
  const databases = await openDatabases(context, openLog(context.home))
  const { operational, audit } = databases.adminUrls
  const store = context.settings.BATON_DATABASE_NAME
  try {
    await rewrite(onDatabase(operational, store), STORE_TABLES)
    const payloads = await payloadTables(onDatabase(audit, 'baton_audit'))
    await rewrite(onDatabase(audit, 'baton_audit'), [...payloads, 'audit.erasure'])
    await rewrite(onDatabase(audit, 'baton_vault'), VAULT_TABLES)
    const servers = [...new Set([operational, audit])]
    const left = await Promise.all(servers.map(dropOldLog))
    const tables = STORE_TABLES.length + payloads.length + 1 + VAULT_TABLES.length
    return { tables, walFiles: left.reduce((sum, files) => sum + files, 0) }
  } catch (cause) {
    throw permanent('BATON_PURGE_FAILED', 'the storage under the databases was not purged', {
      cause,
      fix: 'Check that the superuser may connect and that no long transaction runs; the erasure itself stands, repeat with: erase --purge-storage',
    })
  } finally {
    await databases.stop()
  }
}

function onDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

async function withSession<Result>(
  url: string,
  work: (session: Pool) => Promise<Result>,
): Promise<Result> {
  const session = createPool({
    url,
    applicationName: 'baton-cli',
    connectionsMax: 1,
    statementMs: STATEMENT_MS,
  })
  try {
    await session.query({ text: `set lock_timeout = '30s'` })
    return await work(session)
  } finally {
    await session.end()
  }
}

// Statistics hold samples of what stood in columns, so they are renewed and their old rows go as well.
const rewrite = (url: string, tables: readonly string[]): Promise<void> =>
  withSession(url, async (session) => {
    for (const table of tables) await session.query({ text: `vacuum (full, analyze) ${table}` })
    await session.query({ text: 'vacuum full pg_catalog.pg_statistic' })
  })

const payloadTables = (url: string): Promise<string[]> =>
  withSession(url, async (session) => {
    const { rows } = await session.query<{ name: string }>({
      text: `select format('audit.%I', c.relname) as name from pg_inherits i
        join pg_class c on c.oid = i.inhrelid
        where i.inhparent = 'audit.payload'::regclass order by 1`,
    })
    return rows.map(({ name }) => name)
  })

/** Moves behind every file that could hold what was erased, and has a checkpoint remove them; answers how many are left. */
const dropOldLog = (url: string): Promise<number> =>
  withSession(url, async (session) => {
    const { rows } = await session.query<{ was: string }>({
      text: `select current_setting('wal_recycle') as was`,
    })
    await session.query({ text: 'alter system set wal_recycle = off' })
    try {
      await session.query({ text: 'select pg_reload_conf()' })
      await switchBehindAll(session)
      await session.query({ text: 'checkpoint' })
      await session.query({ text: 'checkpoint' })
    } finally {
      if (rows[0]?.was === 'on') await session.query({ text: 'alter system reset wal_recycle' })
      await session.query({ text: 'select pg_reload_conf()' })
    }
    const left = await session.query<{ files: number }>({
      text: 'select count(*)::integer as files from pg_ls_waldir()',
    })
    return left.rows[0]?.files ?? 0
  })

// Files that were recycled before stand ahead, under names to come, with what they held before.
async function switchBehindAll(session: Pool): Promise<void> {
  const newest = await session.query<{ name: string }>({
    text: `select max(name) as name from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'`,
  })
  for (let switches = 0; switches < SWITCHES_MAX; switches += 1) {
    await session.query({ text: `select pg_logical_emit_message(false, 'baton', 'purge')` })
    await session.query({ text: 'select pg_switch_wal()' })
    await session.query({ text: `select pg_logical_emit_message(false, 'baton', 'purge')` })
    const now = await session.query<{ name: string }>({
      text: 'select pg_walfile_name(pg_current_wal_insert_lsn()) as name',
    })
    if ((now.rows[0]?.name ?? '') > (newest.rows[0]?.name ?? '')) return
  }
}
