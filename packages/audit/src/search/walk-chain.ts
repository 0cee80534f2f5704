// Reads one chain backwards in bounded pieces out of both tiers, and says of each piece whether all of it is there as it was sealed.
import { TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import type { Snapshot } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import type { RecordRow } from '../read/records.ts'
import type { Hint } from './criteria.ts'
import { proveBeginning, proveRange } from './prove-range.ts'
import { readRange } from './read-range.ts'
import type { RecordRange } from './read-range.ts'
import { timeOf } from './record-times.ts'

/** A part of a chain that was read. */
export interface Piece {
  /** Those that may fit, the newest first. */
  readonly rows: readonly RecordRow[]
  /** How many records it has. */
  readonly records: number
  /** Of how many of them all stored bytes lead to a signed head, so that none was cut out, altered or put among them. */
  readonly proven: number
  /** When its oldest record was made; what comes later is older. -Infinity where nothing comes. */
  readonly lowMicros: number
  readonly findings: readonly Finding[]
}

export interface ChainWalk {
  readonly chain: number
  /** Records from this one on were read. */
  readonly below: number
  readonly isDone: boolean
  next(): Promise<Piece>
}

export interface WalkOptions {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
  readonly hints: readonly Hint[]
  /** Without it, nothing is known to be sealed. */
  readonly covered: CoveredSizes | undefined
  /** Older records are not read. */
  readonly sinceMicros: number
}

interface Start {
  readonly chain: number
  readonly origin: string
  readonly below: number
  /** Whether something is known to be wrong with it already. */
  readonly isBroken: boolean
}

/** Pieces grow while they hold nothing, as most searches look for little in much; one that holds much makes the next small again. */
const PIECE_RECORDS = 512
const PIECE_RECORDS_MAX = 65_536

export function walkChain(
  options: WalkOptions,
  { chain, origin, below: start, ...known }: Start,
): ChainWalk {
  const { snapshot, tier, hints, sinceMicros, covered } = options
  let below = start
  let size = PIECE_RECORDS
  let lowMicros = Infinity
  let isDone = start <= 0
  let { isBroken } = known
  const reading = { snapshot, tier, covered }

  /** Where something is wrong, proofs of what stands before it fail too: that is not proven, and is said once. */
  async function judge(
    hashes: RecordRange['hashes'],
    findings: readonly Finding[],
  ): Promise<Pick<Piece, 'proven' | 'findings'>> {
    isBroken ||= findings.length > 0
    if (isBroken) return { proven: 0, findings }
    const range = await proveRange(reading, { chain, origin, hashes })
    isBroken = range.findings.length > 0
    return range
  }

  return {
    chain,
    get below() {
      return below
    },
    get isDone() {
      return isDone
    },
    async next() {
      const { hotFrom, minIndex } = await tier.position(chain)
      const floor = below > hotFrom ? Math.max(hotFrom, below - size) : bundleStart(below)
      const from = Math.max(floor, minIndex)
      if (from >= below) {
        isDone = true
        const findings = await proveBeginning(reading, { chain, origin })
        return { rows: [], records: 0, proven: 0, lowMicros: -Infinity, findings }
      }
      const { rows, hashes, findings } = await readRange(
        { snapshot, tier, hints },
        { chain, origin, from, below },
      )
      const records = below - from
      const judged = await judge(hashes, findings)
      // A lowest record that is gone tells no time: the piece counts as no older than the one before it.
      const lowest = rows.findLast(({ seq }) => seq === from)
      lowMicros = Math.min(lowMicros, timeOf(lowest) ?? Infinity)
      if (rows.length <= 1) size = Math.min(size * 4, PIECE_RECORDS_MAX)
      else if (rows.length > PIECE_RECORDS) size = PIECE_RECORDS
      below = from
      isDone = from <= minIndex || lowMicros < sinceMicros
      const began = from <= minIndex ? await proveBeginning(reading, { chain, origin }) : []
      return {
        rows,
        records,
        proven: judged.proven,
        lowMicros: isDone ? -Infinity : lowMicros,
        findings: [...judged.findings, ...began],
      }
    },
  }
}

const bundleStart = (below: number): number => bundleOf(below - 1) * TILE_WIDTH
