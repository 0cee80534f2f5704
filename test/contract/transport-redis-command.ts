// Empties a Redis that several tests share, of one test's keys.
import { sendToRedis } from '@baton/testkit'

const DELETE_BY_PREFIX = `for _, key in ipairs(redis.call('keys', ARGV[1] .. ':*')) do redis.call('del', key) end return 1`

/** Deletes one test's keys from a shared Redis, as FLUSHALL would from a Redis of its own. */
export async function deleteKeys(url: string, prefix: string): Promise<void> {
  await sendToRedis(url, [['EVAL', DELETE_BY_PREFIX, '0', prefix]])
}
