// The gateway process: handoffs over HTTP, on the loopback interface unless told otherwise.
import {
  createLife,
  createLogger,
  describeStartFailure,
  readSettings,
  runServices,
} from '@baton/runtime'
import { parseSigningKeys } from '@baton/sdk'
import { opsService, safeServers } from '@baton/engine'
import { createMetrics } from '@baton/telemetry'
import { parseApiKeys } from './api-keys.ts'
import { createGateway } from './gateway.ts'
import { GATEWAY_SETTINGS } from './settings.ts'

async function main(): Promise<never> {
  const settings = readSettings(GATEWAY_SETTINGS, process.env)
  const logger = createLogger({ service: 'gateway', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const gateway = createGateway({
    host: settings.BATON_GATEWAY_HOST,
    port: settings.BATON_GATEWAY_PORT,
    databaseUrl: settings.BATON_DATABASE_URL,
    keyRing: parseSigningKeys(settings.BATON_SIGNING_KEYS),
    attemptsMax: settings.BATON_ATTEMPTS_MAX,
    correctionMs: settings.BATON_CORRECTION_MS,
    apiKeys: parseApiKeys(settings.BATON_API_KEYS),
    audit: {
      url: settings.BATON_AUDIT_URL,
      readToken: settings.BATON_AUDIT_READ_TOKEN,
      eraseToken: settings.BATON_AUDIT_ERASE_TOKEN,
    },
    limits: {
      rateMax: settings.BATON_GATEWAY_RATE_MAX,
      runningMax: settings.BATON_GATEWAY_RUNNING_MAX,
      connectionsMax: settings.BATON_GATEWAY_CONNECTIONS_MAX,
      connectionsPerAddressMax: settings.BATON_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX,
      outboxMax: settings.BATON_OUTBOX_MAX,
      outboxAgeMaxMs: settings.BATON_OUTBOX_AGE_MAX_MS,
    },
    metrics,
    logger,
  })
  const life = createLife()
  const ready = async () => !life.draining && (await gateway.ready())
  const ops = opsService({ settings, service: 'baton-gateway', metrics, logger, ready })
  const safe = safeServers({ databaseUrl: settings.BATON_DATABASE_URL, settings, life, logger })
  return await runServices([ops, safe, gateway], {
    logger,
    drainMs: settings.BATON_DRAIN_MS,
    life,
  })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(1)
}
