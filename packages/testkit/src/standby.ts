// A Postgres of a test's own with a synchronous standby, which is promoted when the primary is gone.
import { execFile } from 'node:child_process'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@baton/embedded'
import { createPool } from '@baton/store'
import { eventually } from './eventually.ts'
import { ownFolder, startOwnPostgres } from './own-servers.ts'
import type { OwnPostgres } from './own-servers.ts'
import { quietLogger } from './progress.ts'

const run = promisify(execFile)

interface Standby {
  /** Superuser and password are those of the primary. */
  readonly superuserUrl: string
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

/**
 * Copies the primary, which is down for that moment, and follows it from then on. The primary waits for
 * nobody before it is told to: `alter system set synchronous_standby_names = '*'`.
 */
async function startStandby(primary: OwnPostgres): Promise<Standby> {
  const folder = ownFolder()
  const options = { dataDir: join(folder, 'pg'), logger: quietLogger }
  const empty = await startPostgres(options)
  await empty.stop()
  const data = join(empty.home, 'data')
  await rm(data, { recursive: true })
  await primary.pause()
  await run('cp', ['-a', join(primary.home, 'data'), data])
  await primary.restart()
  const { username, password } = new URL(primary.superuserUrl)
  const follows = `host=127.0.0.1 port=${primary.port} user=${username} password=${password}`
  await appendFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${follows}'\n`)
  await writeFile(join(data, 'standby.signal'), '')
  const running = await startPostgres(options)
  const url = new URL(primary.superuserUrl)
  url.port = String(running.port)
  return {
    superuserUrl: url.href,
    async stop() {
      await running.stop()
      await rm(running.home, { recursive: true, force: true })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** What was confirmed is on both servers; a write waits until it is. */
export interface PostgresPair {
  readonly primary: OwnPostgres
  readonly standby: Standby
  /** Names both servers, as superuser. */
  readonly superuserUrl: string
  /** Makes the standby the primary, whatever became of the other one. */
  promote(): Promise<void>
  /** Ends both and deletes their data. */
  stop(): Promise<void>
}

const FOLLOWS_WITHIN_MS = 60_000

/** Two servers of a test's own, of which the second one follows the first and holds all that it confirms. */
export async function startPostgresPair(): Promise<PostgresPair> {
  const primary = await startOwnPostgres()
  const standby = await startStandby(primary)
  await askPostgres(primary.superuserUrl, `alter system set synchronous_standby_names = '*'`)
  await askPostgres(primary.superuserUrl, 'select pg_reload_conf()')
  const following = `select from pg_stat_replication where sync_state = 'sync'`
  await eventually(async () => (await askPostgres(primary.superuserUrl, following)).length === 1, {
    deadlineMs: FOLLOWS_WITHIN_MS,
    describe: 'the primary waits for its standby',
  })
  const both = new URL(primary.superuserUrl)
  both.searchParams.set('host', `${both.hostname},${both.hostname}`)
  both.searchParams.set('port', `${both.port},${new URL(standby.superuserUrl).port}`)
  return {
    primary,
    standby,
    superuserUrl: both.href,
    // A machine with much to do may not let it in at once.
    promote: async () =>
      void (await eventually(
        async () =>
          await askPostgres(standby.superuserUrl, 'select pg_promote()').then(
            () => true,
            () => false,
          ),
        { deadlineMs: FOLLOWS_WITHIN_MS, describe: 'the standby is promoted' },
      )),
    stop: async () => {
      await standby.stop()
      await primary.stop()
    },
  }
}

/** One statement on a connection of its own. */
export async function askPostgres(
  url: string,
  text: string,
): Promise<readonly Record<string, unknown>[]> {
  const pool = createPool({ url, applicationName: 'test', connectionsMax: 1 })
  try {
    return (await pool.query({ text })).rows
  } finally {
    await pool.end()
  }
}
