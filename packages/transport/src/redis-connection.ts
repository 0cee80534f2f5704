// How Baton's processes connect to Redis: bounded waits, fast reconnects.
import { fullJitterMs, NO_TLS, refusePlaintext } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { PUBLISH_TIMEOUT_MS } from './bullmq-errors.ts'

const CONNECT_TIMEOUT_MS = 2_000
/** Longer than the longest blocking read (2 s) plus a margin: silence beyond it is a dead link. */
const CONSUMER_SILENCE_MS = 8_000
const PUBLISHER_SILENCE_MS = 3_000
const RECONNECT_BASE_MS = 100
const RECONNECT_CAP_MS = 1_000

/** Half fixed, half random: never slower than a second, never all processes at once. */
export function reconnectDelayMs(attempt: number): number {
  const bounds = { baseMs: RECONNECT_BASE_MS, capMs: RECONNECT_CAP_MS }
  return RECONNECT_BASE_MS / 2 + Math.floor(fullJitterMs(attempt, bounds) * 0.95)
}

/** Fails fast: a relay that cannot publish keeps its rows and tries again. */
export const publisherOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: PUBLISH_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: PUBLISHER_SILENCE_MS,
  retryStrategy: reconnectDelayMs,
} satisfies RedisOptions

/** Waits for Redis to come back for as long as `wanted` says so, then lets the connection end. */
export function consumerOptions(wanted: () => boolean) {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONSUMER_SILENCE_MS,
    retryStrategy: (attempt: number) => (wanted() ? reconnectDelayMs(attempt) : null),
  } satisfies RedisOptions
}

/** A server that took the connection answers its greeting within this time. */
const GREETING_MS = 1_500
const REPLIES = { replyMapping: 'legacy' } as const

/** Where a Redis is, and what is trusted and shown where its URL begins with `rediss://`. */
export interface RedisServer {
  readonly url: string
  readonly tls?: Tls | undefined
}

/** Chain and name are verified, with what is trusted when a connection is made: who sells a Redis has its certificate from an authority of the machine. Throws BATON_PLAINTEXT_REFUSED. */
export function tlsOptions({ url, tls = NO_TLS }: RedisServer): Pick<RedisOptions, 'tls'> {
  const { protocol, hostname } = new URL(url)
  if (protocol === 'rediss:') {
    return {
      tls: {
        rejectUnauthorized: true,
        get secureContext() {
          return tls.toOthers()
        },
      },
    }
  }
  refusePlaintext(tls, {
    host: hostname,
    setting: 'BATON_REDIS_URL',
    encrypted: 'Let it begin with rediss://',
  })
  return {}
}

/**
 * Opens a connection that also leaves a link which is silent from the start: the driver bounds only
 * the connecting and, much later, the silence. Copies of it, as BullMQ makes them, do the same.
 */
export function openRedis(server: RedisServer, options: RedisOptions): Redis {
  return leaveSilentLinks(new Redis(server.url, { ...options, ...tlsOptions(server), ...REPLIES }))
}

function leaveSilentLinks(redis: Redis): Redis {
  let timer: NodeJS.Timeout | undefined
  redis.on('connect', () => {
    clearTimeout(timer)
    timer = setTimeout(() => redis.stream.destroy(new Error('no greeting')), GREETING_MS)
  })
  for (const event of ['ready', 'close', 'end']) redis.on(event, () => clearTimeout(timer))
  redis.duplicate = (changes) =>
    leaveSilentLinks(new Redis({ ...redis.options, ...changes, ...REPLIES }))
  return redis
}
