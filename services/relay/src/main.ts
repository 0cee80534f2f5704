// The relay process: outbox to queue, and the sweeper that re-drives what is due or lost.
import { createAuditClient } from '@baton/audit/client'
import {
  createEventShipper,
  createLevelRecorder,
  createReceiptReconciler,
  createRelay,
  createSweeper,
  openAlertWebhooks,
  openTransport,
  safeServers,
} from '@baton/engine'
import { createOpsService } from '@baton/http/ops'
import { closing, permanent } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { createPool, outboxDepth } from '@baton/store'
import { RELAY_SETTINGS } from './settings.ts'

const queueless = () =>
  permanent('BATON_SETTINGS_INVALID', 'a relay process needs BATON_REDIS_URL', {
    fix: 'Set BATON_REDIS_URL. Without Redis no relay process is needed: receivers relay for themselves.',
  })

await runProcess('relay', {
  settings: RELAY_SETTINGS,
  async build({ settings, logger, metrics, life, tls }) {
    const { BATON_DATABASE_URL: databaseUrl, BATON_REDIS_URL: redisUrl } = settings
    if (redisUrl === undefined) throw queueless()
    const pool = createPool({
      url: databaseUrl,
      applicationName: 'baton-relay',
      connectionsMax: 4,
      gauges: metrics.poolConnections,
    })
    const transport = await openTransport({
      redisUrl: settings.BATON_REDIS_URL,
      tls,
      prefix: settings.BATON_QUEUE_PREFIX,
      logger,
    })
    const client = createAuditClient({
      url: settings.BATON_AUDIT_URL,
      token: settings.BATON_AUDIT_APPEND_TOKEN,
      tls,
    })
    const shipper = createEventShipper({ pool, client, metrics, logger })
    const waitingMax = settings.BATON_RELAY_WAITING_MAX
    const undeliveredMs = settings.BATON_UNDELIVERED_MS
    const parts = { pool, databaseUrl, transport, waitingMax, undeliveredMs, metrics, logger }
    const ready = async () => (await outboxDepth(pool)).depth >= 0
    return [
      closing('connections', () => pool.end()),
      safeServers({ databaseUrl, redisUrl, tls, settings, life, metrics, logger }),
      createLevelRecorder({ pool, metrics, logger }),
      closing('transport', () => transport.close()),
      createOpsService({ settings, life, metrics, logger, tls, ready }),
      createRelay(parts),
      createSweeper({ ...parts, shipper }),
      createReceiptReconciler({ ...parts, client }),
      ...openAlertWebhooks(
        { path: settings.BATON_ALERT_WEBHOOKS, databaseUrl, tls, metrics, logger },
        process.env,
      ),
    ]
  },
})
