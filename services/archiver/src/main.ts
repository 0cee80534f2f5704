// Starts the archiver as a process of its own, never on the way of an append.
import { createHoldFinder, createPool, openColdStore } from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import { createOpsService } from '@baton/http/ops'
import { readBatchPublicKey } from '@baton/ledger'
import {
  createDiskWatch,
  permanent,
  readSettings,
  readTls,
  secureDatabaseUrls,
} from '@baton/runtime'
import type { Settings, Tls } from '@baton/runtime'
import { runCommand, runProcess } from '@baton/runtime/process'
import type { Metrics } from '@baton/telemetry'
import { createArchiver } from './archiver.ts'
import { mendByCommand } from './mend-command.ts'
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

/** What it reads, and where it keeps. */
function openParts(
  settings: Settings<typeof ARCHIVER_SETTINGS>,
  { tls, metrics }: { readonly tls: Tls; readonly metrics?: Metrics },
) {
  const store = openColdStore(settings, tls)
  if (store === undefined) throw storeless()
  const sealKey = readBatchPublicKey(settings.BATON_SEAL_PUBLIC_KEY)
  const pool = createPool({
    url: settings.BATON_AUDIT_ARCHIVER_URL,
    applicationName: 'baton-archiver',
    connectionsMax: 2,
    statementMs: STATEMENT_MS,
    ...(metrics && { gauges: metrics.poolConnections }),
  })
  return { store, sealKey, pool }
}

const archive = (): Promise<never> =>
  runProcess('archiver', {
    settings: ARCHIVER_SETTINGS,
    build({ settings, logger, metrics, life, tls }) {
      const { BATON_AUDIT_HOT_DAYS: hotDays, BATON_AUDIT_RETENTION_DAYS: retentionDays } = settings
      if (retentionDays <= hotDays) throw kept(hotDays, retentionDays)
      const parts = openParts(settings, { tls, metrics })
      const { store } = parts
      const archiver = createArchiver({
        ...parts,
        client: createAuditClient({
          url: settings.BATON_AUDIT_URL,
          token: settings.BATON_AUDIT_ARCHIVE_TOKEN,
          timeoutMs: APPEND_MS,
          tls,
        }),
        hotDays,
        retentionDays,
        needsWitness: settings.BATON_AUDIT_DROP_WITNESSED,
        outside: settings,
        sealAgeMaxMs: settings.BATON_AUDIT_SEAL_AGE_MAX_MS,
        holdFinder: createHoldFinder(),
        everyMs: settings.BATON_ARCHIVE_EVERY_MS,
        bundlesPerSecond: settings.BATON_ARCHIVE_WATCH_BUNDLES_PER_SECOND,
        passEveryMs: settings.BATON_ARCHIVE_WATCH_EVERY_MS,
        retentionEveryMs: settings.BATON_ARCHIVE_RETENTION_EVERY_MS,
        metrics,
        logger,
      })
      logger.info({ event: 'archive.store', store: store.description })
      const ready = () => archiver.archiving
      const folders = { cold: settings.BATON_COLD_FOLDER }
      const disks = createDiskWatch({ folders, metrics, logger })
      return [createOpsService({ settings, life, metrics, logger, tls, ready }), disks, archiver]
    },
  })

async function mend(json: boolean): Promise<number> {
  const settings = secureDatabaseUrls(readSettings(ARCHIVER_SETTINGS, process.env))
  const parts = openParts(settings, { tls: readTls(settings) })
  try {
    return await mendByCommand(parts, { json, write: (text) => process.stdout.write(text) })
  } finally {
    await parts.pool.end()
  }
}

const unknown = (command: string) =>
  permanent('BATON_USAGE', `there is no command ${JSON.stringify(command)}`, {
    fix: 'Start the archiver without arguments, or let it `mend` the cold store.',
  })

await runCommand(async () => {
  const [command, flag] = process.argv.slice(2)
  if (command === undefined) return archive()
  if (command === 'mend') return mend(flag === '--json')
  throw unknown(command)
})
