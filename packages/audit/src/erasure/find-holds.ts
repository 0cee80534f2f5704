// Which tasks the log ever said anything of a hold about, by the signed bytes of all its records, in both tiers. Columns, indexes and
// the table of holds can be changed by whoever owns the database; the bytes of a sealed record cannot, nor can it be cut out.
import { readRecord, TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import { fits, hintsOf } from '../search/criteria.ts'
import type { Criteria } from '../search/criteria.ts'
import { endFindings, proveBeginning, proveRange } from '../search/prove-range.ts'
import { readRange } from '../search/read-range.ts'
import { whySealsUnproven } from './beyond-map.ts'

export interface FinderReading {
  /** Connected as audit_reader, or as another role that reads records. */
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  /** What seals cover now; undefined where nobody seals, and then nothing is proven. */
  readonly covered: CoveredSizes | undefined
  /** A seal that is older says nothing of now. */
  readonly sealAgeMaxMs: number
}

export interface HoldsLooked {
  /** Every sealed record was read as it was sealed: no task was ever held besides those that are told. */
  readonly proven: boolean
  /** Why that is not so. */
  readonly why: string | null
  /** Records that nobody has read yet: the next question goes on there. */
  readonly unread: number
  readonly findings: readonly Finding[]
}

export interface FoundHolds {
  readonly looked: HoldsLooked
  readonly taskIds: ReadonlySet<string>
}

export interface HoldFinder {
  /** Reads what is new, for so long that whoever asks need not wait. */
  look(reading: FinderReading): Promise<FoundHolds>
  /** Goes on until everything is read, or nothing more can be. */
  lookAtAll(reading: FinderReading): Promise<FoundHolds>
}

/**
 * Postgres hashes what tells of no hold and sends the hash alone: the first question costs what a search through the whole log costs,
 * every later one what was added since.
 */
const PIECE_RECORDS = 32_768
const LOOK_MS = 5_000
const CRITERIA: Criteria = { events: ['LEGAL_HOLD_SET', 'LEGAL_HOLD_LIFTED'] }

/** Remembers what is proven, of each chain from its beginning; what is sealed never becomes another. */
export function createHoldFinder(): HoldFinder {
  const provenBelow = new Map<number, number>()
  const known = new Set<string>()

  async function readChain(head: ChainHead, look: Look): Promise<void> {
    const { chain, origin, size } = head
    const { tier, covered } = look
    const { minIndex, hotFrom } = await tier.position(chain)
    const before = [...look.endOf(head), ...(await proveBeginning(look, { chain, origin }))]
    look.findings.push(...before)
    let isWhole = before.length === 0
    const sealed = covered?.sealed.get(chain)?.size ?? 0
    let from = Math.max(minIndex, provenBelow.get(chain) ?? 0)
    while (from < size && performance.now() < look.deadline) {
      const limits = from < hotFrom ? [bundleEnd(from), hotFrom] : [from + PIECE_RECORDS, size]
      const below = Math.min(...limits, from < sealed ? sealed : size)
      const piece = await readPiece(look, { chain, origin, from, below })
      look.findings.push(...piece.findings)
      for (const taskId of piece.taskIds) look.taskIds.add(taskId)
      isWhole &&= piece.proven === below - from
      if (isWhole) {
        for (const taskId of piece.taskIds) known.add(taskId)
        provenBelow.set(chain, Math.max(below, provenBelow.get(chain) ?? 0))
      }
      from = below
    }
    look.unread += Math.max(0, size - from)
  }

  /** A chain that was longer has lost its end, whatever the table of chains says. */
  function shortened(heads: readonly ChainHead[]): readonly string[] {
    const sizes = new Map(heads.map(({ chain, size }) => [chain, size]))
    return [...provenBelow]
      .filter(([chain, size]) => (sizes.get(chain) ?? 0) < size)
      .map(([chain, size]) => `chain ${chain} had ${size} records, and has fewer now`)
  }

  const look: HoldFinder['look'] = ({ reader, cold, covered, sealAgeMaxMs }) =>
    inSnapshot(reader, async (snapshot) => {
      const heads = await readHeads(snapshot)
      const deadline = performance.now() + LOOK_MS
      const tier = createColdTier(snapshot, cold)
      const own: Look = {
        snapshot,
        tier,
        covered: covered && byNewestSeal(covered),
        endOf: (head) => endFindings(head, covered),
        deadline,
        findings: [],
        taskIds: new Set(),
        unread: 0,
      }
      for (const head of heads) await readChain(head, own)
      const { findings, unread } = own
      const seals = covered === undefined ? 'nobody seals' : whySealsUnproven(covered, sealAgeMaxMs)
      const why = findings[0]?.message ?? shortened(heads)[0] ?? seals ?? whyUnread(unread)
      const looked = { proven: why === undefined, why: why ?? null, unread, findings }
      return { looked, taskIds: new Set([...known, ...own.taskIds]) }
    })

  return {
    look,
    async lookAtAll(reading) {
      let found = await look(reading)
      for (let unread = Infinity; found.looked.unread > 0 && found.looked.unread < unread;) {
        unread = found.looked.unread
        found = await look(reading)
      }
      return found
    },
  }
}

/** One signature says how long every chain is: copies of signed checkpoints, which can be deleted one by one, do not. */
const byNewestSeal = (covered: CoveredSizes): CoveredSizes => ({
  ...covered,
  sealed: covered.newestSeal?.heads ?? new Map(),
  witnessed: new Map(),
})

const whyUnread = (unread: number): string | undefined =>
  unread === 0 ? undefined : `${unread} records are not read yet`

const bundleEnd = (seq: number): number => (bundleOf(seq) + 1) * TILE_WIDTH

/** One question: in which snapshot, until when, and what it has found. */
interface Look {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
  readonly covered: CoveredSizes | undefined
  endOf(head: ChainHead): readonly Finding[]
  readonly deadline: number
  readonly findings: Finding[]
  readonly taskIds: Set<string>
  unread: number
}

interface Piece {
  readonly chain: number
  readonly origin: string
  readonly from: number
  readonly below: number
}

async function readPiece(look: Look, piece: Piece) {
  const { snapshot, tier } = look
  const hints = hintsOf(CRITERIA)
  const { rows, hashes, findings } = await readRange({ snapshot, tier, hints }, piece)
  const taskIds = rows.flatMap(({ body }) => {
    const record = readRecord(body)
    return record !== undefined && fits(record, CRITERIA) ? [record.taskId] : []
  })
  if (findings.length > 0) return { taskIds, findings, proven: 0 }
  return { taskIds, ...(await proveRange(look, { ...piece, hashes })) }
}
