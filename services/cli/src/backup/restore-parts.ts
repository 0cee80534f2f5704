// The parts of a backup that stand outside the servers: put back where they are gone, never over what is there.
import { mkdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createFileColdStore } from '@baton/audit'
import type { ColdStore } from '@baton/audit'
import type { Context } from '../context.ts'
import { coldOf } from '../instance/databases.ts'
import { listFile, requireListed, sharedPlaces } from './backup-folder.ts'
import type { StoredBackup } from './backup-folder.ts'
import { fileNameOf, sealPlaces, SEALS } from './copy-seals.ts'
import type { SealFile } from './copy-seals.ts'
import { copyPlain } from './plain-files.ts'

interface PutBack {
  /** What was gone and is there again. */
  readonly put: readonly string[]
  /** What is gone and stays so: it is in no backup. */
  readonly absent: readonly string[]
}

/**
 * What is there is newer than any backup, and stays. The state of the sealer is not among them: an old one is refused, so it is made
 * anew by what watched it.
 */
export async function putBackSeals(
  context: Pick<Context, 'home' | 'settings'>,
  { folder, manifest }: StoredBackup,
): Promise<PutBack> {
  const put: string[] = []
  const absent: string[] = []
  for (const [name, path] of Object.entries(sealPlaces(context)) as [
    SealFile,
    string | undefined,
  ][]) {
    if (name === 'sealer state' || path === undefined || (await isThere(path))) continue
    const listed = join(SEALS, fileNameOf(name))
    const kept = join(folder, listed)
    if (!manifest.seals.includes(name)) absent.push(name)
    else {
      requireListed(await listFile(folder, listed), manifest)
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      await copyPlain(kept, path)
      put.push(name)
    }
  }
  return { put, absent }
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Every object of the pool that the cold store has not; those of later backups too, since the store only grows. Answers how many. */
export async function putBackCold(
  context: Context,
  root: string,
  onProgress: (objects: number) => void,
): Promise<{ readonly put: number; readonly store: ColdStore | undefined }> {
  const store = coldOf(context)
  if (store === undefined) return { put: 0, store }
  const pool = createFileColdStore(sharedPlaces(root).cold)
  const there = new Set(await store.list(''))
  let put = 0
  for (const name of await pool.list('')) {
    if (there.has(name)) continue
    const bytes = await pool.get(name)
    if (!bytes) continue
    if (name.endsWith('/checkpoint')) await store.replace(name, bytes)
    else await store.putIfAbsent(name, bytes)
    put += 1
    onProgress(put)
  }
  return { put, store }
}
