// A synchronous standby of a test's own Postgres, which can be promoted when the primary is gone.
import { execFile } from 'node:child_process'
import { appendFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startPostgres } from '@baton/embedded'
import { ownFolder } from './own-servers.ts'
import type { OwnPostgres } from './own-servers.ts'
import { quietLogger } from './progress.ts'

const run = promisify(execFile)

export interface Standby {
  /** Superuser and password are those of the primary. */
  readonly superuserUrl: string
  /** Ends it and deletes its data. */
  stop(): Promise<void>
}

/**
 * Copies the primary, which is down for that moment, and follows it from then on. The primary waits for
 * nobody before it is told to: `alter system set synchronous_standby_names = '*'`.
 */
export async function startStandby(primary: OwnPostgres): Promise<Standby> {
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
