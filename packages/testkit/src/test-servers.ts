// Finds the servers tests run on: a given URL, else a container, else ones started here without root or Docker.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { discardPostgres, discardRedis, isAlive, startPostgres, startRedis } from '@baton/embedded'
import type { Unavailable } from '@baton/embedded'
import { startPostgresContainer, startRedisContainer, whereDockerAnswers } from './docker.ts'
import { REDIS_CACHE, TEST_STATE } from './folders.ts'
import { quietLogger } from './progress.ts'

export interface TestPostgres {
  /** Connects as a superuser to the database `postgres`; tests make their own databases. */
  readonly adminUrl: string
  readonly source: 'env' | 'testcontainers' | 'embedded'
}
export interface TestRedis {
  readonly url: string
  readonly source: 'env' | 'testcontainers' | 'path' | 'distribution'
}
interface Stoppable {
  stop(): Promise<void>
}

/** One per vitest run; a run that was killed leaves its servers to the next run, which removes them. */
const RUN = `run-${process.pid}`

export async function startTestPostgres(): Promise<TestPostgres & Stoppable> {
  const given = process.env['BATON_TEST_POSTGRES_URL']
  if (given) return { adminUrl: given, source: 'env', stop: async () => undefined }
  const container = await whereDockerAnswers('Postgres', startPostgresContainer)
  if (container !== null)
    return { adminUrl: container.url, source: 'testcontainers', stop: container.stop }
  await removeAbandonedRuns()
  const { superuserUrl, stop } = await startPostgres({
    dataDir: join(TEST_STATE, RUN, 'pg'),
    temporary: true,
    logger: quietLogger,
  })
  return { adminUrl: superuserUrl, source: 'embedded', stop }
}

export async function startTestRedis(): Promise<(TestRedis & Stoppable) | Unavailable> {
  const given = process.env['BATON_TEST_REDIS_URL']
  if (given) return { url: given, source: 'env', stop: async () => undefined }
  const container = await whereDockerAnswers('Redis', startRedisContainer)
  if (container !== null) return { ...container, source: 'testcontainers' }
  return await startRedis({
    dir: join(TEST_STATE, RUN, 'redis'),
    cacheDir: REDIS_CACHE,
    fetch: true,
    temporary: true,
    logger: quietLogger,
  })
}

/** Ends and deletes what killed runs left behind. Living runs, also of other people, are not touched. */
async function removeAbandonedRuns(): Promise<void> {
  for (const run of await readdir(TEST_STATE).catch(() => [])) {
    const pid = Number(/^run-(\d+)$/.exec(run)?.[1])
    if (!pid || isAlive({ pid, startedAt: null })) continue
    const folder = join(TEST_STATE, run)
    await Promise.allSettled([
      discardPostgres(join(folder, 'pg')),
      discardRedis(join(folder, 'redis')),
    ])
    await rm(folder, { recursive: true, force: true })
  }
}
