// Lets the oldest bundles of a chain go when their retention has ended: whole ones, and never under a hold.
import { parseInstant, readRecord, sealLogOrigin, TILE_WIDTH } from '@baton/ledger'
import type { AuditEntry, RecordBody } from '@baton/ledger'
import type { Database } from '../database.ts'
import {
  expireRecords,
  markRemoved,
  readArchivePositions,
  readHeldFrom,
} from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import { createColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { expiryEntry, findExpiryRecord } from './retention-records.ts'
import { bundleOf, partialPrefix, payloadName, tileName } from './objects.ts'

interface ExpireOptions {
  /** Connected as audit_archiver. */
  readonly db: Database
  readonly store: ColdStore
  readonly origin: string
  readonly position: ArchivePosition
  /** Microseconds since 1970: records before this may go. */
  readonly beforeMicros: number
  /** Those of some tasks that are held, or of which it cannot be proven that they are not. */
  readonly heldAmong: (taskIds: readonly string[]) => Promise<readonly string[]>
  /**
   * Whether signed heads say that these are the last records below, and that all of them are as old as the least retention:
   * nobody would believe the expiry otherwise, and whoever owns the store could write a held task out of a bundle.
   */
  readonly isOldEnough: (toIndex: number, bundle: readonly Uint8Array[]) => Promise<boolean>
  /** Appends the record of the expiry, and resolves when it is durable. */
  readonly record: (expiry: AuditEntry) => Promise<void>
}

/**
 * Answers where the chain begins now. Recorded first: an expiry without its record cannot happen, and one
 * that was recorded and did not happen is made good. Hash tiles stay, so that every proof ever given
 * still verifies.
 */
export async function expireChain(options: ExpireOptions): Promise<number> {
  const { db, position, origin, record } = options
  const chain = position.log
  if (position.removed < position.minIndex && (await isHeldBefore(options))) return position.removed
  const end = await findExpiry(options)
  if (end !== undefined) {
    await record(expiryEntry(sealLogOrigin(origin), { chain, toIndex: end.toIndex }))
    await expireRecords(db, {
      chain,
      toIndex: end.toIndex,
      lastTask: end.last.taskId,
      lastTaskSeq: end.last.taskSeq,
    })
  }
  const minIndex = end?.toIndex ?? position.minIndex
  if (position.removed < minIndex) await removeObjects(options, minIndex)
  return minIndex
}

/** A hold that came after the mark keeps the objects that are still there: somebody could have made the mark for them. */
async function isHeldBefore({ store, origin, position, heldAmong }: ExpireOptions) {
  const log = createColdLog(store, origin)
  for (let index = bundleOf(position.removed); index < bundleOf(position.minIndex); index += 1) {
    const bundle = await log.bundle(index)
    const tasks = new Set(bundle.kind === 'found' ? bundle.content.map(taskOf) : [])
    const known = [...tasks].filter((taskId) => taskId !== undefined)
    if ((await heldAmong(known)).length > 0) return true
  }
  return false
}

const taskOf = (body: Uint8Array): string | undefined => readRecord(body)?.taskId

/** Each task of a bundle is proven from its records not to be held, which takes about a second: the rest waits for the next round. */
const BUNDLES_AT_ONCE = 100

/** The longest run of whole bundles that may go, and the last record in it. */
async function findExpiry(options: ExpireOptions) {
  const { db, store, origin, position, beforeMicros, heldAmong, isOldEnough } = options
  const { log: chain, minIndex, hotFrom } = position
  const held = await readHeldFrom(db, { chain, fromSeq: minIndex })
  const needed = [...(held === null ? [] : [held]), ...(await readNeeded(db, { chain, origin }))]
  const first = bundleOf(minIndex)
  const bundlesEnd = Math.min(bundleOf(hotFrom), first + BUNDLES_AT_ONCE, ...needed.map(bundleOf))
  const log = createColdLog(store, origin)
  let found: { readonly toIndex: number; readonly last: RecordBody } | undefined
  for (let index = first; index < bundlesEnd; index += 1) {
    const bundle = await log.bundle(index)
    const bodies = bundle.kind === 'found' ? bundle.content : []
    const records = bodies.map(readRecord)
    const last = records.at(-1)
    // A bundle that cannot be read is a finding for the verifier, and nothing to delete.
    if (last === undefined || (parseInstant(last.recordedAt) ?? Infinity) >= beforeMicros) break
    const tasks = new Set(records.map((record) => record?.taskId))
    const known = [...tasks].filter((taskId) => taskId !== undefined)
    if (known.length < tasks.size || (await heldAmong(known)).length > 0) break
    const toIndex = (index + 1) * TILE_WIDTH
    if (!(await isOldEnough(toIndex, bodies))) break
    found = { toIndex, last }
  }
  return found
}

/** The records of this chain that tell why chains begin where they do: without them, nobody could verify that. */
async function readNeeded(
  db: Database,
  { chain, origin }: { readonly chain: number; readonly origin: string },
): Promise<number[]> {
  const needed: number[] = []
  for (const { log, minIndex } of (await readArchivePositions(db)).values()) {
    if (minIndex === 0) continue
    const told = await findExpiryRecord(db, origin, { chain: log, toIndex: minIndex })
    if (told?.chain === chain) needed.push(told.seq)
  }
  return needed
}

async function removeObjects(
  { db, store, origin, position }: ExpireOptions,
  minIndex: number,
): Promise<void> {
  for (let at = position.removed; at < minIndex; at += TILE_WIDTH) {
    const place = { index: bundleOf(at), width: TILE_WIDTH }
    const names = [tileName(origin, { level: 'entries', ...place }), payloadName(origin, place)]
    const partial = await Promise.all(names.map((name) => store.list(partialPrefix(name))))
    await store.remove([...names, ...partial.flat()])
  }
  await markRemoved(db, { chain: position.log, toIndex: minIndex })
}
