// Refuses to work on servers that may lose what they acknowledged, unless told to by name.
import { codeOf, every } from '@baton/runtime'
import type { Life, Logger, Periodic, Service, Tls } from '@baton/runtime'
import { createPool, requireSafePostgres } from '@baton/store'
import type { Metrics } from '@baton/telemetry'

interface SafeServersParts {
  readonly databaseUrl: string
  readonly redisUrl?: string | undefined
  readonly tls?: Tls | undefined
  readonly settings: {
    readonly BATON_ALLOW_UNSAFE_POSTGRES: boolean
    readonly BATON_ALLOW_UNSAFE_REDIS?: boolean
  }
  readonly life: Life
  readonly metrics: Pick<Metrics, 'serverUnsafe'>
  readonly logger: Logger
  /** How often servers that were found safe are looked at again; 10 minutes by default. */
  readonly lookAgainMs?: number
}

const ASK_AGAIN_MS = 2_000
const LOOK_AGAIN_MS = 600_000
const REFUSALS: ReadonlySet<string> = new Set([
  'BATON_POSTGRES_UNSAFE',
  'BATON_REDIS_UNSAFE',
  'BATON_REDIS_ADDRESS_WRONG',
  'BATON_RESTORE_UNFINISHED',
])

/**
 * Fails its start with BATON_POSTGRES_UNSAFE, BATON_RESTORE_UNFINISHED or BATON_REDIS_UNSAFE. A server that does not answer
 * stops nobody: it is asked until it does, and where it then proves unsafe the process ends. Afterwards
 * they are looked at again now and then: what was changed meanwhile is logged and shown, and ends nothing.
 */
export function safeServers(parts: SafeServersParts): Service {
  const { life, metrics, logger, lookAgainMs = LOOK_AGAIN_MS } = parts
  const checks = checksOf(parts)
  const seen = new Map<Check, number>()
  let open = checks

  async function ask(check: Check): Promise<boolean> {
    try {
      show(check, await check.run(check.allowUnsafe))
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
    return open.length === 0 ? lookAgainMs : ASK_AGAIN_MS
  }

  function show(check: Check, unsafe: readonly object[]): void {
    metrics.serverUnsafe.with({ server: check.server }).set(unsafe.length)
    if (unsafe.length > (seen.get(check) ?? 0))
      for (const finding of unsafe)
        logger.warn({ event: 'server.unsafe', server: check.server, ...finding })
    seen.set(check, unsafe.length)
  }

  async function lookAgain(check: Check): Promise<void> {
    try {
      show(check, await check.run(true))
    } catch (error) {
      logger.warn({ event: 'server.unchecked', server: check.server, code: codeOf(error) })
    }
  }

  async function look(): Promise<number> {
    if (open.length > 0) return askAll()
    await Promise.all(checks.map(lookAgain))
    return lookAgainMs
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
        run: look,
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
  readonly allowUnsafe: boolean
  /** Answers what is unsafe; throws where there is something and it is not allowed. */
  run(allowUnsafe: boolean): Promise<readonly object[]>
}

function checksOf({
  databaseUrl,
  redisUrl,
  tls,
  settings,
  logger,
}: SafeServersParts): readonly Check[] {
  const postgres: Check = {
    server: 'postgres',
    allowUnsafe: settings.BATON_ALLOW_UNSAFE_POSTGRES,
    async run(allowUnsafe) {
      const pool = createPool({
        url: databaseUrl,
        applicationName: 'baton-check',
        connectionsMax: 1,
      })
      try {
        const off = await requireSafePostgres(pool, { allowUnsafe })
        return off.map((setting) => ({ off: [setting] }))
      } finally {
        await pool.end()
      }
    },
  }
  if (redisUrl === undefined) return [postgres]
  let isAdvised = false
  const redis: Check = {
    server: 'redis',
    allowUnsafe: settings.BATON_ALLOW_UNSAFE_REDIS === true,
    async run(allowUnsafe) {
      const { requireSafeRedis } = await import('@baton/transport')
      const findings = await requireSafeRedis({ url: redisUrl, tls }, { allowUnsafe })
      const advice = findings.filter(({ severity }) => severity !== 'unsafe')
      if (!isAdvised)
        for (const { code, message } of advice)
          logger.info({ event: 'server.advice', server: 'redis', code, message })
      isAdvised = true
      return findings
        .filter(({ severity }) => severity === 'unsafe')
        .map(({ code, message }) => ({ code, message }))
    },
  }
  return [postgres, redis]
}
