// The marks of the cold store compared with what is signed, with what stands there, and with the records of dropped days.
import { TILE_WIDTH, tileWidth } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ChainHead } from '../append/heads.ts'
import type { ArchivePosition } from '../cold/archive-positions.ts'
import { bundleOf } from '../cold/objects.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { droppedDay } from '../cold/retention-records.ts'
import { NO_FINDINGS, stateFinding } from './state-check.ts'
import type { StateCheck } from './state-check.ts'

interface TierCheck {
  readonly tier: ColdTier
  /** How many records of each chain the newest seal covers, by origin; undefined where nobody is known who seals. */
  readonly sealed: ((origin: string) => number) | undefined
}

interface Seen {
  readonly head: ChainHead
  readonly position: ArchivePosition
  /** When the last record was made that the database has not any more. */
  droppedDay?: string
}

/** A record is archived once it is sealed, and a day leaves the database once its record says so. */
export function checkTiers(
  { tier, sealed }: TierCheck,
  positions: ReadonlyMap<number, ArchivePosition>,
): StateCheck {
  const chains = new Map<number, Seen>()
  const days = new Set<string>()
  return {
    next(head, { reading, columns }) {
      const position = positions.get(head.chain)
      if (position !== undefined) {
        const seen = chains.get(head.chain) ?? { head, position }
        if (columns.seq === position.hotFrom - 1)
          seen.droppedDay = new Date(columns.recordedAtMicros / 1_000).toISOString().slice(0, 10)
        chains.set(head.chain, seen)
      }
      if (reading?.event !== 'PARTITION_DROPPED') return NO_FINDINGS
      const day = droppedDay(reading.reason)
      if (day !== undefined) days.add(day)
      return NO_FINDINGS
    },
    async finish() {
      const findings: Finding[] = []
      for (const seen of chains.values()) {
        findings.push(...faultsOf(seen, days, sealed?.(seen.head.origin)))
        findings.push(...(await missingObject(tier, seen)))
      }
      return findings
    },
  }
}

function faultsOf(
  { head: { origin }, position, droppedDay: day }: Seen,
  days: ReadonlySet<string>,
  sealed: number | undefined,
): Finding[] {
  const { size, tail, hotFrom } = position
  const findings: Finding[] = []
  const marked = Math.max(size, tail)
  if (sealed !== undefined && marked > sealed) {
    const message = `${marked} records are marked as archived, and only ${sealed} are sealed`
    findings.push(stateFinding({ origin, seq: sealed }, message))
  }
  if (day !== undefined && !days.has(day)) {
    const message = `the day ${day} is marked as dropped from the database, and no record says so`
    findings.push(stateFinding({ origin, seq: hotFrom - 1 }, message))
  }
  return findings
}

/** Whether the last objects that the marks promise are there; those below are read again by the scan, or by who watches the store. */
async function missingObject(
  tier: ColdTier,
  { head: { chain, origin }, position: { size, tail, hotFrom } }: Seen,
): Promise<Finding[]> {
  const log = await tier.log(chain)
  if (log === undefined || Math.max(size, tail) <= hotFrom) return []
  const last = Math.max(size, tail) - 1
  const width = tileWidth({ level: 0, index: bundleOf(last) }, last + 1)
  const bundle = await log.bundle(bundleOf(last), width)
  if (bundle.kind === 'found') return []
  const seq = bundleOf(last) * TILE_WIDTH
  const message = `records to ${last} are marked as archived, and their bundle in the cold store is ${bundle.kind}`
  return [stateFinding({ origin, seq }, message)]
}
