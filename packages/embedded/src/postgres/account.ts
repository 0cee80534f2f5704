// Postgres refuses to run as root; under root each server runs as an account of its own that nobody else has, so that whoever is
// superuser in one cannot read the files of another.
import { randomInt, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, chown, lchown, open, readdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

const NOBODY_DEFAULT_ID = 65_534
/** Above what systems give to people and services by themselves, within what user namespaces map. */
const OWN_IDS = { min: 40_000, max: 59_999 }
const ATTEMPTS_MAX = 20
const EXECUTE_BY_OTHERS = 0o001

/** Who runs the server: empty for "as we are", which is every case but root. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

/** The system's "nobody": who runs what needs no data of a server, and asks whether it could. */
export async function commonAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const line = (await read('/etc/passwd')).split('\n').find((entry) => entry.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid ?? NOBODY_DEFAULT_ID), gid: Number(gid ?? NOBODY_DEFAULT_ID) }
}

/** Whether a folder belongs to an account that servers run as. */
export const isOfServers = (uid: number, { uid: common }: Account): boolean =>
  uid === common || isOwn(uid)

const isOwn = (uid: number): boolean => uid >= OWN_IDS.min && uid <= OWN_IDS.max

/**
 * The account of the server on `home`, which is down: it owns that from now on with all that is in it. The one that it has, or one
 * that no account of this system has. Where this machine lets no such account be (a small user namespace), the common one.
 */
export async function ownAccount(home: string, common: Account): Promise<Account> {
  if (common.uid === undefined) return {}
  const found = await stat(home)
  const account = isOwn(found.uid) ? { uid: found.uid, gid: found.uid } : await freshAccount(home)
  const own = account ?? common
  await giveTree(own, home)
  await chmod(home, 0o700)
  return own
}

async function freshAccount(home: string): Promise<Account | null> {
  const taken = `${await read('/etc/passwd')}\n${await read('/etc/group')}`
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const id = randomInt(OWN_IDS.min, OWN_IDS.max + 1)
    if (taken.includes(`:${id}:`)) continue
    return await chown(home, id, id).then(
      () => ({ uid: id, gid: id }),
      () => null,
    )
  }
  return null
}

/** Gives a path to the account; nothing to do when the server runs as we are. */
export async function giveTo({ uid, gid }: Account, path: string): Promise<void> {
  if (uid !== undefined && gid !== undefined) await lchown(path, uid, gid)
}

/** Of the server that runs on `home`: who it belongs to. */
export async function accountOn(home: string): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const { uid, gid } = await stat(home)
  return { uid, gid }
}

interface OwnFolder extends AsyncDisposable {
  /** In one step, over what is there; read by the account alone. */
  write(name: string, text: string): Promise<void>
}

/**
 * Gives a folder to the account and opens it for writing, also while the server runs: whoever is superuser in it owns what lies
 * around, and cannot have us write or give away anything elsewhere.
 */
export async function openOwn(folder: string, { uid, gid }: Account): Promise<OwnFolder> {
  const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants
  const opened = await open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
  const isGiven = uid !== undefined && gid !== undefined
  if (isGiven) await opened.chown(uid, gid)
  // Only where it is given to somebody else can it be another folder by now.
  const path = isGiven ? `/proc/self/fd/${opened.fd}` : folder
  return {
    async write(name, text) {
      const draft = `${name}.${randomUUID()}.draft`
      const file = await open(join(path, draft), 'wx', 0o600)
      try {
        await file.writeFile(text)
        await file.sync()
        if (isGiven) await file.chown(uid, gid)
      } finally {
        await file.close()
      }
      await rename(join(path, draft), join(path, name))
    },
    [Symbol.asyncDispose]: () => opened.close(),
  }
}

/** The same for a folder and all that is in it, without following links; nobody else writes there. */
export async function giveTree(account: Account, folder: string): Promise<void> {
  if (account.uid === undefined) return
  await giveTo(account, folder)
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    await giveTo(account, join(entry.parentPath, entry.name))
}

/** True when the account can walk to `path`: each directory above it lets others through. */
export async function canReach(account: Account, path: string): Promise<boolean> {
  if (account.uid === undefined) return true
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (!((await stat(folder)).mode & EXECUTE_BY_OTHERS)) return false
    if (folder === dirname(folder)) return true
  }
}

async function read(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch(() => '')
}
