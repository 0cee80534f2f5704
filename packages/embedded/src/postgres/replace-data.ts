// Puts another data folder in the place of an embedded Postgres that is down; what was there is kept beside it.
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { isAlive, withLock } from '@baton/infra/lock'
import { permanent, replaceFile } from '@baton/runtime'
import { readInstanceRecord } from '../shared-instance.ts'
import { commonAccount } from './account.ts'
import { serverHome } from './home.ts'
import { abortServer, runningServer } from './server.ts'

interface ReplaceOptions {
  /** For example `.baton/pg`, as for `startPostgres`. */
  readonly dataDir: string
  /** Where what was there goes: its name beside the new one. */
  readonly keepAs: string
  /** Fills the empty folder that becomes the data folder. */
  readonly fill: (folder: string) => Promise<void>
}

interface Replaced {
  /** Where the data folder of before is now; null where there was none. */
  readonly kept: string | null
}

const LOCK_WAIT_MS = 240_000

/** Under this name it is filled; what was killed meanwhile leaves it there. */
const REPLACEMENT_DRAFT = 'data.restored.draft'

/**
 * Nothing is changed before the new folder is whole. Throws BATON_INSTANCE_BUSY while a living process uses the server; one that nobody
 * uses any more is ended.
 */
export async function replacePostgresData(options: ReplaceOptions): Promise<Replaced> {
  const dataDir = resolve(options.dataDir)
  const recordPath = `${dataDir}.json`
  await mkdir(dirname(dataDir), { recursive: true, mode: 0o700 })
  return withLock(`${recordPath}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
    const record = await readInstanceRecord<{ readonly home: string }>(recordPath)
    const user = record?.users.find((one) => isAlive(one))
    if (user !== undefined) throw busy(user.pid)
    const home = await serverHome(dataDir, await commonAccount(), record?.details.home ?? null)
    const running = await runningServer(home)
    if (running !== null) await abortServer(running)
    const draft = join(home, REPLACEMENT_DRAFT)
    await rm(draft, { recursive: true, force: true })
    await mkdir(draft, { mode: 0o700 })
    try {
      await options.fill(draft)
    } catch (error) {
      await rm(draft, { recursive: true, force: true })
      throw error
    }
    const data = join(home, 'data')
    const kept = (await stat(data).catch(() => null)) === null ? null : join(home, options.keepAs)
    if (kept !== null) await rename(data, kept)
    await rename(draft, data)
    // The next start looks for its server here, also where the folder lies outside.
    if (record !== null)
      await replaceFile(recordPath, `${JSON.stringify({ ...record, users: [] }, null, 2)}\n`)
    return { kept }
  })
}

const busy = (pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} uses this Postgres`, {
    fix: 'Stop that command first: a server is replaced while nobody uses it.',
  })
