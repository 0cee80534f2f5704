// Starts the archiver as a process of its own, never on the way of an append.
import { createPool, openColdStore } from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import { createOpsService } from '@baton/http/ops'
import { readBatchPublicKey } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import { runProcess } from '@baton/runtime/process'
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

await runProcess('archiver', {
  settings: ARCHIVER_SETTINGS,
  build({ settings, logger, metrics, life }) {
    const { BATON_AUDIT_HOT_DAYS: hotDays, BATON_AUDIT_RETENTION_DAYS: retentionDays } = settings
    if (retentionDays <= hotDays) throw kept(hotDays, retentionDays)
    const store = openColdStore(settings)
    if (store === undefined) throw storeless()
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
      retentionEveryMs: settings.BATON_ARCHIVE_RETENTION_EVERY_MS,
      metrics,
      logger,
    })
    logger.info({ event: 'archive.store', store: store.description })
    const ready = () => archiver.archiving
    return [createOpsService({ settings, life, metrics, logger, ready }), archiver]
  },
})
