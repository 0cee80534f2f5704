// A folder as it is published: one JSON file for each handoff, written whole, safe between processes without a server.
import { randomUUID } from 'node:crypto'
import { constants, watch as watchFolder } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { open, readdir, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { HANDOFF_LIMITS, readHandoffBytes } from '@baton/protocol/dialects/handoff-v01'
import { crashPoint, syncFolder, writeThrough } from '@baton/runtime'
import { fileNamesOf, isHandoffFile } from './file-names.ts'
import { PRIVATE_FOLDER, withFolderLock } from './folder-lock.ts'
import { whileUsable } from './refusals.ts'
import { inOrderOfNames, versionOf } from './storage.ts'
import type { Entry, OfferStorage, StoredText } from './storage.ts'

/** Keeps handoffs in `folder`, which is made when something is first saved. */
export function openFolder(folder: string): OfferStorage {
  return {
    load: async (taskId) => (await locate(folder, taskId)).stored,
    save: (taskId, text, expected) =>
      whileUsable(folder, () =>
        withFolderLock(folder, async () => {
          const { stored, free } = await locate(folder, taskId)
          if (stored?.version !== expected) return false
          const name = stored?.name ?? free
          if (name === undefined) return false
          await replace(folder, name, text)
          return true
        }),
      ),
    listAll: () => listFolder(folder),
    watch: (changed) => watchFiles(folder, changed),
  }
}

interface Located {
  readonly stored: (StoredText & { readonly name: string }) | undefined
  /** Where it may be put where it does not stand yet. */
  readonly free: string | undefined
}

// Only what stands in a file says whose it is: a file that merely has the name is left alone.
async function locate(folder: string, taskId: string): Promise<Located> {
  let free: string | undefined
  for (const name of fileNamesOf(taskId)) {
    const read = await readFile(folder, name)
    if (read === undefined) free ??= name
    else if ('bytes' in read && holds(read.bytes, taskId))
      return { stored: { ...read, name }, free }
  }
  return { stored: undefined, free }
}

function holds(bytes: Uint8Array, taskId: string): boolean {
  const read = readHandoffBytes(bytes, 'lenient')
  return read.ok && read.handoff.task_id === taskId
}

type ReadFile = StoredText | { readonly unreadable: string } | undefined

// Opened without waiting and without following links: neither a pipe nor a link can hold a reader or lead it away.
const READING = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

async function readFile(folder: string, name: string): Promise<ReadFile> {
  let file: FileHandle
  try {
    file = await open(join(folder, name), READING)
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : { unreadable: `cannot be opened (${code})` }
  }
  try {
    return await readOpened(file)
  } finally {
    await file.close()
  }
}

async function readOpened(file: FileHandle): Promise<ReadFile> {
  const found = await file.stat()
  if (!found.isFile()) return { unreadable: 'is no file' }
  if (found.size > HANDOFF_LIMITS.bytesMax)
    return { unreadable: `is larger than ${HANDOFF_LIMITS.bytesMax} bytes` }
  const bytes = await file.readFile()
  return { bytes, version: versionOf(bytes) }
}

// The draft has a name of its own, so that it is nobody else's even where a lock file was deleted by hand.
async function replace(folder: string, name: string, text: string): Promise<void> {
  const own = join(folder, PRIVATE_FOLDER)
  await clearDrafts(own)
  const draft = join(own, `${randomUUID()}.draft`)
  await writeThrough(draft, text, { flags: 'wx' })
  crashPoint('offers.before_rename')
  await rename(draft, join(folder, name))
  crashPoint('offers.after_rename')
  await syncFolder(folder)
}

// Under the lock nobody else has one: these were left by processes that died.
async function clearDrafts(own: string): Promise<void> {
  const drafts = (await readdir(own)).filter((name) => name.endsWith('.draft'))
  await Promise.all(drafts.map((name) => unlink(join(own, name))))
}

async function* listFolder(folder: string): AsyncIterable<Entry> {
  for (const name of await whileUsable(folder, () => namesIn(folder))) {
    const read = await readFile(folder, name)
    if (read === undefined) continue
    const isPlaceOf = (taskId: string) => fileNamesOf(taskId).includes(name.normalize('NFC'))
    yield 'bytes' in read ? { ...read, name, isPlaceOf } : { ...read, name }
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter(isHandoffFile).toSorted(inOrderOfNames)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

// Not every file system reports changes, and a reporter may end: whoever watches also looks from time to time.
function watchFiles(folder: string, changed: () => void): () => void {
  try {
    const watcher = watchFolder(folder, { persistent: false }, changed)
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => undefined
  }
}
