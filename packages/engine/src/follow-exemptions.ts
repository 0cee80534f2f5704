// A process follows the file of exemptions: a set that is right in all of it holds from the next message on, once its record is sure to reach
// the log; whatever else stands there changes nothing, and is told of.
import type { People } from '@baton/ledger'
import { codeOf, createFileLook, every } from '@baton/runtime'
import type { Logger, Service, Settings } from '@baton/runtime'
import { createPool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { Exemption } from './decide/exemptions.ts'
import {
  exemptionFacts,
  EXEMPTIONS_BYTES_MAX,
  exemptionsIn,
  invalidExemptions,
  openExemptions,
} from './open-exemptions.ts'
import { recordSettings } from './record-settings.ts'
import type { JUDGING_SETTINGS } from './settings.ts'

interface FollowParts {
  /** The kind of process, for example `receiver`. */
  readonly process: string
  /** Where they name no file, nothing is exempted. */
  readonly settings: Pick<Settings<typeof JUDGING_SETTINGS>, 'BATON_EXEMPTIONS'>
  /** Whose signatures count. */
  readonly people: People
  readonly databaseUrl: string
  readonly metrics: Pick<Metrics, 'exemptions' | 'exemptionFilesTotal' | 'safetyFileRefused'>
  readonly logger: Logger
  /** Between two looks at the file; 3 s by default. */
  readonly everyMs?: number
}

export interface FollowedExemptions extends Service {
  /** The set that holds now. */
  readonly exemptions: () => readonly Exemption[]
}

const LOOK_MS = 3_000

/**
 * Its start ends when the file has been looked at once. Nothing is exempted before its record is stored: while the database is away, the
 * set stays the one it is, and a process begins with none. Throws BATON_EXEMPTIONS_INVALID where the file is wrong at the start.
 */
export function followingExemptions(parts: FollowParts): FollowedExemptions {
  const { process, people, metrics, logger, everyMs = LOOK_MS } = parts
  const path = parts.settings.BATON_EXEMPTIONS
  openExemptions(path, people)
  const applicationName = `baton-${process}-exemptions`
  const pool = createPool({ url: parts.databaseUrl, applicationName, connectionsMax: 1 })
  let active: readonly Exemption[] = []
  let taken: string | undefined

  async function take(bytes: Uint8Array, sha256: string): Promise<void> {
    const next = exemptionsIn(bytes, path ?? '', people)
    const subject = `${process}-exemptions`
    await recordSettings(pool, { process, subject, details: exemptionFacts(next, sha256) })
    active = next
    taken = sha256
    metrics.exemptions.set(next.length)
    metrics.exemptionFilesTotal.with({ outcome: 'activated' }).inc()
    const ids = next.map(({ id }) => id)
    logger.info({ event: 'safety.exemptions_activated', process, sha256, exemptions: ids })
  }

  const isRefused = metrics.safetyFileRefused.with({ file: 'exemptions' })
  if (path !== undefined) isRefused.set(0)
  const look =
    path === undefined
      ? undefined
      : createFileLook({
          path,
          bytesMax: EXEMPTIONS_BYTES_MAX,
          invalid: (problem) => invalidExemptions(path, problem),
          isTaken: (sha256) => sha256 === taken,
          take,
          mended: () => isRefused.set(0),
          refused({ code, message, fix }) {
            isRefused.set(1)
            metrics.exemptionFilesTotal.with({ outcome: 'refused' }).inc()
            logger.error({ event: 'safety.exemptions_refused', code, problem: message, fix })
          },
        })

  const looks = every({
    name: 'exemptions',
    everyMs,
    holdsProcess: false,
    run: async () => (look === undefined ? Infinity : look()),
    failed: (error, failures) => {
      if (failures === 1)
        logger.warn({ event: 'safety.exemptions_unrecorded', process, code: codeOf(error) })
    },
  })
  let stopped: Promise<void> | undefined
  return {
    name: looks.name,
    exemptions: () => active,
    async start() {
      await look?.().catch(() => undefined)
      await looks.start()
    },
    stop: () => (stopped ??= looks.stop().then(() => pool.end())),
  }
}
