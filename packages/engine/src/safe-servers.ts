// Refuses to work on servers that may lose what they acknowledged, unless told to by name.
import { codeOf } from '@baton/runtime'
import type { Life, Logger, Service } from '@baton/runtime'
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
  let timer: NodeJS.Timeout | undefined
  let stopped = false

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

  async function askAgain(open: readonly Check[]): Promise<void> {
    try {
      await askAll(open)
    } catch (error) {
      life.fail(error as Error)
    }
  }

  async function askAll(checks: readonly Check[]): Promise<void> {
    const answered = await Promise.all(checks.map(ask))
    const open = checks.filter((_, index) => answered[index] === false)
    if (open.length === 0 || stopped) return
    timer = setTimeout(() => void askAgain(open), ASK_AGAIN_MS)
    timer.unref()
  }

  return {
    name: 'safe-servers',
    start: () => askAll(checksOf(parts)),
    async stop() {
      stopped = true
      clearTimeout(timer)
    },
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
