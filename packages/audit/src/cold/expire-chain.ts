// Lets the oldest bundles of a chain go when their retention has ended: whole ones, and never under a hold.
import { readRecord, parseInstant, TILE_WIDTH } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import type { Database } from '../database.ts'
import { expireRecords, markRemoved, readHeldFrom } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { bundleOf, partialPrefix, payloadName, tileName } from './object-names.ts'

interface ExpireOptions {
  /** Connected as audit_archiver. */
  readonly db: Database
  readonly store: ColdStore
  readonly origin: string
  readonly position: ArchivePosition
  /** Microseconds since 1970: records before this may go. */
  readonly beforeMicros: number
}

/** Answers where the chain begins now. Hash tiles stay, so that every proof ever given still verifies. */
export async function expireChain(options: ExpireOptions): Promise<number> {
  const { db, position } = options
  const chain = position.log
  const end = await findExpiry(options)
  if (end !== undefined) {
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

/** The longest run of whole bundles that may go, and the last record in it. */
async function findExpiry({ db, store, origin, position, beforeMicros }: ExpireOptions) {
  const { log: chain, minIndex, hotFrom } = position
  const held = await readHeldFrom(db, { chain, fromSeq: minIndex })
  const bundlesEnd = Math.min(bundleOf(hotFrom), held === null ? Infinity : bundleOf(held))
  const log = new ColdLog(store, origin)
  let found: { readonly toIndex: number; readonly last: RecordBody } | undefined
  for (let index = bundleOf(minIndex); index < bundlesEnd; index += 1) {
    const bundle = await log.bundle(index)
    const body = bundle.kind === 'found' ? bundle.content.at(-1) : undefined
    const last = body && readRecord(body)
    // A bundle that cannot be read is a finding for the verifier, and nothing to delete.
    if (last === undefined || (parseInstant(last.recordedAt) ?? Infinity) >= beforeMicros) break
    found = { toIndex: (index + 1) * TILE_WIDTH, last }
  }
  return found
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
