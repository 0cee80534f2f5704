// The audit database must survive a crash with everything it acknowledged.
import { permanent } from '@baton/runtime'
import { run } from './database.ts'
import type { Database } from './database.ts'

/**
 * Throws BATON_AUDIT_NOT_DURABLE when fsync, full_page_writes or synchronous_commit is off: an
 * acknowledged record could then be lost, so nothing may be acknowledged (E12).
 */
export async function requireDurability(db: Database): Promise<void> {
  const rows = await run<{ name: string }>(
    db,
    'find_unsafe_settings',
    `select name from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
  )
  if (rows.length === 0) return
  const names = rows.map((row) => row.name).join(', ')
  throw permanent('BATON_AUDIT_NOT_DURABLE', `the audit database runs with ${names} off`, {
    fix: `Set ${names} to on in the audit database and start the auditor again.`,
  })
}
