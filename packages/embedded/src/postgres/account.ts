// Postgres refuses to run as root; under root it runs as the system's "nobody", which owns nothing else.
import { chown, readFile, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

const NOBODY_DEFAULT_ID = 65_534
const EXECUTE_BY_OTHERS = 0o001

/** Who runs the server: empty for "as we are", which is every case but root. */
export interface Account {
  readonly uid?: number
  readonly gid?: number
}

export async function serverAccount(): Promise<Account> {
  if (process.getuid?.() !== 0) return {}
  const line = (await passwd()).split('\n').find((entry) => entry.startsWith('nobody:'))
  const [, , uid, gid] = line?.split(':') ?? []
  return { uid: Number(uid ?? NOBODY_DEFAULT_ID), gid: Number(gid ?? NOBODY_DEFAULT_ID) }
}

/** Gives a path to the account; nothing to do when the server runs as we are. */
export async function giveTo(account: Account, path: string): Promise<void> {
  if (account.uid !== undefined && account.gid !== undefined)
    await chown(path, account.uid, account.gid)
}

/** True when the account can walk to `path`: each directory above it lets others through. */
export async function canReach(account: Account, path: string): Promise<boolean> {
  if (account.uid === undefined) return true
  for (let folder = dirname(resolve(path)); ; folder = dirname(folder)) {
    if (!((await stat(folder)).mode & EXECUTE_BY_OTHERS)) return false
    if (folder === dirname(folder)) return true
  }
}

async function passwd(): Promise<string> {
  return await readFile('/etc/passwd', 'utf8').catch(() => '')
}
