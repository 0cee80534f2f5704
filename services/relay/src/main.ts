// The relay process: outbox to queue, and the sweeper that re-drives what is due or lost.
import { createAuditClient } from '@baton/audit/client'
import {
  createLife,
  createLogger,
  describeStartFailure,
  permanent,
  readSettings,
  runServices,
} from '@baton/runtime'
import {
  createEventShipper,
  createReceiptReconciler,
  createRelay,
  createSweeper,
  opsService,
  openTransport,
  safeServers,
  transportService,
} from '@baton/engine'
import { createPool, outboxDepth } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { RELAY_SETTINGS } from './settings.ts'

async function main(): Promise<never> {
  const settings = readSettings(RELAY_SETTINGS, process.env)
  if (settings.BATON_REDIS_URL === undefined) {
    throw permanent('BATON_SETTINGS_INVALID', 'a relay process needs BATON_REDIS_URL', {
      fix: 'Set BATON_REDIS_URL. Without Redis no relay process is needed: receivers relay for themselves.',
    })
  }
  const logger = createLogger({ service: 'relay', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const databaseUrl = settings.BATON_DATABASE_URL
  const pool = createPool({ url: databaseUrl, applicationName: 'baton-relay', connectionsMax: 4 })
  const transport = await openTransport(settings, logger)
  const client = createAuditClient({
    url: settings.BATON_AUDIT_URL,
    token: settings.BATON_AUDIT_APPEND_TOKEN,
  })
  const shipper = createEventShipper({ pool, client, metrics, logger })
  const waitingMax = settings.BATON_RELAY_WAITING_MAX
  const quietMs = settings.BATON_QUIET_MS
  const parts = { pool, databaseUrl, transport, waitingMax, quietMs, metrics, logger }
  const life = createLife()
  const ready = async () => !life.draining && (await outboxDepth(pool)).depth >= 0
  const connections = { name: 'connections', start: async () => undefined, stop: () => pool.end() }
  return await runServices(
    [
      connections,
      safeServers({ databaseUrl, redisUrl: settings.BATON_REDIS_URL, settings, life, logger }),
      transportService(transport),
      opsService({ settings, service: 'baton-relay', metrics, logger, ready }),
      createRelay(parts),
      createSweeper({ ...parts, shipper }),
      createReceiptReconciler({ ...parts, client }),
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
