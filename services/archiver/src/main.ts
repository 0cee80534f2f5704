// Starts the archiver as a process of its own, never on the way of an append.
import { createPool, openColdStore } from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import { readBatchPublicKey } from '@baton/ledger'
import {
  createLogger,
  describeStartFailure,
  permanent,
  readSettings,
  runServices,
} from '@baton/runtime'
import { createOpsService } from '@baton/http/ops'
import { createMetrics } from '@baton/telemetry'
import { createArchiver } from './archiver.ts'
import { ARCHIVER_SETTINGS } from './settings.ts'

const STATEMENT_MS = 300_000
const APPEND_MS = 10_000

const storeless = () =>
  permanent('BATON_SETTINGS_INVALID', 'an archiver needs a cold store', {
    fix: 'Set BATON_COLD_FOLDER or BATON_COLD_S3_BUCKET.',
  })

const kept = (hotDays: number, retentionDays: number) =>
  permanent('BATON_SETTINGS_INVALID', `records stay hot for ${hotDays} days`, {
    fix: `Set BATON_AUDIT_RETENTION_DAYS, now ${retentionDays}, to more than BATON_AUDIT_HOT_DAYS.`,
  })

async function main(): Promise<never> {
  const settings = readSettings(ARCHIVER_SETTINGS, process.env)
  const { BATON_AUDIT_HOT_DAYS: hotDays, BATON_AUDIT_RETENTION_DAYS: retentionDays } = settings
  if (retentionDays <= hotDays) throw kept(hotDays, retentionDays)
  const store = openColdStore(settings)
  if (store === undefined) throw storeless()
  const logger = createLogger({ service: 'archiver', level: settings.BATON_LOG_LEVEL })
  const metrics = createMetrics()
  const archiver = createArchiver({
    pool: createPool({
      url: settings.BATON_AUDIT_ARCHIVER_URL,
      applicationName: 'baton-archiver',
      connectionsMax: 2,
      statementMs: STATEMENT_MS,
    }),
    store,
    sealKey: readBatchPublicKey(settings.BATON_SEAL_PUBLIC_KEY),
    client: createAuditClient({
      url: settings.BATON_AUDIT_URL,
      token: settings.BATON_AUDIT_ARCHIVE_TOKEN,
      timeoutMs: APPEND_MS,
    }),
    hotDays,
    retentionDays,
    needsWitness: settings.BATON_AUDIT_DROP_WITNESSED,
    everyMs: settings.BATON_ARCHIVE_EVERY_MS,
    upkeepEveryMs: settings.BATON_ARCHIVE_UPKEEP_EVERY_MS,
    metrics,
    logger,
  })
  const ops = createOpsService({ settings, metrics, logger, ready: () => archiver.archiving })
  logger.info({ event: 'archive.store', store: store.description })
  return runServices([ops, archiver], { logger, drainMs: settings.BATON_DRAIN_MS })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${describeStartFailure(error as Error)}\n`)
  process.exit(1)
}
