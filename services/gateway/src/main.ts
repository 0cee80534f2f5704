// The gateway process: handoffs over HTTP, on the loopback interface unless told otherwise.
import {
  openSummariser,
  readCompression,
  readFanOutBounds,
  readLargeWork,
  safeServers,
} from '@baton/engine'
import { readIssuers } from '@baton/http/access-tokens'
import { createOpsService } from '@baton/http/ops'
import { parsePeople } from '@baton/ledger'
import { prepareSchemas } from '@baton/protocol'
import { closing } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { parseSigningKeys } from '@baton/sdk'
import { readApiKeys } from './api-keys.ts'
import { showKeyEnds } from './expiries.ts'
import { createGateway } from './gateway.ts'
import { openRemote } from './executions/remote-work.ts'
import { GATEWAY_SETTINGS, readForeign, readSw4rm, readSync } from './settings.ts'

await runProcess('gateway', {
  settings: GATEWAY_SETTINGS,
  async build({ settings, logger, metrics, life, tls }) {
    const own = { tls, metrics, logger }
    // Before anybody sends: the first sender would wait for it.
    prepareSchemas()
    const { BATON_DATABASE_URL: databaseUrl, BATON_REDIS_URL: redisUrl } = settings
    const remote = await openRemote(settings, { logger, tls, onStuck: life.fail })
    const apiKeys = readApiKeys(settings.BATON_API_KEYS)
    showKeyEnds(apiKeys, metrics)
    const summariser = openSummariser(settings, tls)
    const gateway = createGateway({
      host: settings.BATON_GATEWAY_HOST,
      port: settings.BATON_GATEWAY_PORT,
      databaseUrl,
      keyRing: parseSigningKeys(settings.BATON_SIGNING_KEYS),
      attemptsMax: settings.BATON_ATTEMPTS_MAX,
      fanOuts: readFanOutBounds(settings),
      jurisdiction: settings.BATON_JURISDICTION,
      summariser,
      compression: readCompression(settings),
      largeWork: readLargeWork(settings),
      correctionMs: settings.BATON_CORRECTION_MS,
      apiKeys,
      issuers: readIssuers(settings.BATON_ISSUERS),
      people: parsePeople(settings.BATON_PEOPLE ?? ''),
      audit: {
        url: settings.BATON_AUDIT_URL,
        readToken: settings.BATON_AUDIT_READ_TOKEN,
        eraseToken: settings.BATON_AUDIT_ERASE_TOKEN,
        backupDays: settings.BATON_BACKUP_DAYS,
      },
      limits: {
        rateMax: settings.BATON_GATEWAY_RATE_MAX,
        runningMax: settings.BATON_GATEWAY_RUNNING_MAX,
        tenants: {
          rateMax: settings.BATON_GATEWAY_TENANT_RATE_MAX,
          runningMax: settings.BATON_GATEWAY_TENANT_RUNNING_MAX,
          bytesPerSecondMax: settings.BATON_GATEWAY_TENANT_BYTES_MAX,
        },
        connectionsMax: settings.BATON_GATEWAY_CONNECTIONS_MAX,
        connectionsPerAddressMax: settings.BATON_GATEWAY_CONNECTIONS_PER_ADDRESS_MAX,
        outboxMax: settings.BATON_OUTBOX_MAX,
        outboxTenantMax: settings.BATON_OUTBOX_TENANT_MAX,
        outboxAgeMaxMs: settings.BATON_OUTBOX_AGE_MAX_MS,
        readers: {
          max: settings.BATON_GATEWAY_READERS_MAX,
          perKeyMax: settings.BATON_GATEWAY_READERS_PER_KEY_MAX,
        },
      },
      foreign: readForeign(settings),
      session: {
        peersPath: settings.BATON_PEERS,
        waitMs: settings.BATON_SESSION_WAIT_MS,
        profileMs: settings.BATON_SESSION_PROFILE_S * 1000,
        replyTimes: {
          baseMs: settings.BATON_SESSION_REPLY_RETRY_MS,
          capMs: 3_600_000,
          endMs: settings.BATON_SESSION_REPLY_END_S * 1000,
        },
        env: process.env,
      },
      remote,
      sync: readSync(settings),
      sw4rm: readSw4rm(settings),
      clients: settings.BATON_TLS_CLIENTS,
      ...own,
    })
    return [
      createOpsService({ ...own, settings, life, ready: () => gateway.ready() }),
      safeServers({ ...own, databaseUrl, redisUrl, settings, life }),
      closing('summariser', async () => summariser?.close()),
      closing('transport', async () => {
        remote?.client.close()
        await remote?.transport.close()
      }),
      gateway,
    ]
  },
})
