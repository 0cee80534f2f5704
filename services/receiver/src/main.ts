// The receiver process: hosts agents; without Redis it also relays for them.
import {
  createLife,
  createLogger,
  describeStartFailure,
  readSettings,
  runServices,
} from '@baton/runtime'
import { createWorker, parseSigningKeys } from '@baton/sdk'
import { opsService, openTransport, safeServers, transportService } from '@baton/engine'
import { createMetrics } from '@baton/telemetry'
import { loadAgents } from './load-agents.ts'
import { RECEIVER_SETTINGS } from './settings.ts'

async function main(): Promise<never> {
  const settings = readSettings(RECEIVER_SETTINGS, process.env)
  const logger = createLogger({ service: 'receiver', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const transport = await openTransport(settings, logger)
  const life = createLife()
  const databaseUrl = settings.BATON_DATABASE_URL
  const worker = createWorker({
    agents: await loadAgents(settings.BATON_AGENTS, process.env),
    databaseUrl,
    keyRing: parseSigningKeys(settings.BATON_SIGNING_KEYS),
    audit: { url: settings.BATON_AUDIT_URL, token: settings.BATON_AUDIT_APPEND_TOKEN },
    transport,
    concurrency: settings.BATON_CONCURRENCY,
    backoff: { baseMs: settings.BATON_RETRY_BASE_MS, capMs: settings.BATON_RETRY_CAP_MS },
    attemptsMax: settings.BATON_ATTEMPTS_MAX,
    correctionMs: settings.BATON_CORRECTION_MS,
    blockedPolicy: settings.BATON_BLOCKED_POLICY,
    drainMs: settings.BATON_DRAIN_MS,
    leaseMs: settings.BATON_LEASE_MS,
    quietMs: settings.BATON_QUIET_MS,
    onStuck: life.fail,
    metrics,
    logger,
  })
  return runServices(
    [
      safeServers({ databaseUrl, redisUrl: settings.BATON_REDIS_URL, settings, life, logger }),
      transportService(transport),
      opsService({ settings, service: 'baton-receiver', metrics, logger, ready: worker.ready }),
      worker,
    ],
    { logger, drainMs: settings.BATON_DRAIN_MS + 5_000, life },
  )
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(1)
}
