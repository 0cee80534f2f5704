// One writer at a time in a folder, among any number of processes; one that dies holds nobody up.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { transient } from '@baton/runtime'

/** Hidden from peers, which read `*.json` of the folder itself, and from git. */
export const PRIVATE_FOLDER = '.baton'

const WAIT_MS = 30_000
const LOOK_EVERY_MS = 8
const SQLITE_BUSY = 5

/**
 * Runs `work` while no other process runs it for this folder. The lock is the kernel's, on an empty file: it ends with
 * its process, however that ends, so there is no time after which a lock counts as left behind, and no holder that
 * was only slow is overtaken. SQLite takes it, because Node offers no other way. Throws the transient BATON_OFFERS_BUSY
 * where it is not free within 30 s.
 */
export async function withFolderLock<Result>(
  folder: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await openLock(folder)
  try {
    await acquire(lock, folder)
    return await work()
  } finally {
    lock.close()
  }
}

async function openLock(folder: string): Promise<DatabaseSync> {
  const own = join(folder, PRIVATE_FOLDER)
  if ((await mkdir(own, { recursive: true })) !== undefined)
    await writeFile(join(own, '.gitignore'), '*\n')
  return new DatabaseSync(join(own, 'lock'), { timeout: 0 })
}

async function acquire(lock: DatabaseSync, folder: string): Promise<void> {
  const until = performance.now() + WAIT_MS
  while (!isAcquired(lock)) {
    if (performance.now() > until)
      throw transient('BATON_OFFERS_BUSY', `another process writes in ${folder} all the time`, {
        fix: 'Try again; if it goes on, look for a stopped process that uses this folder.',
      })
    await pause(LOOK_EVERY_MS * (0.5 + Math.random()))
  }
}

function isAcquired(lock: DatabaseSync): boolean {
  try {
    lock.exec('begin exclusive')
    return true
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === SQLITE_BUSY) return false
    throw error
  }
}
