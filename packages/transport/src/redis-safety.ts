// Whether a Redis keeps what it acknowledged. Losing jobs is survivable (the sweeper re-drives
// them) but slow, and an evicting Redis loses them without anybody noticing.
import { permanent } from '@baton/runtime'
import { Redis, ReplyError } from 'ioredis'
import { unavailable } from './bullmq-errors.ts'
import { publisherOptions, tlsOptions } from './redis-connection.ts'
import type { RedisServer } from './redis-connection.ts'

export interface RedisFinding {
  readonly code:
    | 'BATON_REDIS_NOT_DURABLE'
    | 'BATON_REDIS_EVICTS'
    | 'BATON_REDIS_UNBOUNDED'
    | 'BATON_REDIS_TOO_OLD'
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
}

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

/** Asks this Redis. Rejects with BATON_QUEUE_UNAVAILABLE (transient) if it does not answer. */
export async function checkRedisSafety(server: RedisServer): Promise<readonly RedisFinding[]> {
  const redis = new Redis(server.url, {
    ...publisherOptions,
    ...tlsOptions(server),
    lazyConnect: true,
    retryStrategy: () => null,
  })
  // The driver answers only that the connection is closed.
  let why: Error | undefined
  redis.on('error', (error: Error) => (why = error))
  try {
    await redis.connect()
    return judgeRedis(readFacts(await readInfo(redis)))
  } catch (error) {
    throw unavailable(why ?? error)
  } finally {
    redis.disconnect()
  }
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
  const { host } = new URL(server.url)
  const what = unsafe.map(({ message }) => message).join('; ')
  const fixes = unsafe.map(({ fix }) => fix).join(' ')
  throw permanent('BATON_REDIS_UNSAFE', `the Redis at ${host} is not safe to rely on: ${what}`, {
    fix: `${fixes} To start all the same, set BATON_ALLOW_UNSAFE_REDIS=1.`,
  })
}

// INFO, not CONFIG GET: managed Redis services refuse CONFIG, and INFO says the same.
function readFacts(info: string): RedisFacts {
  const fields = new Map(
    info.split(/\r?\n/).map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1)] as const
    }),
  )
  const read = (name: string): string | null => fields.get(name) ?? null
  const limit = read('maxmemory')
  const appendOnly = read('aof_enabled')
  return {
    version: read('redis_version'),
    appendOnly: appendOnly === null ? null : appendOnly === '1',
    evictionPolicy: read('maxmemory_policy'),
    memoryLimitBytes: limit === null ? null : Number(limit),
  }
}
