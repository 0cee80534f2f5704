// An erasure is told to the journal beside the backups at once, so that whoever restores one of before does it again.
import { existsSync } from 'node:fs'
import type { Context } from '../context.ts'
import { withServers } from '../instance/databases.ts'
import { ownsServer } from '../instance/purge-storage.ts'
import { backupRoot, sharedPlaces } from './backup-folder.ts'
import { extendJournal } from './erasure-journal.ts'

/**
 * Only where there are backups and this command may read the log as who owns it; elsewhere the next `backup` tells.
 * The erasure stands whatever comes of it.
 */
export async function tellBackups(context: Context): Promise<void> {
  const path = sharedPlaces(backupRoot(context, undefined)).erasures
  const mayRead = ownsServer(context) || context.settings.BATON_DATABASE_ADMIN_URL !== undefined
  if (!mayRead || !existsSync(path)) return
  try {
    await withServers(context, ({ auditUrl }) => extendJournal(path, auditUrl))
    context.output.words(`Told to ${path}: a restored backup is erased again.`)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    context.output.words(`Not told to ${path} (${why}); the next backup does that.`)
  }
}
