// Watches how far the log is sealed: records that stay unsealed for too long stop every append.
import type { KeyObject } from 'node:crypto'
import { findOldestRecordTime, readCoveredSizes, readSeal } from '@baton/audit'
import type { CoveredSizes, Pool, SeenOutsideSettings } from '@baton/audit'
import { parseInstant, readSealEntry } from '@baton/ledger'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { ProblemError } from '@baton/http/server'

interface SealWatchOptions {
  /** Connected as audit_writer: appends depend on nothing that others who read could use up. */
  readonly writer: Pool
  readonly publicKey: KeyObject
  /** Who besides the database says what was seen outside. */
  readonly outside: SeenOutsideSettings
  readonly unsealedMaxMs: number
  readonly metrics: Pick<Metrics, 'auditUnsealedAgeSeconds' | 'auditUnwitnessedAgeSeconds'>
  readonly logger: Logger
}

/** Fails its start when the first look fails. */
export interface SealWatch extends Service {
  /** What seals cover, as it was seen last; undefined before the first look. */
  readonly sizes: CoveredSizes | undefined
  /** Looks at once. */
  look(): Promise<CoveredSizes>
  /** Throws the 503 problem BATON_AUDIT_UNSEALED while the oldest unsealed record is too old. */
  requireSealing(): void
}

const LOOK_EVERY_MS = 1_000

export function createSealWatch(options: SealWatchOptions): SealWatch {
  const { writer, publicKey, outside, unsealedMaxMs, metrics, logger } = options
  let sizes: CoveredSizes | undefined
  /** Milliseconds since 1970; null when everything is sealed. */
  let unsealedSince: number | null = null
  let blocked = false

  const age = (): number => (unsealedSince === null ? 0 : Date.now() - unsealedSince)
  // Grows also while nobody can look.
  metrics.auditUnsealedAgeSeconds.read(() => age() / 1_000)

  async function look(): Promise<CoveredSizes> {
    const seen = await readCoveredSizes(writer, publicKey, outside)
    const unsealed = seen.heads.flatMap(({ chain, size }) => {
      const seq = seen.sealed.get(chain)?.size ?? 0
      return size > seq ? [{ chain, seq }] : []
    })
    const oldest = await findOldestRecordTime(writer, unsealed)
    const covered = withoutGoingBack(seen, sizes)
    sizes = covered
    unsealedSince = oldest === null ? null : oldest / 1_000
    metrics.auditUnwitnessedAgeSeconds.set((await unwitnessedMs(writer, seen)) / 1_000)
    sayWhenBlocked()
    return covered
  }

  function sayWhenBlocked(): void {
    const isBlocked = age() > unsealedMaxMs
    if (isBlocked !== blocked) {
      logger[isBlocked ? 'error' : 'info']({ event: 'audit.unsealed', blocked: isBlocked })
    }
    blocked = isBlocked
  }

  const looks = every({
    name: 'seal-watch',
    everyMs: LOOK_EVERY_MS,
    firstAfterMs: LOOK_EVERY_MS,
    run: async () => void (await look()),
    failed(error) {
      logger.warn({ event: 'audit.seal_watch_failed', code: codeOf(error), error })
      sayWhenBlocked()
    },
  })
  return {
    ...looks,
    look,
    get sizes() {
      return sizes
    },
    async start() {
      await look()
      await looks.start()
    },
    requireSealing() {
      if (age() > unsealedMaxMs) throw unsealed(unsealedMaxMs)
    },
  }
}

/** Chains, seals and the map of tasks never go back: a database that has less of them than before lost it. */
function withoutGoingBack(seen: CoveredSizes, before: CoveredSizes | undefined): CoveredSizes {
  if (before === undefined) return seen
  const isOlder = (seen.newestSeal?.size ?? 0) < (before.newestSeal?.size ?? 0)
  const known = new Map(before.heads.map((head) => [head.chain, head]))
  return {
    ...seen,
    heads: seen.heads.map((head) => {
      const then = known.get(head.chain)
      return then !== undefined && then.size > head.size ? then : head
    }),
    newestSeal: isOlder ? before.newestSeal : seen.newestSeal,
    taskMaps: newestOf(seen) < newestOf(before) ? before.taskMaps : seen.taskMaps,
  }
}

const newestOf = ({ taskMaps }: CoveredSizes): number =>
  Math.max(0, ...taskMaps.map(({ seals }) => seals))

async function unwitnessedMs(writer: Pool, { witnessedSeals }: CoveredSizes): Promise<number> {
  const seal = await readSeal(writer, witnessedSeals)
  const at = seal === undefined ? undefined : readSealEntry(seal.body)?.at
  const micros = at === undefined ? undefined : parseInstant(at)
  return micros === undefined ? 0 : Math.max(0, Date.now() - micros / 1_000)
}

const unsealed = (maxMs: number) =>
  new ProblemError({
    status: 503,
    code: 'BATON_AUDIT_UNSEALED',
    detail: `records have been waiting for a seal for more than ${maxMs / 1_000} s`,
    fix: 'Start the sealer, or read its log: it stops when it finds tampering. Nothing executes until records are sealed again.',
    headers: { 'retry-after': '5' },
  })
