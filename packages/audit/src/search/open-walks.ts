// Where a look through the whole log begins, in which bounds, and where an earlier one ended.
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { run } from '../database.ts'
import type { Snapshot } from '../database.ts'
import { hintsOf } from './criteria.ts'
import type { Criteria } from './criteria.ts'
import { findEnd, walkChain } from './walk-chain.ts'
import type { ChainWalk } from './walk-chain.ts'

/** Where a search goes on: of each chain, the records from this one on were answered. */
export type SearchPosition = readonly (readonly [chain: number, below: number])[]

export interface Looked {
  readonly records: number
  /** Everything from this time on was looked at (microseconds since 1970); -Infinity where all of it was. */
  readonly sinceMicros: number
  /** What was not there to be looked at. */
  readonly findings: readonly Finding[]
}

/** How long one answer may look; where that is not enough, the next one goes on. */
export const LOOK_MS = 5_000
const STATEMENT_MS = 10_000

/** Until the end of the snapshot. */
export async function boundStatements(snapshot: Snapshot): Promise<void> {
  const text = `select set_config('statement_timeout', $1, true)`
  await run(snapshot, 'bound_statements', text, [String(STATEMENT_MS)])
}

export interface Reading {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
  readonly heads: readonly ChainHead[]
}

/** Below which record a chain is looked at: chains that an earlier answer does not name were answered. */
export const startOf = (
  { chain, size }: Pick<ChainHead, 'chain' | 'size'>,
  position: SearchPosition | undefined,
): number =>
  position === undefined ? size : Math.min(size, position.find(([one]) => one === chain)?.[1] ?? 0)

/** Every chain, from the newest record that is old enough. */
export async function openWalks(
  { snapshot, tier, heads }: Reading,
  criteria: Criteria,
  position: SearchPosition | undefined,
): Promise<readonly ChainWalk[]> {
  const { sinceMicros = -Infinity, untilMicros } = criteria
  const options = { snapshot, tier, hints: hintsOf(criteria), sinceMicros }
  const walks: ChainWalk[] = []
  for (const { chain, origin, size } of heads) {
    const below =
      position === undefined && untilMicros !== undefined
        ? await findEnd(options, { chain, size }, untilMicros)
        : startOf({ chain, size }, position)
    walks.push(walkChain(options, { chain, origin, below }))
  }
  return walks
}
