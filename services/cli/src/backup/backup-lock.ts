// One command at a time works on a folder of backups: none deletes what another is copying, or is restoring from.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { withLock } from '@baton/embedded'
import { transient } from '@baton/runtime'
import type { Context } from '../context.ts'
import { requirePlainRoot } from './backup-folder.ts'

const NAME = '.lock'
/** A timer that fires while the command of last time still runs gives up, and comes again. */
const WAIT_MS = 60_000

/** Waits for another command of this machine for a minute, then throws BATON_BACKUP_BUSY. */
export async function withBackupLock<Result>(
  { output }: Pick<Context, 'output'>,
  root: string,
  work: () => Promise<Result>,
): Promise<Result> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  await requirePlainRoot(root)
  const waiting = {
    waitMs: WAIT_MS,
    onWait: (holder: { readonly pid: number } | null) =>
      output.words(
        `Waits for process ${holder?.pid ?? 'unknown'}, which works on ${root}, for at most ${WAIT_MS / 1_000} s.`,
      ),
  }
  let isHeld = false
  try {
    return await withLock(join(root, NAME), waiting, () => {
      isHeld = true
      return work()
    })
  } catch (cause) {
    if (!isHeld && (cause as { code?: unknown }).code === 'BATON_LOCK_BUSY') throw busy(root, cause)
    throw cause
  }
}

const busy = (root: string, cause: unknown) =>
  transient('BATON_BACKUP_BUSY', `another command works on ${root}`, {
    cause,
    fix: 'Run this one again when that one is through.',
  })
