// For commands that only read: reaches the databases, runs the command's work, and lets go of everything again.
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Context } from '../context.ts'
import { openAuditReader } from './audit-reader.ts'
import type { AuditReader } from './audit-reader.ts'
import { reachDatabases } from './databases.ts'
import type { ReadableDatabases } from './databases.ts'
import { openLog } from './instance.ts'

export interface OpenedDatabases {
  readonly databases: ReadableDatabases
  /** The operational database, as baton_app. */
  readonly pool: Pool
  readonly audit: AuditReader
}

/** Connections are made on first use. Throws BATON_INSTANCE_MISSING when there is nothing to read. */
export async function withDatabases<Result>(
  context: Context,
  work: (opened: OpenedDatabases) => Promise<Result>,
): Promise<Result> {
  const databases = await reachDatabases(context, openLog(context.home))
  const applicationName = 'baton-cli'
  const pool = createPool({ url: databases.urls.app, applicationName, connectionsMax: 2 })
  const audit = openAuditReader(databases, context.settings)
  try {
    return await work({ databases, pool, audit })
  } finally {
    await Promise.all([pool.end(), audit.close()])
    await databases.stop()
  }
}
