// What must be so before anything is acknowledged: a database that loses nothing, and partitions to append to.
import { permanent } from '@baton/runtime'
import { run } from '../database.ts'
import type { Database } from '../database.ts'

/**
 * Throws BATON_AUDIT_NOT_DURABLE when fsync, full_page_writes or synchronous_commit is off: an
 * acknowledged record could then be lost, so nothing may be acknowledged (E12). With `allowUnsafe`
 * it only answers what is off.
 */
export async function requireDurability(
  db: Database,
  { allowUnsafe = false }: { readonly allowUnsafe?: boolean } = {},
): Promise<readonly string[]> {
  const rows = await run<{ name: string }>(
    db,
    'find_unsafe_settings',
    `select name from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit') and setting = 'off'`,
  )
  const unsafe = rows.map((row) => row.name)
  if (unsafe.length === 0 || allowUnsafe) return unsafe
  const names = unsafe.join(', ')
  throw permanent('BATON_AUDIT_NOT_DURABLE', `the audit database runs with ${names} off`, {
    fix: `Set ${names} to on in the audit database. To start all the same, set BATON_ALLOW_UNSAFE_POSTGRES=1.`,
  })
}

/** Makes the partitions from yesterday to seven days ahead; answers how many were missing. */
export async function extendPartitions(db: Database): Promise<number> {
  const rows = await run<{ made: number }>(
    db,
    'extend_partitions',
    'select audit.extend_partitions() as made',
  )
  return rows[0]?.made ?? 0
}
