// A cold store in a folder: an object is durable before it counts, and is never written twice.
import { randomUUID } from 'node:crypto'
import { link, mkdir, open, readdir, readFile, rm, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { permanent } from '@baton/runtime'
import { coldStoreUnavailable, isCompressed } from './cold-store.ts'
import type { ColdStore } from './cold-store.ts'

const SUFFIX = '.zst'
const DRAFT = '.draft'
const NAME = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/

const fileOf = (name: string): string => (isCompressed(name) ? `${name}${SUFFIX}` : name)
const nameOf = (file: string): string =>
  file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : file
const hasCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException).code === code

/** The folder is made with the first object, for its owner alone. */
export function createFileColdStore(folder: string): ColdStore {
  const pathOf = (name: string): string => {
    // Names contain the origins of chains, which come from the database.
    if (!NAME.test(name)) throw nameInvalid()
    return join(folder, fileOf(name))
  }
  return {
    description: `folder ${folder}`,
    async putIfAbsent(name, bytes) {
      const path = pathOf(name)
      try {
        return await writeOnce(path, bytes)
      } catch (error) {
        throw coldStoreUnavailable('take an object', error)
      }
    },
    async get(name) {
      const path = pathOf(name)
      try {
        return await readFile(path)
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return undefined
        throw coldStoreUnavailable('give an object', error)
      }
    },
    async list(prefix) {
      const files = await filesUnder(join(folder, dirname(`${prefix}x`)))
      const names = files.map((file) => nameOf(relative(folder, file)))
      return names.filter((name) => name.startsWith(prefix)).toSorted()
    },
    async remove(names) {
      for (const name of names) await rm(pathOf(name), { force: true })
    },
  }
}

async function writeOnce(path: string, bytes: Uint8Array): Promise<'stored' | 'present'> {
  const parent = dirname(path)
  const made = await mkdir(parent, { recursive: true, mode: 0o700 })
  if (made !== undefined) await syncFolders(parent, dirname(made))
  const draft = join(parent, `.${randomUUID()}${DRAFT}`)
  try {
    const file = await open(draft, 'wx', 0o600)
    try {
      await file.writeFile(bytes)
      await file.sync()
    } finally {
      await file.close()
    }
    // A link never replaces a file.
    await link(draft, path)
    await syncFolders(parent, parent)
    return 'stored'
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'present'
    throw error
  } finally {
    await unlink(draft).catch(() => undefined)
  }
}

/** Makes the entries of `folder` and of every folder above it, up to `last`, durable. */
async function syncFolders(folder: string, last: string): Promise<void> {
  for (let at = folder; ; at = dirname(at)) {
    const handle = await open(at, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
    if (at === last || at === dirname(at)) return
  }
}

async function filesUnder(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true })
    return entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith('.'))
      .map((entry) => join(entry.parentPath, entry.name))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw coldStoreUnavailable('list its objects', error)
  }
}

const nameInvalid = () =>
  permanent('BATON_COLD_NAME_INVALID', 'a name of an object would leave the cold store', {
    fix: 'Compare the origins in audit.head with those of the seals: somebody may have changed them.',
  })
