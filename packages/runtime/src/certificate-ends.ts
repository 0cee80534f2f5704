// When certificates and their authorities end, shown for the alerts: those of the process, and those that only the address of a
// database names.
import type { Metrics } from '@baton/telemetry'
import { databaseUrlOf, unverifiedMode } from './database-urls.ts'
import { BatonError, codeOf } from './errors.ts'
import { every } from './every.ts'
import type { Logger } from './logger.ts'
import type { Service } from './service.ts'
import type { Settings } from './settings.ts'
import { firstEndOf, readCertificateFile } from './tls-files.ts'
import type { TlsMaterial } from './tls-files.ts'
import type { TLS_SETTINGS } from './tls.ts'

type Ends = Pick<TlsMaterial, 'endsAt' | 'authorityEndsAt'>
type EndMetrics = Pick<Metrics, 'expiryTimestampSeconds'>

/** What has no end, and what could not be read, stays as it was shown. */
export function showEndsOf(name: string, ends: Ends, metrics: EndMetrics): void {
  const show = (kind: string, at: Date | undefined) => {
    if (at !== undefined)
      metrics.expiryTimestampSeconds.with({ kind, name }).set(at.getTime() / 1_000)
  }
  show('certificate', ends.endsAt)
  show('authority', ends.authorityEndsAt)
}

interface WatchParts {
  readonly logger: Logger
  readonly metrics: EndMetrics
  readonly everyMs?: number
}

/** Renewed files count from the next connection on, and are looked at this often. */
const EVERY_MS = 60_000

/**
 * Shows, under the name of its setting, when what a database URL of these settings names ends: `sslcert` and those behind it, and
 * `sslrootcert`. Where that is what the TLS settings name, it is shown with them and not here. A file that cannot be read is logged once,
 * and its last end stays.
 */
export function watchDatabaseCertificates(
  settings: Settings<typeof TLS_SETTINGS>,
  { logger, metrics, everyMs = EVERY_MS }: WatchParts,
): Service {
  const named = Object.entries(settings).flatMap(([setting, value]) =>
    namedBy(setting, value, settings),
  )
  const refused = new Map<string, string>()

  async function look(one: NamedFiles): Promise<void> {
    try {
      showEndsOf(one.setting, await readEnds(one), metrics)
      refused.delete(one.setting)
    } catch (error) {
      const reason = error instanceof BatonError ? error.message : codeOf(error)
      if (refused.get(one.setting) === reason) return
      refused.set(one.setting, reason)
      logger.error({ event: 'tls.files_refused', code: codeOf(error), reason })
    }
  }

  return every({
    name: 'database-certificates',
    everyMs: named.length > 0 ? everyMs : Infinity,
    holdsProcess: false,
    async run() {
      await Promise.all(named.map(look))
    },
    failed: (error) => logger.error({ event: 'tls.files_refused', code: codeOf(error) }),
  })
}

interface NamedFiles {
  readonly setting: string
  readonly certificateFile: string | undefined
  readonly authorityFile: string | undefined
}

/** Nothing where the URL names no file of its own. */
function namedBy(
  setting: string,
  value: unknown,
  tls: Settings<typeof TLS_SETTINGS>,
): readonly NamedFiles[] {
  const url = databaseUrlOf(value)
  if (url === undefined || unverifiedMode(url) !== undefined) return []
  const fileOf = (parameter: string, ...others: readonly (string | undefined)[]) => {
    const path = url.searchParams.get(parameter) ?? undefined
    return others.includes(path) ? undefined : path
  }
  const certificateFile = fileOf('sslcert', tls.BATON_TLS_CERT_FILE)
  const authorityFile = fileOf('sslrootcert', tls.BATON_TLS_CA_FILE, 'system')
  return (certificateFile ?? authorityFile) === undefined
    ? []
    : [{ setting, certificateFile, authorityFile }]
}

async function readEnds({ setting, certificateFile, authorityFile }: NamedFiles): Promise<Ends> {
  const [[own, ...between], believed] = await Promise.all([
    readCertificateFile(`sslcert of ${setting}`, certificateFile),
    readCertificateFile(`sslrootcert of ${setting}`, authorityFile),
  ])
  return { endsAt: own?.validToDate, authorityEndsAt: firstEndOf([...between, ...believed]) }
}
