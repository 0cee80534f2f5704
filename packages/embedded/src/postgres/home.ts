// Where a checkout's Postgres keeps its data: beside its other state, or, when root's server account cannot
// reach that (a checkout under a 0700 folder), in a folder of its own outside.
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { permanent } from '@baton/runtime'
import { canReach, commonAccount, giveTo, isOfServers } from './account.ts'
import type { Account } from './account.ts'
import { SHARED_FOLDERS } from './binaries.ts'

const PREFIX = 'baton-data-'
/** Names, inside an outside home, the data directory it stands for, so that a copied checkout gets its own. */
const OWNER_FILE = 'belongs-to'

/** The folder that holds `data` and `server.log`; made and owned by the account when new. */
export async function serverHome(
  dataDir: string,
  account: Account,
  recorded: string | null,
): Promise<string> {
  if (recorded !== null && recorded !== dataDir && (await isOwn(recorded, dataDir, account)))
    return recorded
  if (await canReach(account, dataDir)) return await ownFolder(dataDir, account)
  if (await exists(join(dataDir, 'data'))) throw unreachable(dataDir)
  return await outsideHome(dataDir, account)
}

async function outsideHome(dataDir: string, account: Account): Promise<string> {
  const [existing] = await outsideHomes(dataDir, account)
  if (existing !== undefined) return existing
  for (const shared of SHARED_FOLDERS) {
    if (!(await canReach(account, join(shared, 'any')))) continue
    const home = await mkdtemp(join(shared, PREFIX))
    await writeFile(join(home, OWNER_FILE), resolve(dataDir))
    return await ownFolder(home, account)
  }
  throw unreachable(dataDir)
}

/** The homes outside that stand for this data directory, found without its record. */
export async function outsideHomes(dataDir: string, account: Account): Promise<readonly string[]> {
  if (account.uid === undefined) return []
  const homes: string[] = []
  for (const shared of SHARED_FOLDERS) {
    for (const name of await readdir(shared).catch(() => [])) {
      const home = join(shared, name)
      if (name.startsWith(PREFIX) && (await ownerOf(home, account)) === resolve(dataDir))
        homes.push(home)
    }
  }
  return homes
}

/** True for the home of this data directory, or of one that was moved here. */
async function isOwn(home: string, dataDir: string, account: Account): Promise<boolean> {
  const owner = await ownerOf(home, account)
  if (owner === resolve(dataDir)) return true
  if (owner === null || (await exists(`${owner}.json`))) return false
  await writeFile(join(home, OWNER_FILE), resolve(dataDir))
  return true
}

/** The data directory an outside home stands for; null for anything that is not a home made here. */
async function ownerOf(home: string, account: Account): Promise<string | null> {
  const found = await lstat(home).catch(() => null)
  if (found === null || !found.isDirectory() || !isOfServers(found.uid, account)) return null
  return await readFile(join(home, OWNER_FILE), 'utf8').catch(() => null)
}

/**
 * Whether a database stands for this data directory, here or outside. Changes nothing. Where neither its record nor its password is left,
 * what lies outside is forgotten: the next start deletes it.
 */
export async function hasPostgresData(dataDir: string): Promise<boolean> {
  const left = [`${dataDir}.json`, join(dirname(dataDir), 'secrets', basename(dataDir))]
  const isForgotten = !(await Promise.all(left.map(exists))).includes(true)
  const outside = isForgotten ? [] : await outsideHomes(dataDir, await commonAccount())
  const homes = [resolve(dataDir), ...outside]
  const found = await Promise.all(homes.map((home) => exists(join(home, 'data', 'PG_VERSION'))))
  return found.includes(true)
}

async function ownFolder(folder: string, account: Account): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if (!isOfServers((await stat(folder)).uid, account)) await giveTo(account, folder)
  await chmod(folder, 0o700)
  return folder
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

function unreachable(dataDir: string) {
  return permanent(
    'BATON_POSTGRES_UNREACHABLE',
    `Postgres cannot run as root, and the account it runs as instead cannot reach ${dataDir}`,
    { fix: 'Let others pass through the folders above it (chmod o+x), or run as a normal user.' },
  )
}
