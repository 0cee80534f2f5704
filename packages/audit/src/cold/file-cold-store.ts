// A cold store in a folder: an object is durable before it counts, and is never written twice.
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, mkdir, open, readdir, rename, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { permanent } from '@baton/runtime'
import { coldStoreUnavailable, kindOf } from './cold-store.ts'
import type { ColdStore, ObjectKind } from './cold-store.ts'
import { OBJECT_BYTES_MAX, pack, unpack } from './packing.ts'
import type { Packing } from './packing.ts'

const SUFFIX = '.zst'
const DRAFT = '.draft'
const NAME = /^[A-Za-z0-9][\w.-]*(?:\/[A-Za-z0-9][\w.-]*)*$/

interface Form {
  readonly suffix: string
  readonly packing: Packing
}
const PLAIN: Form = { suffix: '', packing: 'plain' }
const PACKED: Form = { suffix: SUFFIX, packing: 'zstd' }

/**
 * How an object stands in the folder: as it is written, then as it was before. Tools of others read files as they are, so what they read
 * is plain; entry bundles were packed once, and stay readable.
 */
const FORMS: Readonly<Record<ObjectKind, readonly [Form, ...Form[]]>> = {
  checkpoint: [PLAIN],
  hashes: [PLAIN],
  entries: [PLAIN, PACKED],
  payloads: [PACKED],
}

const nameOf = (file: string): string =>
  file.endsWith(SUFFIX) ? file.slice(0, -SUFFIX.length) : file
const hasCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException).code === code

/** The folder is made with the first object, for its owner alone. */
export function createFileColdStore(folder: string): ColdStore {
  const pathOf = (name: string, { suffix }: Form): string => {
    // Names contain the origins of chains, which come from the database.
    if (!NAME.test(name)) throw nameInvalid()
    return join(folder, `${name}${suffix}`)
  }
  return {
    description: `folder ${folder}`,
    async putIfAbsent(name, bytes) {
      const [form, ...former] = FORMS[kindOf(name)]
      const path = pathOf(name, form)
      try {
        for (const one of former) if (await isThere(pathOf(name, one))) return 'present'
        return await write(path, await pack(form.packing, bytes), 'once')
      } catch (error) {
        throw coldStoreUnavailable('take an object', error)
      }
    },
    async replace(name, bytes) {
      const path = pathOf(name, PLAIN)
      try {
        await write(path, bytes, 'over')
      } catch (error) {
        throw coldStoreUnavailable('take an object', error)
      }
    },
    async get(name, bytesMax = OBJECT_BYTES_MAX) {
      for (const form of FORMS[kindOf(name)]) {
        const bytes = await readIfThere(pathOf(name, form))
        if (bytes === null) return null
        if (bytes !== undefined) return unpack(form.packing, bytes, bytesMax)
      }
      return undefined
    },
    async list(prefix) {
      const files = await filesUnder(join(folder, dirname(`${prefix}x`)))
      const names = new Set(files.map((file) => nameOf(relative(folder, file))))
      return [...names].filter((name) => name.startsWith(prefix)).toSorted()
    },
    async remove(names) {
      for (const name of names) {
        for (const form of FORMS[kindOf(name)]) await rm(pathOf(name, form), { force: true })
      }
    },
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

/** Null for what is no object: a pipe or a device would never end. */
async function readIfThere(path: string): Promise<Buffer | undefined | null> {
  try {
    if (!(await lstat(path)).isFile()) return null
    await using file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    return (await file.stat()).isFile() ? await file.readFile() : null
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw coldStoreUnavailable('give an object', error)
  }
}

async function write(
  path: string,
  bytes: Uint8Array,
  how: 'once' | 'over',
): Promise<'stored' | 'present'> {
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
    // A link never replaces a file, a new name always does.
    await (how === 'once' ? link : rename)(draft, path)
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
