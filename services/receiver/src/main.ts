// The receiver process: hosts agents; without Redis it also relays for them.
import {
  artefactKeyFacts,
  createActiveScanner,
  createShadow,
  followingArtefact,
  followingExemptions,
  judgingFacts,
  openAlertWebhooks,
  openJudging,
  openSummariser,
  openTransport,
  readCompression,
  readFanOutBounds,
  readLargeWork,
  recordingSettings,
  safeServers,
  signingKeyFacts,
} from '@baton/engine'
import { createOpsService } from '@baton/http/ops'
import { peopleFacts, waiverFacts } from '@baton/ledger'
import { closing } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { createWorker, parsePeople, parseSigningKeys } from '@baton/sdk'
import { loadHosted } from './load-agents.ts'
import { readAgentsSettings, readDirect, RECEIVER_SETTINGS } from './settings.ts'
import { withdrawEnvironment } from './withdraw-environment.ts'

await runProcess('receiver', {
  settings: RECEIVER_SETTINGS,
  async build({ settings, logger, metrics, life, tls }) {
    const { whole, own } = withdrawEnvironment(process.env, readAgentsSettings(settings))
    const agents = await loadHosted(
      { modulePath: settings.BATON_AGENTS, pushPath: settings.BATON_PUSH_AGENTS, tls },
      { whole, own },
    )
    const { BATON_DATABASE_URL: databaseUrl, BATON_REDIS_URL: redisUrl } = settings
    const transport = await openTransport({
      redisUrl: settings.BATON_REDIS_URL,
      tls,
      prefix: settings.BATON_QUEUE_PREFIX,
      logger,
    })
    const summariser = openSummariser(settings, tls)
    const keyRing = parseSigningKeys(settings.BATON_SIGNING_KEYS)
    const people = parsePeople(settings.BATON_PEOPLE ?? '')
    const scanner = createActiveScanner()
    const judging = openJudging(settings, tls)
    const told = { process: 'receiver', settings, databaseUrl, metrics, logger }
    const followed = followingExemptions({ ...told, people })
    const shadow = createShadow({ settings, databaseUrl, metrics, logger })
    const worker = createWorker({
      agents,
      databaseUrl,
      keyRing,
      people,
      audit: { url: settings.BATON_AUDIT_URL, token: settings.BATON_AUDIT_APPEND_TOKEN },
      transport,
      ...readDirect(settings),
      tls,
      jurisdiction: settings.BATON_JURISDICTION,
      summariser,
      ...judging,
      exemptions: followed.exemptions,
      compression: readCompression(settings),
      concurrency: settings.BATON_CONCURRENCY,
      backoff: { baseMs: settings.BATON_RETRY_BASE_MS, capMs: settings.BATON_RETRY_CAP_MS },
      attemptsMax: settings.BATON_ATTEMPTS_MAX,
      fanOuts: readFanOutBounds(settings),
      largeWork: readLargeWork(settings),
      scanner,
      shadow,
      correctionMs: settings.BATON_CORRECTION_MS,
      blockedPolicy: settings.BATON_BLOCKED_POLICY,
      lostFacts: settings.BATON_LOST_FACTS,
      drainMs: settings.BATON_DRAIN_MS,
      leaseMs: settings.BATON_LEASE_MS,
      undeliveredMs: settings.BATON_UNDELIVERED_MS,
      onStuck: life.fail,
      metrics,
      logger,
    })
    // Where there is Redis, relays sweep, and tell.
    const path = transport.kind === 'in-process' ? settings.BATON_ALERT_WEBHOOKS : undefined
    const startedWith = {
      process: 'receiver',
      details: [
        ...peopleFacts(people),
        ...signingKeyFacts(keyRing),
        ...artefactKeyFacts(settings),
        ...waiverFacts(settings),
        ...judgingFacts(judging, settings),
      ],
    }
    return [
      safeServers({ databaseUrl, redisUrl, tls, settings, life, metrics, logger }),
      closing('transport', () => transport.close()),
      createOpsService({ settings, life, metrics, logger, tls, ready: worker.ready }),
      followingArtefact({ ...told, scanner }),
      followed,
      shadow,
      worker,
      recordingSettings({ databaseUrl, startedWith, logger }),
      ...openAlertWebhooks({ path, databaseUrl, tls, metrics, logger }, whole),
    ]
  },
})
