// Old row versions, planner statistics and write-ahead log leave the disk now instead of in the course of time.
import { createPool, LOG_TABLES_WITH_TEXT, VAULT_TABLES_WITH_KEYS } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { permanent } from '@baton/runtime'
import { rewriteTables, TABLES_WITH_TEXT } from '@baton/store'
import type { RewriteBounds, Rewritten } from '@baton/store'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { openDatabases } from './databases.ts'

type PurgeBounds = RewriteBounds & { readonly statementMs: number }

/** For an operator who asked for it, and knows what runs. */
const ALL: PurgeBounds = { tableBytesMax: Infinity, lockMs: 30_000, statementMs: 600_000 }
/** For every erasure. A busy machine rewrites 57 MB in a second: nothing is locked for longer than five. */
const BRIEFLY: PurgeBounds = { tableBytesMax: 32 * 2 ** 20, lockMs: 1_000, statementMs: 5_000 }

export interface Purged extends Rewritten {
  /** Files of write-ahead log that are left. */
  readonly walFiles: number
  /** Those of them that were written before the purge; a replica's slot or `wal_keep_size` keeps them. */
  readonly olderWalFiles: number
}

/**
 * Rewrites every table that an erasure touches, renews what the planner remembers of them, and drops the
 * write-ahead log behind a checkpoint. Each table is locked while it is rewritten.
 * Replicas, archived write-ahead log and backups are not reached. Needs the superuser of the databases.
 */
export async function purgeStorage(context: Context): Promise<Purged> {
  const purged = await purgeWithin(context, ALL)
  if (purged.left.length === 0) return purged
  const tables = purged.left.map(({ table, why }) => `${table} (${why})`).join(', ')
  throw notPurged(`these tables were not rewritten: ${tables}`)
}

/** The same within bounds that services do not notice; what they leave is named. */
export const purgeBriefly = (context: Context): Promise<Purged> => purgeWithin(context, BRIEFLY)

/** Whether the databases of this context are an instance of this machine's own: nobody else's log is on its server. */
export const ownsServer = ({ settings }: Context): boolean =>
  settings.BATON_DATABASE_ADMIN_URL === undefined && settings.BATON_GATEWAY_URL === undefined

async function purgeWithin(context: Context, bounds: PurgeBounds): Promise<Purged> {
  const databases = await openDatabases(context, openLog(context.home))
  const { operational, audit } = databases.adminUrls
  const store = context.settings.BATON_DATABASE_NAME
  try {
    const rewritten = [
      await rewriteIn(onDatabase(operational, store), TABLES_WITH_TEXT, bounds),
      await rewriteIn(onDatabase(audit, 'baton_audit'), LOG_TABLES_WITH_TEXT, bounds),
      await rewriteIn(onDatabase(audit, 'baton_vault'), VAULT_TABLES_WITH_KEYS, bounds),
    ]
    const servers = [...new Set([operational, audit])]
    const logs = await Promise.all(servers.map(dropOldLog))
    return {
      tables: rewritten.reduce((sum, { tables }) => sum + tables, 0),
      left: rewritten.flatMap(({ left }) => left),
      walFiles: logs.reduce((sum, { files }) => sum + files, 0),
      olderWalFiles: logs.reduce((sum, { older }) => sum + older, 0),
    }
  } catch (cause) {
    throw notPurged('the storage under the databases was not purged', cause)
  } finally {
    await databases.stop()
  }
}

const notPurged = (message: string, cause?: unknown) =>
  permanent('BATON_PURGE_FAILED', message, {
    cause,
    fix: 'Check that the superuser may connect and that no long transaction runs; the erasure itself stands, repeat with: erase --purge-storage',
  })

function onDatabase(adminUrl: string, database: string): string {
  const url = new URL(adminUrl)
  url.pathname = `/${database}`
  return url.href
}

async function withSession<Result>(
  url: string,
  statementMs: number,
  work: (session: Pool) => Promise<Result>,
): Promise<Result> {
  const session = createPool({ url, applicationName: 'baton-cli', connectionsMax: 1, statementMs })
  try {
    return await work(session)
  } finally {
    await session.end()
  }
}

const rewriteIn = (url: string, names: readonly string[], bounds: PurgeBounds) =>
  withSession(url, bounds.statementMs, (session) => rewriteTables(session, names, bounds))

interface OldLog {
  readonly files: number
  readonly older: number
}

/** Moves behind every file that could hold what was erased, and has a checkpoint remove them; answers what is left. */
const dropOldLog = (url: string): Promise<OldLog> =>
  withSession(url, ALL.statementMs, async (session) => {
    const { rows } = await session.query<{ was: string; name: string }>({
      text: `select current_setting('wal_recycle') as was, pg_walfile_name(pg_current_wal_insert_lsn()) as name`,
    })
    const [before] = rows
    await session.query({ text: 'alter system set wal_recycle = off' })
    try {
      await session.query({ text: 'select pg_reload_conf()' })
      await switchBehindAll(session)
      await session.query({ text: 'checkpoint' })
      await session.query({ text: 'checkpoint' })
    } finally {
      if (before?.was === 'on') await session.query({ text: 'alter system reset wal_recycle' })
      await session.query({ text: 'select pg_reload_conf()' })
    }
    const left = await session.query<OldLog & object>({
      text: `select count(*)::integer as files, (count(*) filter (where name <= $1))::integer as older
        from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'`,
      values: [before?.name],
    })
    return left.rows[0] ?? { files: 0, older: 0 }
  })

const SWITCHES_MAX = 200

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
