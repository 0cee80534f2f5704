// A server that was put back from a backup says so in its own settings until the restore is finished: nobody works on it before.
import { permanent } from '@baton/runtime'

/** Names the backup. */
export const RESTORED_SETTING = 'baton.restored'

/** Answers the backup, or null. */
export const UNFINISHED_RESTORE = `select nullif(current_setting('${RESTORED_SETTING}', true), '') as backup`

/** Throws BATON_RESTORE_UNFINISHED where `backup`, as the server answers it, is one. */
export function refuseUnfinishedRestore(backup: string | null | undefined): void {
  if (backup === null || backup === undefined) return
  throw permanent(
    'BATON_RESTORE_UNFINISHED',
    `the databases were restored from backup ${backup}, and nobody has finished that`,
    {
      fix: 'Run `baton restore --finish`: it erases again whom was erased since, and says what is missing. infra/backup.md tells what to do where it does not.',
    },
  )
}
