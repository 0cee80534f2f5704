// The part of the log that stands in the cold store alone, read as if it stood in the database.
import {
  columnsOf,
  equalBytes,
  readRecord,
  recordHash,
  rootOf,
  TILE_WIDTH,
  tileWidth,
} from '@baton/ledger'
import type { Finding, RecordColumns } from '@baton/ledger'
import type { Database } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import type { SegmentRow, SeqRange } from '../read/segments.ts'
import { positionOf, readArchivePositions } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import { readFirstColdFaults } from './cold-faults.ts'
import type { FirstColdFaults } from './cold-faults.ts'
import { createColdLog } from './cold-log.ts'
import type { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { bundleOf } from './objects.ts'

/** A record as its bundle and its hash tile have it; the columns follow from the body. */
export interface ColdRecord {
  readonly seq: number
  readonly body: Uint8Array
  readonly reading: ReturnType<typeof readRecord>
  /** What the hash tile says; the hash of the body where there is none. */
  readonly recordHash: Uint8Array
  readonly columns: RecordColumns & { readonly recordedAtMicros: number }
}

interface ChainRange {
  readonly chain: number
  readonly fromSeq: number
  /** Records below this one. */
  readonly toSeq: number
}

/** What one snapshot of the database leaves to the cold store. Made anew for each snapshot. */
export interface ColdTier {
  /** Whether any record stands in the cold store alone, or has expired. */
  isUsed(): Promise<boolean>
  position(chain: number): Promise<ArchivePosition>
  /** Whether the store holds a record too, and nothing of its bundle is known to be missing or changed. */
  hasCopy(chain: number, seq: number): Promise<boolean>
  /** What was found since this was asked last. */
  takeFindings(): readonly Finding[]
  /** The log of a chain in the store; undefined where no store is known. */
  log(chain: number): Promise<ColdLog | undefined>
  /** The records of a range that are not in the database any more and have not expired, bundle by bundle. */
  scan(range: ChainRange): AsyncGenerator<readonly ColdRecord[]>
  /** The records of one bundle; none, and a finding, when it cannot be read. */
  bundle(chain: number, index: number): Promise<readonly ColdRecord[]>
  /** Encrypted segments of the records of a range, both ends included. */
  segments(range: SeqRange): Promise<readonly SegmentRow[]>
}

/** Reads positions and heads once, when they are asked for first. */
export function createColdTier(db: Database, store: ColdStore | undefined): ColdTier {
  const logs = new Map<number, ColdLog>()
  let positions: ReadonlyMap<number, ArchivePosition> | undefined
  let findings: Finding[] = []

  const readPositions = async () => (positions ??= await readArchivePositions(db))
  const position = async (chain: number) => positionOf(await readPositions(), chain)
  const isWhole = wholeBundles(db)

  async function log(chain: number): Promise<ColdLog | undefined> {
    const known = logs.get(chain)
    if (known !== undefined || store === undefined) return known
    for (const head of await readHeads(db)) logs.set(head.chain, createColdLog(store, head.origin))
    return logs.get(chain)
  }

  /** Whole ones that were read last: tasks that are asked for one after the other share bundles. */
  const recent = new Map<string, readonly ColdRecord[]>()

  async function bundle(chain: number, index: number): Promise<readonly ColdRecord[]> {
    const known = recent.get(`${chain}/${index}`)
    if (known !== undefined) return known
    const own = await log(chain)
    if (own === undefined) {
      findings.push(findingAt({ origin: '', index, rule: 'TILE_MISSING', message: NO_STORE }))
      return []
    }
    const read = await readBundle(own, index, (await position(chain)).size)
    findings.push(...read.findings)
    // What is wrong is said each time.
    if (read.findings.length === 0) keepRecent(recent, `${chain}/${index}`, read.records)
    return read.records
  }

  async function* scan({ chain, fromSeq, toSeq }: ChainRange) {
    const { hotFrom, minIndex } = await position(chain)
    const to = Math.min(toSeq, hotFrom)
    for (let at = Math.max(fromSeq, minIndex); at < to;) {
      const from = at
      const wanted = (await bundle(chain, bundleOf(at))).filter(
        ({ seq }) => seq >= from && seq < to,
      )
      if (wanted.length > 0) yield wanted
      at = (bundleOf(at) + 1) * TILE_WIDTH
    }
  }

  return {
    isUsed: async () => [...(await readPositions()).values()].some(({ hotFrom }) => hotFrom > 0),
    position,
    async hasCopy(chain, seq) {
      const { size, tail } = await position(chain)
      if (seq >= Math.max(size, tail)) return false
      return isWhole(chain, bundleOf(seq))
    },
    takeFindings() {
      const taken = findings
      findings = []
      return taken
    },
    log,
    scan,
    bundle,
    async segments({ chain, firstSeq, lastSeq }) {
      const { hotFrom, minIndex } = await position(chain)
      const last = Math.min(lastSeq, hotFrom - 1)
      const own = firstSeq > last ? undefined : await log(chain)
      if (own === undefined) return []
      const rows: SegmentRow[] = []
      for (let at = bundleOf(Math.max(firstSeq, minIndex)); at <= bundleOf(last); at += 1) {
        const found = await own.segments(at)
        if (found.kind === 'found') rows.push(...found.content)
        else findings.push(unread(own, at, { what: `the payloads of bundle ${at} are`, ...found }))
      }
      return rows.filter(({ seq }) => seq >= firstSeq && seq <= last)
    },
  }
}

/**
 * Whether nothing of a bundle is known to be missing or changed. A store with very many faults may have more than were read:
 * then no bundle is called whole.
 */
function wholeBundles(db: Database): (log: number, bundle: number) => Promise<boolean> {
  let first: FirstColdFaults | undefined
  return async (log, bundle) => {
    first ??= await readFirstColdFaults(db)
    if (first.isFull) return false
    return !first.faults.some((fault) => fault.log === log && fault.bundle === bundle)
  }
}

const RECENT_MAX = 8

function keepRecent<Value>(recent: Map<string, Value>, key: string, value: Value): void {
  recent.set(key, value)
  const [oldest] = recent.keys()
  if (recent.size > RECENT_MAX && oldest !== undefined) recent.delete(oldest)
}

/** The records of a bundle as it and its hash tile have them. `size` is how far the log is archived. */
async function readBundle(
  log: ColdLog,
  index: number,
  size: number,
): Promise<{ readonly records: readonly ColdRecord[]; readonly findings: readonly Finding[] }> {
  const bundle = await log.bundle(index)
  if (bundle.kind !== 'found') {
    const what = `the entry bundle ${index} of the cold store is`
    return { records: [], findings: [unread(log, index, { what, ...bundle })] }
  }
  const tile = await log.tile(0, index, TILE_WIDTH)
  const hashes = tile.kind === 'found' ? tile.content : undefined
  const records = bundle.content.map((body, at) =>
    recordOf(body, index * TILE_WIDTH + at, hashes?.[at]),
  )
  if (tile.kind !== 'found') {
    const what = `the hash tile ${index} of the cold store is`
    return { records, findings: [unread(log, index, { what, ...tile })] }
  }
  if (await fitsAbove(log, { index, size, hashes: tile.content })) return { records, findings: [] }
  const message = `the hash tile ${index} is not the one that the tile above it was made of`
  const wrong = findingAt({ origin: log.origin, index, rule: 'TILE_HASH', message })
  return { records, findings: [wrong] }
}

async function fitsAbove(
  log: ColdLog,
  tile: { readonly index: number; readonly size: number; readonly hashes: readonly Uint8Array[] },
): Promise<boolean> {
  const { index, size, hashes } = tile
  // As wide as it was when the log was archived last; until it is full there may be none.
  const above = { level: 1, index: bundleOf(index) }
  const parent = await log.tile(1, above.index, tileWidth(above, size))
  const expected = parent.kind === 'found' ? parent.content[index % TILE_WIDTH] : undefined
  return expected === undefined || equalBytes(expected, rootOf(hashes))
}

function unread(
  { origin }: ColdLog,
  index: number,
  { what, kind }: { readonly what: string; readonly kind: 'missing' | 'unreadable' },
): Finding {
  const rule = kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'
  return findingAt({ origin, index, rule, message: `${what} ${kind}` })
}

const findingAt = ({
  origin,
  index,
  rule,
  message,
}: Pick<Finding, 'origin' | 'rule' | 'message'> & { readonly index: number }): Finding => ({
  origin,
  seq: index * TILE_WIDTH,
  rule,
  message,
})

const NO_STORE = 'records stand in a cold store, and none is named in the settings'
const UNREADABLE: ColdRecord['columns'] = {
  seq: 0,
  recordedAtMicros: 0,
  taskId: '',
  handoffId: '',
  eventNumber: undefined,
  spentMicroUSD: null,
}

function recordOf(body: Uint8Array, seq: number, hash: Uint8Array | undefined): ColdRecord {
  const reading = readRecord(body)
  const columns = reading === undefined ? UNREADABLE : columnsOf(reading)
  return {
    seq,
    body,
    reading,
    recordHash: hash ?? recordHash(body),
    // The place in the bundle is the place in the chain, whatever the body says.
    columns: { ...columns, seq, recordedAtMicros: columns.recordedAtMicros ?? 0 },
  }
}
