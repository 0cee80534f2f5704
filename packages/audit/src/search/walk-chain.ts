// Reads one chain backwards in bounded pieces out of both tiers, and says of each piece whether all of it is there as it was sealed.
import { recordHash, TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import type { CopyFields } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import { rowOf } from '../cold/read-task.ts'
import type { Snapshot } from '../database.ts'
import type { CoveredSizes } from '../read/assurance.ts'
import type { RecordRow } from '../read/records.ts'
import type { Hint } from './criteria.ts'
import { proveBeginning, proveRange } from './prove-range.ts'
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

  async function readPiece(from: number): Promise<RangeRead> {
    const { hotFrom } = await tier.position(chain)
    if (below > hotFrom) return readHot(snapshot, { chain, origin, from, below, hints })
    const records = await tier.bundle(chain, bundleOf(from))
    const own = records.filter(({ seq }) => seq >= from && seq < below)
    const hashes = new Map(own.map(({ seq, body }) => [seq, recordHash(body)]))
    const rows = own.map((one) => rowOf(one, chain)).toReversed()
    return { rows, hashes, findings: tier.takeFindings() }
  }

  /** Where something is wrong, proofs of what stands before it fail too: that is not proven, and is said once. */
  async function judge(
    hashes: RangeRead['hashes'],
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
      const { rows, hashes, findings } = await readPiece(from)
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

/** What stands in a range: records that may fit, and the hash of the stored bytes of each record, by seq. */
interface RangeRead extends Pick<Piece, 'rows' | 'findings'> {
  readonly hashes: ReadonlyMap<number, Uint8Array>
}

interface HotPiece extends Omit<Start, 'isBroken'> {
  readonly from: number
  readonly hints: readonly Hint[]
}

/**
 * The lowest record is always among the rows, because it tells how far back the piece reaches. Postgres hashes the bytes of
 * those that do not fit, so that what was altered until it does not fit is found without being sent.
 */
async function readHot(
  { client }: Snapshot,
  { chain, origin, from, below, hints }: HotPiece,
): Promise<RangeRead> {
  const hashes = new Map<number, Uint8Array>()
  const rows: RecordRow[] = []
  let stored = 0
  await copyOut(
    client,
    `select r.seq, w.recorded_at, w.task_id, w.handoff_id, w.event, w.spent_micro, w.body, w.record_hash,
       case when w.body is null then sha256('\\x00'::bytea || r.body) end
     from audit.record r left join lateral (select r.*
       where r.seq = ${from} or (${hints.map(mayFit).join(' and ') || 'true'})) w on true
     where r.chain = ${chain} and r.seq >= ${from} and r.seq < ${below}
     order by r.seq desc, r.recorded_at desc`,
    (fields) => {
      stored += 1
      if (!fields.isNull(BODY)) rows.push(rowFrom(fields, chain))
      hashes.set(
        fields.int8(0),
        fields.isNull(BODY) ? fields.bytes(HASH) : recordHash(fields.bytes(BODY)),
      )
    },
  )
  const missing = below - from - hashes.size
  if (missing === 0 && stored === hashes.size) return { rows, hashes, findings: [] }
  const message =
    missing === 0
      ? `of the records ${from} to ${below - 1} some are stored twice`
      : `${missing} of the records ${from} to ${below - 1} are gone`
  return { rows, hashes, findings: [{ origin, seq: from, rule: 'RECORD_SEQ', message }] }
}

const BODY = 6
const HASH = 8

const mayFit = (hint: Hint): string =>
  `(${hint.map((bytes) => `position('\\x${Buffer.from(bytes).toString('hex')}'::bytea in body) > 0`).join(' or ') || 'false'})`

const rowFrom = (fields: CopyFields, chain: number): RecordRow => ({
  chain,
  seq: fields.int8(0),
  recordedAtMicros: fields.micros(1),
  taskId: fields.uuid(2),
  handoffId: fields.uuid(3),
  eventNumber: fields.int2(4),
  spentMicroUSD: fields.isNull(5) ? null : fields.int8(5),
  body: fields.bytes(6),
  recordHash: fields.bytes(7),
})
