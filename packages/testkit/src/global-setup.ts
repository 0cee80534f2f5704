// One Postgres and one Redis for a whole vitest run, handed to every test file by vitest's `provide`.
import type { TestProject } from 'vitest/node'
import type { Unavailable } from '@baton/embedded'
import { startTestPostgres, startTestRedis } from './test-servers.ts'
import type { TestPostgres, TestRedis } from './test-servers.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    batonPostgres: TestPostgres
    batonRedis: TestRedis | Unavailable
  }
}

/** Called by vitest once per project; the servers are shared with other projects of the same run. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()])
  project.provide('batonPostgres', { adminUrl: postgres.adminUrl, source: postgres.source })
  if ('unavailable' in redis) {
    process.stderr.write(`testkit: NO REDIS, its tests cannot run: ${redis.unavailable}\n`)
    project.provide('batonRedis', redis)
  } else project.provide('batonRedis', { url: redis.url, source: redis.source })
  return async () => {
    await Promise.all([postgres.stop(), 'unavailable' in redis ? undefined : redis.stop()])
  }
}
