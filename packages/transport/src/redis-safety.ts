// Whether a Redis keeps what it acknowledged. Losing jobs is survivable (the sweeper re-drives
// them) but slow, and an evicting Redis loses them without anybody noticing.
import { describeRedis, permanent, redisAddressOf, within } from '@baton/runtime'
import type { BatonError, RedisAddress } from '@baton/runtime'
import { Cluster, ReplyError } from 'ioredis'
import type { Redis } from 'ioredis'
import { unavailable } from './bullmq-errors.ts'
import { openRedis, publisherOptions } from './redis-connection.ts'
import type { RedisClient, RedisServer } from './redis-connection.ts'

export interface RedisFinding {
  readonly code:
    | 'BATON_REDIS_NOT_DURABLE'
    | 'BATON_REDIS_EVICTS'
    | 'BATON_REDIS_UNBOUNDED'
    | 'BATON_REDIS_TOO_OLD'
    | 'BATON_REDIS_ALONE'
    | 'BATON_REDIS_UNCOVERED'
    | 'BATON_REDIS_UNREADABLE'
  /** `unsafe` findings should stop a service from starting; `advice` should be printed. */
  readonly severity: 'unsafe' | 'advice'
  readonly message: string
  readonly fix: string
}

/** The facts judged; null where the server did not say. */
export interface RedisFacts {
  readonly version: string | null
  readonly appendOnly: boolean | null
  readonly evictionPolicy: string | null
  readonly memoryLimitBytes: number | null
  /** Servers that follow this one and could take over. */
  readonly replicas: number | null
}

/** What it says of itself: one server, a part of a Cluster, or a Sentinel, which has no data. */
type Mode = 'standalone' | 'cluster' | 'sentinel'

/** BullMQ's scripts need at least this. */
const MAJOR_VERSION_MIN = 5

/** Judges a Redis by its own report. An empty list means safe. */
export function judgeRedis(facts: RedisFacts): readonly RedisFinding[] {
  const findings: RedisFinding[] = []
  if (facts.version !== null && Number.parseInt(facts.version, 10) < MAJOR_VERSION_MIN) {
    findings.push({
      code: 'BATON_REDIS_TOO_OLD',
      severity: 'unsafe',
      message: `Redis ${facts.version} is too old`,
      fix: `Use Redis ${MAJOR_VERSION_MIN} or later, or any Valkey.`,
    })
  }
  if (facts.appendOnly === false) {
    findings.push({
      code: 'BATON_REDIS_NOT_DURABLE',
      severity: 'unsafe',
      message: 'the append-only file is off: a crash loses nearly every job',
      fix: 'Set `appendonly yes` and `appendfsync everysec`.',
    })
  }
  if (facts.evictionPolicy !== null && facts.evictionPolicy !== 'noeviction') {
    findings.push({
      code: 'BATON_REDIS_EVICTS',
      severity: 'unsafe',
      message: `maxmemory-policy is ${facts.evictionPolicy}: a full Redis drops jobs silently`,
      fix: 'Set `maxmemory-policy noeviction`.',
    })
  }
  if (facts.memoryLimitBytes === 0) {
    findings.push({
      code: 'BATON_REDIS_UNBOUNDED',
      severity: 'advice',
      message: 'maxmemory is not set: Redis may take all memory of its machine',
      fix: 'Set `maxmemory`; 256 MB holds well over 100,000 jobs.',
    })
  }
  return facts.appendOnly === null || facts.evictionPolicy === null
    ? [...findings, UNREADABLE]
    : findings
}

const UNREADABLE: RedisFinding = {
  code: 'BATON_REDIS_UNREADABLE',
  severity: 'advice',
  message: 'Redis does not tell whether its append-only file is on and what it evicts',
  fix: 'Check `appendonly yes` and `maxmemory-policy noeviction` in the provider’s settings.',
}

/** Of a primary that others are meant to take over from. */
export function judgeReplicas({ replicas }: RedisFacts): readonly RedisFinding[] {
  if (replicas !== 0) return []
  return [
    {
      code: 'BATON_REDIS_ALONE',
      severity: 'advice',
      message: 'no replica follows this primary: when it dies, nobody takes over',
      fix: 'Start its replica, and read in its log why it does not follow.',
    },
  ]
}

/**
 * Asks this Redis: one server, the primary that Sentinels name, or every primary of a Cluster. Rejects with
 * BATON_QUEUE_UNAVAILABLE (transient) if it does not answer, and with BATON_REDIS_ADDRESS_WRONG (permanent) where it is of
 * another kind than its address says.
 */
export async function checkRedisSafety(server: RedisServer): Promise<readonly RedisFinding[]> {
  const address = redisAddressOf(server.url)
  const redis = openRedis(server, {
    ...publisherOptions,
    lazyConnect: true,
    retryStrategy: () => null,
  })
  // The driver answers only that the connection is closed.
  let why: Error | undefined
  let unknown: BatonError | undefined
  redis.on('error', (error: Error) => (why = error))
  redis.on('sentinelError', ({ message }: Error) => {
    if (/invalid reply|No such master/.test(message)) unknown = nameUnknown(address)
  })
  try {
    return await within(CHECK_MAX_MS, judge(redis, address), () => new Error(LATE))
  } catch (error) {
    throw unknown ?? explained(address, rootOf(why ?? error))
  } finally {
    redis.disconnect()
  }
}

/** A Cluster whose servers do not know their own addresses lets the driver wait for ever. */
const CHECK_MAX_MS = 10_000
const LATE = `no answer within ${CHECK_MAX_MS} ms`

async function judge(redis: RedisClient, address: RedisAddress): Promise<readonly RedisFinding[]> {
  await redis.connect()
  return redis instanceof Cluster ? judgeCluster(redis) : judgeOne(redis, address)
}

async function judgeOne(redis: Redis, address: RedisAddress): Promise<readonly RedisFinding[]> {
  const info = await readInfo(redis)
  const mode = readMode(info)
  if (mode === 'cluster' && (await primariesOf(redis)) > 1)
    throw wrongKind(address, 'a server of a Cluster', '+cluster')
  if (mode === 'sentinel') throw wrongKind(address, 'a Sentinel', '+sentinel')
  const facts = readFacts(info)
  return address.kind === 'sentinel'
    ? [...judgeRedis(facts), ...judgeReplicas(facts)]
    : judgeRedis(facts)
}

// One that has every slot serves as any other server does.
async function primariesOf(redis: Redis): Promise<number> {
  const info = String(await redis.cluster('INFO'))
  return Number(readerOf(info)('cluster_size') ?? 0)
}

async function judgeCluster(cluster: Cluster): Promise<readonly RedisFinding[]> {
  const primaries = await Promise.all(
    cluster.nodes('master').map(async (redis) => {
      const facts = readFacts(await readInfo(redis))
      const { host, port } = redis.options
      const findings = [...judgeRedis(facts), ...judgeReplicas(facts)]
      return findings.map((one) => ({ ...one, message: `${host}:${port}: ${one.message}` }))
    }),
  )
  return [...judgeSlots(cluster.slots), ...primaries.flat()]
}

const SLOTS = 16_384

function judgeSlots(slots: readonly (readonly string[] | undefined)[]): readonly RedisFinding[] {
  const served = slots.filter((servers) => servers !== undefined && servers.length > 0).length
  if (served === SLOTS) return []
  return [
    {
      code: 'BATON_REDIS_UNCOVERED',
      severity: 'advice',
      message: `${SLOTS - served} of ${SLOTS} slots of the Cluster have no server: their queues wait in Postgres`,
      fix: 'Start the server that had them, or give them to another one (`redis-cli --cluster fix`).',
    },
  ]
}

/** Of a Cluster the error of the last server that was asked says more than that all were. */
function rootOf(error: unknown): unknown {
  return (error as { lastNodeError?: unknown } | null)?.lastNodeError ?? error
}

/** What tells that the address is of another kind; everything else may pass. */
function explained(address: RedisAddress, error: unknown): unknown {
  const { message = '', code } = error as Partial<BatonError>
  if (code === 'BATON_REDIS_ADDRESS_WRONG' || code === 'BATON_PLAINTEXT_REFUSED') return error
  if (/cluster support disabled|cluster mode disabled/i.test(message))
    return wrongKind(address, 'a server that belongs to no Cluster', '')
  if (address.kind === 'cluster' && /unknown (?:command|subcommand).*slots/i.test(message))
    return wrongKind(address, 'a Sentinel', '+sentinel')
  const refused = /(?:NOAUTH|WRONGPASS|NOPERM)/.exec(message)?.[0]
  if (refused !== undefined) return unavailable(error, passwordFix(address, refused))
  if (address.kind !== 'sentinel') return unavailable(error)
  if (/unknown command.*sentinel/i.test(message))
    return wrongKind(address, 'a server and no Sentinel', '')
  return unavailable(error)
}

function passwordFix({ kind }: RedisAddress, refused: string): string {
  const words = `It answers ${refused}: mend user and password in BATON_REDIS_URL`
  return kind === 'sentinel'
    ? `${words}, before the Sentinels for the servers, and as sentinel_password for the Sentinels themselves.`
    : `${words}.`
}

const nameUnknown = (address: RedisAddress) =>
  permanent(
    'BATON_REDIS_ADDRESS_WRONG',
    `no Sentinel that answers knows the primary of the ${describeRedis(address)}`,
    { fix: 'Write in BATON_REDIS_URL the name that `sentinel monitor` has in their settings.' },
  )

function wrongKind(address: RedisAddress, what: string, kind: '' | '+cluster' | '+sentinel') {
  const scheme = `${address.isEncrypted ? 'rediss' : 'redis'}${kind}://`
  return permanent('BATON_REDIS_ADDRESS_WRONG', `the ${describeRedis(address)} is ${what}`, {
    fix: `Let BATON_REDIS_URL begin with ${scheme}${kind === '+sentinel' ? ', and end with the name of the primary' : ''}.`,
  })
}

// An access list may forbid even this; then nothing can be said, which is said.
async function readInfo(redis: Redis): Promise<string> {
  try {
    return await redis.info()
  } catch (error) {
    if (error instanceof ReplyError) return ''
    throw error
  }
}

/**
 * Throws BATON_REDIS_UNSAFE (permanent) where this Redis may lose jobs silently, unless
 * `allowUnsafe`. Answers what is worth a warning; rejects as `checkRedisSafety` does.
 */
export async function requireSafeRedis(
  server: RedisServer,
  { allowUnsafe }: { readonly allowUnsafe: boolean },
): Promise<readonly RedisFinding[]> {
  const findings = await checkRedisSafety(server)
  const unsafe = findings.filter(({ severity }) => severity === 'unsafe')
  if (unsafe.length === 0 || allowUnsafe) return findings
  const what = unsafe.map(({ message }) => message).join('; ')
  const fixes = unsafe.map(({ fix }) => fix).join(' ')
  throw permanent(
    'BATON_REDIS_UNSAFE',
    `the ${describeRedis(redisAddressOf(server.url))} is not safe to rely on: ${what}`,
    {
      fix: `${fixes} To start all the same, set BATON_ALLOW_UNSAFE_REDIS=1.`,
    },
  )
}

// INFO, not CONFIG GET: managed Redis services refuse CONFIG, and INFO says the same.
function readFacts(info: string): RedisFacts {
  const read = readerOf(info)
  const limit = read('maxmemory')
  const appendOnly = read('aof_enabled')
  const replicas = read('connected_slaves')
  return {
    version: read('redis_version'),
    appendOnly: appendOnly === null ? null : appendOnly === '1',
    evictionPolicy: read('maxmemory_policy'),
    memoryLimitBytes: limit === null ? null : Number(limit),
    replicas: replicas === null ? null : Number(replicas),
  }
}

const readMode = (info: string): Mode | null => readerOf(info)('redis_mode') as Mode | null

function readerOf(info: string): (name: string) => string | null {
  const fields = new Map(
    info.split(/\r?\n/).map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)] as const
    }),
  )
  return (name) => fields.get(name) ?? null
}
