// The gateway process: handoffs over HTTP, on the loopback interface unless told otherwise.
import {
  artefactKeyFacts,
  createActiveScanner,
  createShadow,
  followingArtefact,
  followingExemptions,
  judgingFacts,
  openJudging,
  openSummariser,
  readCompression,
  readFanOutBounds,
  readLargeWork,
  recordingSettings,
  safeServers,
  signingKeyFacts,
} from '@baton/engine'
import { readIssuers } from '@baton/http/access-tokens'
import { createOpsService } from '@baton/http/ops'
import { facts, parsePeople, peopleFacts, waiverFacts } from '@baton/ledger'
import { prepareSchemas } from '@baton/protocol'
import { closing } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { parseSigningKeys } from '@baton/sdk'
import { apiKeyFacts, readApiKeys } from './api-keys.ts'
import { showKeyEnds } from './expiries.ts'
import { createGateway } from './gateway.ts'
import { openRemote } from './executions/remote-work.ts'
import {
  GATEWAY_SETTINGS,
  readA2a,
  readAudit,
  readEvents,
  readForeign,
  readLimits,
  readMcp,
  readSession,
  readSw4rm,
  readSync,
} from './settings.ts'

await runProcess('gateway', {
  settings: GATEWAY_SETTINGS,
  async build({ settings, logger, metrics, life, tls }) {
    const own = { tls, metrics, logger }
    // Before anybody sends: the first sender would wait for it.
    prepareSchemas()
    const { BATON_DATABASE_URL: databaseUrl, BATON_REDIS_URL: redisUrl } = settings
    const people = parsePeople(settings.BATON_PEOPLE ?? '')
    const shadow = createShadow({ ...own, settings, databaseUrl })
    const told = { ...own, process: 'gateway', settings, databaseUrl }
    const followed = followingExemptions({ ...told, people })
    const judging = openJudging(settings, tls)
    const { exemptions } = followed
    const judged = { ...judging, exemptions, shadow }
    const remote = await openRemote(settings, { logger, tls, ...judged, onStuck: life.fail })
    const apiKeys = readApiKeys(settings.BATON_API_KEYS)
    showKeyEnds(apiKeys, metrics)
    const summariser = openSummariser(settings, tls)
    const keyRing = parseSigningKeys(settings.BATON_SIGNING_KEYS)
    const scanner = createActiveScanner()
    const issuers = readIssuers(settings.BATON_ISSUERS)
    const gateway = createGateway({
      host: settings.BATON_GATEWAY_HOST,
      port: settings.BATON_GATEWAY_PORT,
      databaseUrl,
      keyRing,
      attemptsMax: settings.BATON_ATTEMPTS_MAX,
      fanOuts: readFanOutBounds(settings),
      jurisdiction: settings.BATON_JURISDICTION,
      summariser,
      compression: readCompression(settings),
      largeWork: readLargeWork(settings),
      scanner,
      correctionMs: settings.BATON_CORRECTION_MS,
      apiKeys,
      issuers,
      people,
      audit: readAudit(settings),
      limits: readLimits(settings),
      foreign: readForeign(settings),
      a2a: readA2a(settings),
      session: { ...readSession(settings), env: process.env },
      mcp: readMcp(settings),
      remote,
      sync: readSync(settings),
      sw4rm: readSw4rm(settings),
      events: readEvents(settings),
      clients: settings.BATON_TLS_CLIENTS,
      ...own,
    })
    const startedWith = {
      process: 'gateway',
      details: [
        ...peopleFacts(people),
        ...apiKeyFacts(apiKeys),
        ...facts('ISSUERS', settings.BATON_ISSUERS === undefined ? [] : [settings.BATON_ISSUERS]),
        ...signingKeyFacts(keyRing),
        ...artefactKeyFacts(settings),
        ...waiverFacts(settings),
        ...judgingFacts(judging, settings),
      ],
    }
    return [
      createOpsService({ ...own, settings, life, ready: () => gateway.ready() }),
      safeServers({ ...own, databaseUrl, redisUrl, settings, life }),
      followingArtefact({ ...told, scanner }),
      followed,
      closing('classifier', async () => judging.classifier?.close()),
      shadow,
      closing('summariser', async () => summariser?.close()),
      closing('transport', async () => {
        remote?.client.close()
        await remote?.transport.close()
      }),
      gateway,
      recordingSettings({ databaseUrl, startedWith, logger }),
    ]
  },
})
