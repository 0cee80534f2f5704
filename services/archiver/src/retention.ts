// Lets days go from the hot store once the cold one provably has them, and bundles once their time is over.
import {
  checkArchived,
  dropDay,
  dropEntry,
  expireChain,
  findDropObstacle,
  findHeldTasks,
  findTasksToAsk,
  isRetentionOver,
  proveMarkedExpiry,
  readCoveredSizes,
  readDayRanges,
  readHotDays,
} from '@baton/audit'
import type {
  ArchiveTarget,
  ColdStore,
  CoveredSizes,
  HeldTasks,
  HoldFinder,
  LogArchive,
  Pool,
  SeenOutsideSettings,
} from '@baton/audit'
import type { AuditClient } from '@baton/audit/client'
import type { Finding } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { KeyObject } from 'node:crypto'

export interface RetentionOptions {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly store: ColdStore
  readonly sealKey: KeyObject
  readonly client: Pick<AuditClient, 'append'>
  readonly hotDays: number
  readonly retentionDays: number
  /** Whether a seal alone is not enough for a drop. */
  readonly needsWitness: boolean
  /** Who besides the database says what was seen outside. */
  readonly outside: SeenOutsideSettings
  /** How old the newest seal may be where it rests on it that no hold was set. */
  readonly sealAgeMaxMs: number
  /** Which tasks were ever held; the same in every round, as it remembers what it has read. */
  readonly holdFinder: HoldFinder
  readonly logger: Logger
}

/** What the rounds before have archived and compared with its signed head. */
export interface Archived {
  readonly targets: readonly ArchiveTarget[]
  readonly archives: ReadonlyMap<number, LogArchive>
}

const DAY_MICROS = 86_400_000_000

/** Drops every day that may go, oldest first. Stops at the first that must stay. */
export async function dropDays(
  options: RetentionOptions,
  archived: Archived,
): Promise<readonly Finding[]> {
  const { pool, hotDays, logger } = options
  for (const day of await readHotDays(pool)) {
    const obstacle = await findDropObstacle(pool, { day, hotDays })
    if (obstacle === 'HOT') return []
    const reason = obstacle ?? (await heldOn(options, day)) ?? (await unwitnessed(options, day))
    if (reason !== undefined) {
      logger.warn({ event: 'archive.day_stays', day, reason })
      return []
    }
    const findings = await checkDay(options, { day, archived })
    if (findings.length > 0) return findings
    await drop(options, { day, archived })
  }
  return []
}

/** Neither the table of holds nor a column is believed: whoever owns the database can delete a row, change one, or write a lift. */
async function heldOn(options: RetentionOptions, day: string): Promise<string | undefined> {
  const { pool, store: cold, sealAgeMaxMs, holdFinder } = options
  const reading = { reader: pool, cold, covered: await coveredNow(options), sealAgeMaxMs }
  const { looked, taskIds: told } = await holdFinder.lookAtAll(reading)
  for await (const taskIds of findTasksToAsk(pool, day, [...told])) {
    const { held, unproven } = await findHeld(options, taskIds)
    if (held.length > 0) return 'LEGAL_HOLD'
    if (unproven.length > 0) return 'HOLD_UNPROVEN'
  }
  return looked.proven ? undefined : 'HOLD_UNPROVEN'
}

async function findHeld(options: RetentionOptions, taskIds: readonly string[]): Promise<HeldTasks> {
  const { pool, store, sealAgeMaxMs } = options
  const covered = await coveredNow(options)
  return findHeldTasks({ reader: pool, cold: store, covered, sealAgeMaxMs }, taskIds)
}

const coveredNow = ({ pool, sealKey, outside }: RetentionOptions): Promise<CoveredSizes> =>
  readCoveredSizes(pool, sealKey, outside)

/** Also those of which it is not proven that they are not held, which is said: it may be the sealer that stands still. */
async function heldAmong(
  options: RetentionOptions,
  taskIds: readonly string[],
): Promise<readonly string[]> {
  const { held, unproven } = await findHeld(options, taskIds)
  const [first] = unproven
  if (held.length === 0 && first !== undefined) {
    const why = first.kind === 'end' ? first.why : 'no seal covers the lift of its hold'
    options.logger.warn({ event: 'archive.hold_unproven', taskId: first.taskId, why })
  }
  return [...held, ...unproven.map(({ taskId }) => taskId)]
}

async function unwitnessed(options: RetentionOptions, day: string): Promise<string | undefined> {
  const { pool, needsWitness } = options
  if (!needsWitness) return undefined
  const { witnessed } = await coveredNow(options)
  const ranges = await readDayRanges(pool, day)
  const covered = ranges.every(({ chain, last }) => last < (witnessed.get(chain)?.size ?? 0))
  return covered ? undefined : 'NOT_WITNESSED'
}

interface Day {
  readonly day: string
  readonly archived: Archived
}

async function checkDay(
  { pool }: RetentionOptions,
  { day, archived }: Day,
): Promise<readonly Finding[]> {
  for (const { chain, first, last } of await readDayRanges(pool, day)) {
    const archive = archived.archives.get(chain)
    const isWhole = archive !== undefined && last < archive.size
    if (!isWhole) return [{ origin: '', seq: last, rule: 'TILE_MISSING', message: NOT_OPEN }]
    const findings = await checkArchived({ db: pool, chain, archive, first, last })
    if (findings.length > 0) return findings
  }
  return []
}

const NOT_OPEN = 'the database counts more records as archived than this archiver knows'

// Recorded first: a drop without its record cannot happen, a record without its drop is made good.
async function drop(options: RetentionOptions, { day, archived }: Day): Promise<void> {
  const { pool, client, hotDays, logger } = options
  const sealLog = archived.targets[0]?.origin ?? ''
  const [receipt] = await client.append([dropEntry(sealLog, day)])
  const chain = archived.targets.find(({ origin }) => origin === receipt?.origin)?.log
  if (receipt === undefined || chain === undefined) return
  crashPoint('archiver.before_drop')
  const records = await dropDay(pool, { day, hotDays, chain, seq: receipt.seq })
  crashPoint('archiver.after_drop')
  logger.info({ event: 'archive.day_dropped', day, records })
}

/** Raises the minimum index of every chain as far as retention and holds let it. Stops at the first mark that nothing tells of. */
export async function expireChains(
  options: RetentionOptions,
  targets: readonly ArchiveTarget[],
): Promise<readonly Finding[]> {
  const { pool, store, client, retentionDays, logger } = options
  const beforeMicros = Date.now() * 1_000 - retentionDays * DAY_MICROS
  for (const { log, origin, position } of targets) {
    if (log < 0 || position.hotFrom === 0) continue
    const marked = await proveMarked(options, { log, origin, position })
    if (marked.findings.length > 0) return marked.findings
    if (!marked.isProven) continue
    const minIndex = await expireChain({
      db: pool,
      store,
      origin,
      position,
      beforeMicros,
      heldAmong: (taskIds) => heldAmong(options, taskIds),
      isOldEnough: async (toIndex, bundle) => {
        const reading = { covered: await coveredNow(options), cold: store }
        return isRetentionOver(pool, reading, { chain: log, origin, toIndex, bundle })
      },
      record: async (expiry) => void (await client.append([expiry])),
    })
    if (minIndex > position.removed) logger.info({ event: 'archive.expired', origin, minIndex })
  }
  return []
}

/** Objects of what is marked as expired are still there, as after a crash; or whoever owns the database wrote the mark to have them removed. */
async function proveMarked(
  options: RetentionOptions,
  { log, origin, position }: Pick<ArchiveTarget, 'log' | 'origin' | 'position'>,
): Promise<{ readonly findings: readonly Finding[]; readonly isProven: boolean }> {
  const { pool, store } = options
  const { removed, minIndex } = position
  if (removed >= minIndex) return { findings: [], isProven: true }
  const reading = { covered: await coveredNow(options), cold: store }
  return proveMarkedExpiry(pool, { chain: log, origin, toIndex: minIndex }, reading)
}
