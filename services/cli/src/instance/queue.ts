// Which queue an instance uses: the Redis it is given, one that is found or fetched, or none at all.
import { join } from 'node:path'
import { startOrFetchRedis, startRedis } from '@baton/embedded'
import type { RunningRedis, Unavailable } from '@baton/embedded'
import { describeRedis, kindOf, readTls, redisAddressOf, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { OWN_HOME } from '../root.ts'
import type { Context } from '../context.ts'
import { serverTls } from './instance-tls.ts'

/** `redis` and `none` force it; `any` takes the best there is. */
export type QueueChoice = 'redis' | 'none' | 'any'

export interface Queue {
  readonly kind: 'redis' | 'in-process'
  /** Words for a person: which queue, and why this one. */
  readonly description: string
  readonly redisUrl: string | undefined
  /** Redis of the instance is started again when it dies. */
  readonly supervise?: RunningRedis['supervise']
  stop(): Promise<void>
}

/** A Redis binary is unpacked once per checkout, whatever the home. */
export const REDIS_CACHE = join(OWN_HOME, 'redis-server')

/**
 * Opens the queue. Throws BATON_REDIS_UNAVAILABLE where Redis was asked for and does not answer, and
 * BATON_REDIS_UNSAFE where the given one may lose jobs silently.
 */
export async function openQueue(
  context: Context,
  { choice, logger }: { readonly choice: QueueChoice; readonly logger: Logger },
): Promise<Queue> {
  const given = context.settings.BATON_REDIS_URL
  if (choice === 'none') return inProcess('no Redis wanted')
  if (given !== undefined) return onGivenRedis(given, context)
  const options = {
    dir: join(context.home, 'redis'),
    cacheDir: REDIS_CACHE,
    tls: await serverTls(context.home, 'redis'),
    tell: context.output.words,
    logger,
  }
  const redis =
    choice === 'redis'
      ? await startRedis({ ...options, fetch: true })
      : await startOrFetchRedis(options)
  if (!('unavailable' in redis)) {
    const { supervise, stop } = redis
    return { ...onRedis(redis.url, sourceOf(redis)), supervise, stop }
  }
  if (choice === 'redis') throw unavailable(redis)
  return inProcess(`${redis.unavailable}; set BATON_REDIS_URL to use one`)
}

// Asked before anything is sent: a wrong address would otherwise look like work that never ends.
async function onGivenRedis(url: string, { settings }: Context): Promise<Queue> {
  const server = { url, tls: readTls(settings) }
  const allowUnsafe = settings.BATON_ALLOW_UNSAFE_REDIS
  const words = describeRedis(redisAddressOf(url))
  try {
    const { requireSafeRedis } = await import('@baton/transport')
    const findings = await requireSafeRedis(server, { allowUnsafe })
    const isUnsafe = findings.some(({ severity }) => severity === 'unsafe')
    const warning = isUnsafe ? ', not safe to rely on: see doctor' : ''
    return onRedis(url, `${words}${warning}`)
  } catch (cause) {
    if (kindOf(cause) === 'permanent') throw cause
    throw transient('BATON_REDIS_UNAVAILABLE', `the ${words} does not answer`, {
      cause,
      fix: 'Check BATON_REDIS_URL and that the server runs, or run with --no-redis.',
    })
  }
}

const sourceOf = ({ source }: RunningRedis): string =>
  source === 'path' ? 'Redis found on PATH' : 'Redis unpacked from the distribution’s packages'

const onRedis = (redisUrl: string, description: string): Queue => ({
  kind: 'redis',
  description: `BullMQ on ${description}`,
  redisUrl,
  stop: async () => undefined,
})

const inProcess = (why: string): Queue => ({
  kind: 'in-process',
  description: `in-process, woken by Postgres (${why})`,
  redisUrl: undefined,
  stop: async () => undefined,
})

const unavailable = (redis: Unavailable) =>
  transient('BATON_REDIS_UNAVAILABLE', `there is no Redis: ${redis.unavailable}`, {
    fix: 'Install redis-server or valkey-server, set BATON_REDIS_URL, or run with --no-redis.',
  })
