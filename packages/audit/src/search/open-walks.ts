// Where a look through the whole log begins, in which bounds, and where an earlier one ended.
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { run } from '../database.ts'
import type { Snapshot } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { hintsOf } from './criteria.ts'
import type { Criteria } from './criteria.ts'
import { endFindings, provePassed } from './prove-range.ts'
import { findEnd } from './record-times.ts'
import { walkChain } from './walk-chain.ts'
import type { ChainWalk } from './walk-chain.ts'

/** Where a search goes on: of each chain, the records from this one on were answered. */
export type SearchPosition = readonly (readonly [chain: number, below: number])[]

export interface Looked {
  readonly records: number
  /**
   * So many of them are all that were recorded where they stand, none missing, none altered: every stored byte leads to a
   * signed head. What is newer than the newest seal is not among them.
   */
  readonly proven: number
  /** Everything from this time on was looked at (microseconds since 1970); -Infinity where all of it was. */
  readonly sinceMicros: number
  /** What was not there to be looked at, or is not what was sealed. */
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
  /** Without it, nothing is known to be sealed. */
  readonly covered: CoveredSizes | undefined
}

/** Below which record a chain is looked at: chains that an earlier answer does not name were answered. */
export const startOf = (
  { chain, size }: Pick<ChainHead, 'chain' | 'size'>,
  position: SearchPosition | undefined,
): number =>
  position === undefined ? size : Math.min(size, position.find(([one]) => one === chain)?.[1] ?? 0)

export interface Walks {
  readonly walks: readonly ChainWalk[]
  /** Why an end that was looked for is not one. */
  readonly findings: readonly Finding[]
}

/** Every chain, from the newest record that is old enough. */
export async function openWalks(
  { snapshot, tier, heads, covered }: Reading,
  criteria: Criteria,
  position: SearchPosition | undefined,
): Promise<Walks> {
  const { sinceMicros = -Infinity, untilMicros } = criteria
  const options = { snapshot, tier, covered, hints: hintsOf(criteria), sinceMicros }
  const walks: ChainWalk[] = []
  const findings: Finding[] = []
  for (const head of heads) {
    const { chain, origin } = head
    let below = startOf(head, position)
    const before: Finding[] = []
    if (position === undefined) before.push(...endFindings(head, covered))
    if (position === undefined && untilMicros !== undefined) {
      below = await findEnd(options, head, untilMicros)
      before.push(...(await provePassed(options, { ...head, below }, untilMicros)))
    }
    findings.push(...before)
    walks.push(walkChain(options, { chain, origin, below, isBroken: before.length > 0 }))
  }
  return { walks, findings }
}
