// Files of a backup are ordinary ones. Whoever may write to its folder may put there a link, which leads elsewhere, or a pipe or a
// device, which never ends: those are refused before anything is read from them.
import { constants, createWriteStream } from 'node:fs'
import { lstat, open, readdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { permanent } from '@baton/runtime'

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Opens it to read. One that takes its place meanwhile is refused too. Throws BATON_BACKUP_UNREADABLE. */
export async function openPlain(path: string): Promise<FileHandle> {
  if (!(await lstat(path)).isFile()) throw notPlain(path)
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  if ((await file.stat()).isFile()) return file
  await file.close()
  throw notPlain(path)
}

export async function readPlain(path: string): Promise<Buffer> {
  await using file = await openPlain(path)
  return await file.readFile()
}

export async function copyPlain(from: string, to: string): Promise<void> {
  const file = await openPlain(from)
  await pipeline(file.createReadStream(), createWriteStream(to, { mode: 0o600, flush: true }))
}

/**
 * Throws BATON_BACKUP_UNREADABLE where something else than a file or a folder is in this folder, or it is none itself; nothing where
 * it is not there.
 */
export async function requirePlain(
  folder: string,
  isOwn: (name: string) => boolean = () => true,
): Promise<void> {
  const found = await lstat(folder).catch(nothingThere)
  if (found === undefined) return
  if (!found.isDirectory()) throw notPlain(folder)
  const entries = await readdir(folder, { withFileTypes: true })
  const other = entries.find(
    (entry) => isOwn(entry.name) && !entry.isFile() && !entry.isDirectory(),
  )
  if (other !== undefined) throw notPlain(join(folder, other.name))
}

function nothingThere(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

const notPlain = (path: string) =>
  permanent(
    'BATON_BACKUP_UNREADABLE',
    `${path} is a link, a pipe or a device, and no file of a backup`,
    {
      fix: 'Find out who put it there: no backup has one. Take it away, or name another backup: `baton backup ls` lists them.',
    },
  )
