// The sender process, for programs in any language: one JSON request per line in, one answer per line out.
import { createInterface } from 'node:readline'
import type { Interface } from 'node:readline'
import {
  openSummariser,
  readCompression,
  readFanOutBounds,
  readLargeWork,
  recordingSettings,
  signingKeyFacts,
} from '@baton/engine'
import { createOpsService } from '@baton/http/ops'
import { waiverFacts } from '@baton/ledger'
import { closing } from '@baton/runtime'
import type { Life, Logger, Service } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { sendLines } from './send-lines.ts'
import type { LineAnswer, SendLinesOptions } from './send-lines.ts'
import { SENDER_SETTINGS } from './settings.ts'

await runProcess('sender', {
  settings: SENDER_SETTINGS,
  stdoutIsData: true,
  build({ settings, logger, metrics, life, tls }) {
    const summariser = openSummariser(settings, tls)
    const { BATON_DATABASE_URL: databaseUrl } = settings
    const keyRing = parseSigningKeys(settings.BATON_SIGNING_KEYS)
    const details = [...signingKeyFacts(keyRing), ...waiverFacts(settings)]
    const startedWith = { process: 'sender', details }
    const sender = createSender({
      databaseUrl,
      keyRing,
      attemptsMax: settings.BATON_ATTEMPTS_MAX,
      fanOuts: readFanOutBounds(settings),
      largeWork: readLargeWork(settings),
      tenant: settings.BATON_TENANT,
      jurisdiction: settings.BATON_JURISDICTION,
      summariser,
      compression: readCompression(settings),
      outboxMax: settings.BATON_OUTBOX_MAX,
      sendsCritical: settings.BATON_SENDER_CRITICAL,
      outboxCriticalMax: settings.BATON_OUTBOX_CRITICAL_MAX,
      outboxTenantMax: settings.BATON_OUTBOX_TENANT_MAX,
      outboxAgeMaxMs: settings.BATON_OUTBOX_AGE_MAX_MS,
      metrics,
      logger,
    })
    const answer = (one: LineAnswer) => process.stdout.write(`${JSON.stringify(one)}\n`)
    const underWayMax = settings.BATON_SENDER_UNDER_WAY_MAX
    return [
      createOpsService({ settings, life, metrics, logger, tls, ready: sender.ready }),
      closing('sender', () => sender.close()),
      recordingSettings({ databaseUrl, startedWith, logger }),
      answersTo(process.stdin, { sender, answer, underWayMax, life, logger }),
    ]
  },
})

interface Answering extends Omit<SendLinesOptions, 'lines'> {
  readonly life: Life
  readonly logger: Logger
}

/** Ends the process when every line is answered. A drain reads no further line; those read so far are answered. */
function answersTo(input: NodeJS.ReadStream, { life, logger, ...options }: Answering): Service {
  let lines: Interface | undefined
  let answered: Promise<void> = Promise.resolve()

  async function answerAll(read: Interface): Promise<void> {
    const counts = await sendLines({ ...options, lines: read })
    logger.info({ event: 'sender.finished', ...counts })
    if (counts.refused > 0) process.exitCode = 1
    life.end()
  }

  return {
    name: 'answers',
    async start() {
      lines = createInterface({ input, crlfDelay: Infinity })
      answered = answerAll(lines)
      answered.catch(life.fail)
    },
    async stop() {
      lines?.close()
      await answered
    },
  }
}
