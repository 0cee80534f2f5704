// What the log has since a reader was there last, chain by chain and in order: a record that is seen has none before it in its chain
// that will be seen later, because an append holds the head of its chain until it is committed.
import { readRecord, recordHash } from '@baton/ledger'
import type { RecordBody } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { inSnapshot } from '../database.ts'
import type { Pool } from '../database.ts'
import { boundStatements } from '../search/open-walks.ts'
import { readRange } from '../search/read-range.ts'
import { findEnd } from '../search/record-times.ts'

export interface ChainPosition {
  readonly chain: number
  /** How many of its records were read. */
  readonly size: number
  /** The hash of the last of them, in lower-case hex; empty where none was. */
  readonly lastHash: string
}

export interface FollowRequest {
  readonly positions: readonly ChainPosition[]
  /** Where a chain that none of them names begins (microseconds since 1970). */
  readonly sinceMicros: number
  /** Records in all. */
  readonly limit: number
  readonly cold?: ColdStore | undefined
}

export interface FollowedLog {
  /** In order of chain, and in a chain in its order. */
  readonly records: readonly RecordBody[]
  readonly positions: readonly ChainPosition[]
  /** Whether there are more. */
  readonly isMore: boolean
  /** Chains that are not what was read of them, as after a restore: they are read again from `sinceMicros`. */
  readonly restored: readonly number[]
}

const PIECE_RECORDS_MAX = 256

/** Bounded: the next call goes on where `positions` ends. What cannot be read as a record is passed over, as `verify` tells it. */
export function followLog(pool: Pool, request: FollowRequest): Promise<FollowedLog> {
  const { positions, sinceMicros, limit, cold } = request
  return inSnapshot(pool, async (snapshot) => {
    await boundStatements(snapshot)
    const tier = createColdTier(snapshot, cold)
    const known = new Map(positions.map((one) => [one.chain, one]))
    const records: RecordBody[] = []
    const reached: ChainPosition[] = []
    const restored: number[] = []
    let isMore = false
    for (const { chain, origin, size } of await readHeads(snapshot)) {
      const begin = async () => ({
        size: await findEnd({ snapshot, tier }, { chain, size }, sinceMicros),
        lastHash: '',
      })
      let at = known.get(chain) ?? (await begin())
      if (at.size > size) {
        restored.push(chain)
        at = await begin()
      }
      let { size: from, lastHash } = at
      while (from < size && records.length < limit) {
        const { hotFrom, minIndex } = await tier.position(chain)
        from = Math.max(from, minIndex)
        const end = Math.min(size, from + Math.min(PIECE_RECORDS_MAX, limit - records.length))
        const below = from < hotFrom ? Math.min(end, hotFrom, bundleEnd(from)) : end
        const { rows } = await readRange(
          { snapshot, tier, hints: [] },
          { chain, origin, from, below },
        )
        const bodies = rows.toReversed().map(({ body }) => ({ body, reading: readRecord(body) }))
        const [first] = bodies
        if (
          lastHash !== '' &&
          first?.reading !== undefined &&
          first.reading.seq === from &&
          first.reading.previousRecordHash !== lastHash
        ) {
          restored.push(chain)
          ;({ size: from, lastHash } = await begin())
          continue
        }
        for (const { reading } of bodies) if (reading !== undefined) records.push(reading)
        const last = bodies.at(-1)
        lastHash = last === undefined ? '' : recordHash(last.body).toString('hex')
        from = below
      }
      isMore ||= from < size
      reached.push({ chain, size: from, lastHash })
    }
    return { records, positions: reached, isMore, restored }
  })
}

const BUNDLE_RECORDS = 256

const bundleEnd = (seq: number): number => (Math.floor(seq / BUNDLE_RECORDS) + 1) * BUNDLE_RECORDS
