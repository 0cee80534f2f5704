// How Baton's processes connect to Redis: bounded waits, fast reconnects.
import { fullJitterMs, NO_TLS, redisAddressOf, refusePlaintext } from '@baton/runtime'
import type { ClusterRedis, RedisAddress, SentinelRedis, Tls } from '@baton/runtime'
import { Cluster, Redis } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { PUBLISH_TIMEOUT_MS } from './bullmq-errors.ts'

const CONNECT_TIMEOUT_MS = 2_000
/** Longer than the longest blocking read (2 s) plus a margin: silence beyond it is a dead link. */
const CONSUMER_SILENCE_MS = 5_000
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
} satisfies ClientOptions

/** Waits for Redis to come back for as long as `wanted` says so, then lets the connection end. */
export function consumerOptions(wanted: () => boolean) {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONSUMER_SILENCE_MS,
    retryStrategy: (attempt: number) => (wanted() ? reconnectDelayMs(attempt) : null),
  } satisfies ClientOptions
}

/** A server that took the connection answers its greeting within this time. */
const GREETING_MS = 1_500
const REPLIES = { replyMapping: 'legacy' } as const
/** How often whoever fails fast tries another server of a Cluster: about half a second in all while one is replaced. */
const REDIRECTIONS_MAX = 6
/** How often a Cluster is asked which of its servers has what, beside whenever one refuses or is gone. */
const SLOTS_EVERY_MS = 10_000

/** Where a Redis is, and what is trusted and shown where its URL begins with `rediss`. */
export interface RedisServer {
  readonly url: string
  readonly tls?: Tls | undefined
}

/** One server, the primary that Sentinels name, or a Cluster. */
export type RedisClient = Redis | Cluster

type ClientOptions = Pick<
  RedisOptions,
  | 'enableOfflineQueue'
  | 'maxRetriesPerRequest'
  | 'commandTimeout'
  | 'connectTimeout'
  | 'socketTimeout'
  | 'lazyConnect'
> & { readonly retryStrategy: (attempt: number) => number | null }

/**
 * Opens a connection that also leaves a link which is silent from the start: the driver bounds only
 * the connecting and, much later, the silence. Copies of it, as BullMQ makes them, do the same. Throws BATON_PLAINTEXT_REFUSED.
 */
export function openRedis(server: RedisServer, options: ClientOptions): RedisClient {
  const address = redisAddressOf(server.url)
  const { tls = NO_TLS } = server
  for (const { host } of address.hosts) refusePlain(host, { address, tls })
  if (address.kind === 'cluster') return openCluster(address, { tls, options })
  const place =
    address.kind === 'single'
      ? new Redis(address.url, {
          ...options,
          ...tlsOptions(address, tls),
          ...REPLIES,
          reconnectOnError,
        })
      : openPrimary(address, { tls, options })
  return leaveSilentLinks(place)
}

/**
 * A server that takes writes no more is left for whoever does: it was the primary until a moment ago (READONLY), or it is cut off
 * from its replicas and told not to go on alone (NOREPLICAS). What it refused is asked again by whoever asked.
 */
const reconnectOnError = ({ message }: Error): boolean => /^(?:READONLY|NOREPLICAS) /.test(message)

interface Opening {
  readonly tls: Tls
  readonly options: ClientOptions
}

// Of several Sentinels the first that answers is believed; it is asked anew whenever the connection is made anew.
function openPrimary(address: SentinelRedis, { tls, options }: Opening): Redis {
  const { hosts, name, username, password, database, sentinels } = address
  return new Redis({
    ...options,
    ...REPLIES,
    ...defined({ username, password }),
    ...defined({ sentinelUsername: sentinels.username, sentinelPassword: sentinels.password }),
    ...encrypted(address, tls),
    sentinels: [...hosts],
    name,
    db: database,
    sentinelCommandTimeout: GREETING_MS,
    sentinelRetryStrategy: options.retryStrategy,
    reconnectOnError,
    natMap: (told) => {
      refusePlain(hostOf(told), { address, tls })
      return null
    },
  })
}

function openCluster(address: ClusterRedis, { tls, options }: Opening): Cluster {
  const { retryStrategy, enableOfflineQueue, lazyConnect, ...ofServers } = options
  const { username, password, hosts } = address
  const cluster = new Cluster([...hosts], {
    redisOptions: {
      ...ofServers,
      ...REPLIES,
      ...defined({ username, password }),
      ...tlsOptions(address, tls),
    },
    ...defined({ enableOfflineQueue, lazyConnect }),
    ...(enableOfflineQueue === false ? { maxRedirections: REDIRECTIONS_MAX } : {}),
    clusterRetryStrategy: retryStrategy,
    // Certificates are of names: whoever connects resolves them, and not before.
    dnsLookup: (host, callback) => callback(null, host),
    slotsRefreshTimeout: GREETING_MS,
    slotsRefreshInterval: SLOTS_EVERY_MS,
  })
  return leaveSilentServers(cluster, ({ host = '' }) => refusePlain(host, { address, tls }))
}

/** Chain and name are verified, with what is trusted when a connection is made: who sells a Redis has its certificate from an authority of the machine. */
function tlsOptions({ isEncrypted }: RedisAddress, tls: Tls): Pick<RedisOptions, 'tls'> {
  if (!isEncrypted) return {}
  return {
    tls: {
      rejectUnauthorized: true,
      get secureContext() {
        return tls.toOthers()
      },
    },
  }
}

function encrypted(address: SentinelRedis, tls: Tls) {
  const own = tlsOptions(address, tls)
  return own.tls === undefined
    ? {}
    : { tls: own.tls, sentinelTLS: own.tls, enableTLSForSentinelMode: true }
}

/** Throws BATON_PLAINTEXT_REFUSED. */
function refusePlain(
  host: string,
  { address, tls }: { readonly address: RedisAddress; readonly tls: Tls },
): void {
  if (address.isEncrypted) return
  const scheme = address.kind === 'single' ? 'rediss' : `rediss+${address.kind}`
  refusePlaintext(tls, {
    host,
    setting: 'BATON_REDIS_URL',
    encrypted: `Let it begin with ${scheme}://`,
  })
}

const hostOf = (hostAndPort: string): string => hostAndPort.slice(0, hostAndPort.lastIndexOf(':'))

/** Without what is not said, where the driver takes `undefined` for an answer. */
const defined = <Values extends object>(values: Values): Partial<Values> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Partial<Values>

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

/** The same for every server of a Cluster, as it is found; one that may not be spoken to is left before it is. */
function leaveSilentServers(cluster: Cluster, refuse: (options: RedisOptions) => void): Cluster {
  const look = (redis: Redis): void => {
    try {
      refuse(redis.options)
      leaveSilentLinks(redis)
    } catch (error) {
      redis.disconnect()
      cluster.emit('error', error)
    }
  }
  cluster.on('+node', look)
  const { duplicate } = cluster
  cluster.duplicate = (...changes) => leaveSilentServers(duplicate.apply(cluster, changes), refuse)
  return cluster
}
