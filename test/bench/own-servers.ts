// The servers of one measurement, which nobody else uses: started for it, and stopped however it ends.
import { startOwnPostgres, startOwnRedis } from '@baton/testkit'
import { serverPid } from './server-pid.ts'
import type { Servers } from './system-under-load.ts'

/** Throws where Redis is asked for and there is none. */
export async function withOwnServers(
  isWithRedis: boolean,
  measure: (servers: Servers) => Promise<void>,
): Promise<void> {
  const postgres = await startOwnPostgres()
  const adminUrl = postgres.superuserUrl
  try {
    const postgresPid = await serverPid(postgres.port)
    if (isWithRedis) await withOwnRedis((redis) => measure({ adminUrl, postgresPid, ...redis }))
    else await measure({ adminUrl, postgresPid, redisPid: 0, redisUrl: undefined })
  } finally {
    await postgres.stop()
  }
}

async function withOwnRedis(
  measure: (redis: Pick<Servers, 'redisPid' | 'redisUrl'>) => Promise<void>,
): Promise<void> {
  const redis = await startOwnRedis()
  if ('unavailable' in redis)
    throw new Error(`no Redis (${redis.unavailable}): give --no-redis where a bench has it`)
  try {
    const redisPid = await serverPid(Number(new URL(redis.url).port))
    await measure({ redisPid, redisUrl: redis.url })
  } finally {
    await redis.stop()
  }
}
