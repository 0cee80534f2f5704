// The sender process, for programs in any language: one JSON request per line in, one answer per line out.
import { createInterface } from 'node:readline'
import { createLogger, describeStartFailure, readSettings } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { opsService } from '@baton/engine'
import { createMetrics } from '@baton/telemetry'
import { sendLines } from './send-lines.ts'
import { SENDER_SETTINGS } from './settings.ts'

async function main(): Promise<number> {
  const settings = readSettings(SENDER_SETTINGS, process.env)
  const logger = createLogger({ service: 'sender', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const sender = createSender({
    databaseUrl: settings.BATON_DATABASE_URL,
    keyRing: parseSigningKeys(settings.BATON_SIGNING_KEYS),
    attemptsMax: settings.BATON_ATTEMPTS_MAX,
    outboxMax: settings.BATON_OUTBOX_MAX,
    outboxAgeMaxMs: settings.BATON_OUTBOX_AGE_MAX_MS,
    metrics,
  })
  const ops = opsService({
    settings,
    service: 'baton-sender',
    metrics,
    logger,
    ready: async () => true,
  })
  await ops.start()
  const lines = createInterface({ input: process.stdin, crlfDelay: Infinity })
  // A drain reads no further line; every line read so far is still answered.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => lines.close())
  const counts = await sendLines({
    lines,
    sender,
    answer: (answer) => process.stdout.write(`${JSON.stringify(answer)}\n`),
    underWayMax: settings.BATON_SENDER_UNDER_WAY_MAX,
  })
  logger.info({ event: 'sender.finished', ...counts })
  await sender.close()
  await ops.stop()
  return counts.refused === 0 ? 0 : 1
}

try {
  process.exit(await main())
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(1)
}
