// One writer at a time in a folder, among any number of processes; one that dies holds nobody up.
import { lstat, mkdir, writeFile } from 'node:fs/promises'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { permanent, transient } from '@baton/runtime'

/** Hidden from peers, which read `*.json` of the folder itself, and from git. */
export const PRIVATE_FOLDER = '.baton'

const WAIT_MS = 30_000
const LOOK_EVERY_MS = 8
const SQLITE_BUSY = 5

/**
 * Runs `work` while no other process runs it for this folder. The lock is the kernel's, on an empty file: it ends with
 * its process, however that ends, so there is no time after which a lock counts as left behind, and no holder that
 * was only slow is overtaken. SQLite takes it, because Node offers no other way. Throws the transient BATON_OFFERS_BUSY
 * where it is not free within 30 s, and the permanent BATON_OFFERS_FOLDER_UNSAFE where what stands in its place is something else.
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
  // Whoever writes the folder could lead its drafts and its lock away by links.
  const file = join(own, 'lock')
  if (!(await lstat(own)).isDirectory()) throw unsafe(own)
  const lock = await lstat(file).catch(orMissing)
  if (lock !== undefined && !(lock.isFile() && lock.nlink === 1 && lock.size === 0))
    throw unsafe(file)
  return new DatabaseSync(file, { timeout: 0 })
}

function orMissing(error: NodeJS.ErrnoException): Stats | undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}

const unsafe = (path: string) =>
  permanent('BATON_OFFERS_FOLDER_UNSAFE', `${path} is not what Baton made there`, {
    fix: 'Look who put it there, and remove it; Baton makes it anew.',
  })

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
