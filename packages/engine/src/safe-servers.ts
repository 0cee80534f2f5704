// Refuses to work on servers that may lose what they acknowledged, unless told to by name.
import { codeOf, every } from '@baton/runtime'
import type { Life, Logger, Periodic, Service } from '@baton/runtime'
import { createPool, requireSafePostgres } from '@baton/store'

interface SafeServersParts {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
  readonly settings: {
    readonly BATON_ALLOW_UNSAFE_POSTGRES: boolean
    readonly BATON_ALLOW_UNSAFE_REDIS?: boolean
  }
  readonly life: Life
  readonly logger: Logger
}

const ASK_AGAIN_MS = 2_000
const REFUSALS: ReadonlySet<string> = new Set(['BATON_POSTGRES_UNSAFE', 'BATON_REDIS_UNSAFE'])

/**
 * Fails its start with BATON_POSTGRES_UNSAFE or BATON_REDIS_UNSAFE. A server that does not answer
 * stops nobody: it is asked until it does, and where it then proves unsafe the process ends.
 */
export function safeServers(parts: SafeServersParts): Service {
  const { life, logger } = parts
  let open = checksOf(parts)

  async function ask(check: Check): Promise<boolean> {
    try {
      await check.run()
      return true
    } catch (error) {
      if (REFUSALS.has(codeOf(error))) throw error
      logger.warn({ event: 'server.unchecked', server: check.server, code: codeOf(error) })
      return false
    }
  }

  /** Answers how long to wait before those that gave no answer are asked again. */
  async function askAll(): Promise<number> {
    const answered = await Promise.all(open.map(ask))
    open = open.filter((_, index) => answered[index] === false)
    return open.length === 0 ? Infinity : ASK_AGAIN_MS
  }

  let asking: Periodic | undefined
  return {
    name: 'safe-servers',
    async start() {
      const firstAfterMs = await askAll()
      asking = every({
        name: 'safe-servers',
        everyMs: ASK_AGAIN_MS,
        firstAfterMs,
        run: askAll,
        failed(error) {
          life.fail(error as Error)
          return Infinity
        },
      })
      await asking.start()
    },
    stop: async () => asking?.stop(),
  }
}

interface Check {
  readonly server: 'postgres' | 'redis'
  run(): Promise<void>
}

function checksOf({ databaseUrl, redisUrl, settings, logger }: SafeServersParts): readonly Check[] {
  const postgres: Check = {
    server: 'postgres',
    async run() {
      const allowUnsafe = settings.BATON_ALLOW_UNSAFE_POSTGRES
      const pool = createPool({
        url: databaseUrl,
        applicationName: 'baton-check',
        connectionsMax: 1,
      })
      try {
        const off = await requireSafePostgres(pool, { allowUnsafe })
        if (off.length > 0) logger.warn({ event: 'server.unsafe', server: 'postgres', off })
      } finally {
        await pool.end()
      }
    },
  }
  if (redisUrl === undefined) return [postgres]
  const redis: Check = {
    server: 'redis',
    async run() {
      const { requireSafeRedis } = await import('@baton/transport')
      const allowUnsafe = settings.BATON_ALLOW_UNSAFE_REDIS === true
      for (const { severity, code, message } of await requireSafeRedis(redisUrl, { allowUnsafe })) {
        if (severity === 'unsafe')
          logger.warn({ event: 'server.unsafe', server: 'redis', code, message })
        else logger.info({ event: 'server.advice', server: 'redis', code, message })
      }
    },
  }
  return [postgres, redis]
}
