// Servers of a test's own, for tests that stop, kill or flush them.
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { startPostgres, startRedis } from '@baton/infra'
import type { RunningPostgres, RunningRedis, Unavailable } from '@baton/infra'
import { REDIS_CACHE, TEST_STATE } from './folders.ts'
import { quietLogger } from './progress.ts'

const ownFolder = () => join(TEST_STATE, `run-${process.pid}`, randomUUID().slice(0, 8))

/** A Postgres nobody else uses; `stop` ends it and deletes its data. `restart` brings it back on the same port. */
export interface OwnPostgres extends RunningPostgres {
  /** Ends the server but keeps its data; a later `restart` continues with it. */
  pause(): Promise<void>
  restart(): Promise<void>
}

export async function startOwnPostgres(): Promise<OwnPostgres> {
  const folder = ownFolder()
  const options = { dataDir: join(folder, 'pg'), logger: quietLogger }
  let running = await startPostgres(options)
  return {
    ...running,
    pause: async () => await running.stop(),
    restart: async () => {
      const { port } = running
      running = await startPostgres({ ...options, port })
      if (running.port !== port) throw new Error(`port ${port} was taken in the meantime`)
    },
    stop: async () => {
      await running.stop()
      await rm(running.home, { recursive: true, force: true })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A Redis nobody else uses; `stop` ends it and deletes its data. */
export async function startOwnRedis(): Promise<RunningRedis | Unavailable> {
  const folder = ownFolder()
  const running = await startRedis({
    dir: join(folder, 'redis'),
    cacheDir: REDIS_CACHE,
    fetch: true,
    logger: quietLogger,
  })
  if ('unavailable' in running) return running
  return {
    ...running,
    stop: async () => {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
