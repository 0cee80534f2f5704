// Reads one chain backwards in bounded pieces out of both tiers, and says of each piece whether all of it was there.
import { parseInstant, readRecord, TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import type { CopyFields } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import { rowOf } from '../cold/read-task.ts'
import type { Snapshot } from '../database.ts'
import type { RecordRow } from '../read/records.ts'
import type { Hint } from './criteria.ts'

/** A part of a chain that was read. */
export interface Piece {
  /** Those that may fit, the newest first. */
  readonly rows: readonly RecordRow[]
  /** How many records it has. */
  readonly records: number
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
  /** Older records are not read. */
  readonly sinceMicros: number
}

interface Start {
  readonly chain: number
  readonly origin: string
  readonly below: number
}

/** Pieces grow while they hold nothing, as most searches look for little in much; one that holds much makes the next small again. */
const PIECE_RECORDS = 512
const PIECE_RECORDS_MAX = 65_536

export function walkChain(options: WalkOptions, { chain, origin, below: start }: Start): ChainWalk {
  const { snapshot, tier, hints, sinceMicros } = options
  let below = start
  let size = PIECE_RECORDS
  let lowMicros = Infinity
  let isDone = start <= 0

  async function readPiece(from: number): Promise<Omit<Piece, 'lowMicros' | 'records'>> {
    const { hotFrom } = await tier.position(chain)
    if (below > hotFrom) return readHot(snapshot, { chain, origin, from, below, hints })
    const records = await tier.bundle(chain, bundleOf(from))
    const own = records.filter(({ seq }) => seq >= from && seq < below)
    return { rows: own.map((one) => rowOf(one, chain)).toReversed(), findings: tier.takeFindings() }
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
        return { rows: [], records: 0, lowMicros: -Infinity, findings: [] }
      }
      const { rows, findings } = await readPiece(from)
      const records = below - from
      // A lowest record that is gone tells no time: the piece counts as no older than the one before it.
      const lowest = rows.findLast(({ seq }) => seq === from)
      lowMicros = Math.min(lowMicros, timeOf(lowest) ?? Infinity)
      if (rows.length <= 1) size = Math.min(size * 4, PIECE_RECORDS_MAX)
      else if (rows.length > PIECE_RECORDS) size = PIECE_RECORDS
      below = from
      isDone = from <= minIndex || lowMicros < sinceMicros
      return { rows, records, lowMicros: isDone ? -Infinity : lowMicros, findings }
    },
  }
}

const bundleStart = (below: number): number => bundleOf(below - 1) * TILE_WIDTH

const timeOf = (row: { readonly body: Uint8Array } | undefined): number | undefined => {
  const recordedAt = row && readRecord(row.body)?.recordedAt
  return recordedAt === undefined ? undefined : parseInstant(recordedAt)
}

interface HotPiece extends Start {
  readonly from: number
  readonly hints: readonly Hint[]
}

/** The lowest record is always among them, because it tells how far back the piece reaches. */
async function readHot(
  { client }: Snapshot,
  { chain, origin, from, below, hints }: HotPiece,
): Promise<Omit<Piece, 'lowMicros' | 'records'>> {
  const range = `chain = ${chain} and seq >= ${from} and seq < ${below}`
  const rows = await copyOut(
    client,
    `select seq, recorded_at, task_id, handoff_id, event, spent_micro, body, record_hash from audit.record
     where ${range} and (seq = ${from} or (${hints.map(mayFit).join(' and ') || 'true'}))
     order by seq desc, recorded_at desc`,
    (fields) => rowFrom(fields, chain),
  )
  const [found = 0] = await copyOut(
    client,
    `select count(distinct seq) from audit.record where ${range}`,
    (fields) => fields.int8(0),
  )
  const missing = below - from - found
  if (missing === 0) return { rows, findings: [] }
  const message = `${missing} of the records ${from} to ${below - 1} are gone`
  return { rows, findings: [{ origin, seq: from, rule: 'RECORD_SEQ', message }] }
}

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

/** The first record of a chain that is not older than `untilMicros`: times rise along a chain. */
export async function findEnd(
  { snapshot, tier }: Pick<WalkOptions, 'snapshot' | 'tier'>,
  { chain, size }: { readonly chain: number; readonly size: number },
  untilMicros: number,
): Promise<number> {
  let [low, high] = [(await tier.position(chain)).minIndex, size]
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const at = await timeAt({ snapshot, tier }, { chain, seq: middle })
    if (at !== undefined && at < untilMicros) low = middle + 1
    else high = middle
  }
  return low
}

/** When the record was made (microseconds since 1970); of the next one where it is gone from the database. */
export const timeAt = async (
  { snapshot, tier }: Pick<WalkOptions, 'snapshot' | 'tier'>,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<number | undefined> =>
  seq < (await tier.position(chain)).hotFrom
    ? coldTime(tier, chain, seq)
    : hotTime(snapshot, { chain, seq })

async function coldTime(tier: ColdTier, chain: number, seq: number): Promise<number | undefined> {
  const records = await tier.bundle(chain, bundleOf(seq))
  return timeOf(records.find((record) => record.seq >= seq))
}

async function hotTime(
  { client }: Snapshot,
  { chain, seq }: { readonly chain: number; readonly seq: number },
): Promise<number | undefined> {
  const bodies = await copyOut(
    client,
    `select body from audit.record where chain = ${chain} and seq >= ${seq} order by seq limit 1`,
    (fields) => fields.bytes(0),
  )
  return timeOf(bodies[0] && { body: bodies[0] })
}
