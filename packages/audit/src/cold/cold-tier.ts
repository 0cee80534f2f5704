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
import type { Finding, FindingRule, RecordColumns } from '@baton/ledger'
import type { Database } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import type { SegmentRow } from '../read/segments.ts'
import { positionOf, readArchivePositions } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { bundleOf } from './object-names.ts'

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
export class ColdTier {
  readonly #db: Database
  readonly #store: ColdStore | undefined
  readonly #logs = new Map<number, ColdLog>()
  #positions: ReadonlyMap<number, ArchivePosition> | undefined
  #findings: Finding[] = []

  constructor(db: Database, store: ColdStore | undefined) {
    this.#db = db
    this.#store = store
  }

  /** Whether any record stands in the cold store alone, or has expired. */
  async isUsed(): Promise<boolean> {
    this.#positions ??= await readArchivePositions(this.#db)
    return [...this.#positions.values()].some(({ hotFrom }) => hotFrom > 0)
  }

  async position(chain: number): Promise<ArchivePosition> {
    this.#positions ??= await readArchivePositions(this.#db)
    return positionOf(this.#positions, chain)
  }

  /** What was found since this was asked last. */
  takeFindings(): readonly Finding[] {
    const findings = this.#findings
    this.#findings = []
    return findings
  }

  /** The log of a chain in the store; undefined where no store is known. */
  async log(chain: number): Promise<ColdLog | undefined> {
    const known = this.#logs.get(chain)
    if (known !== undefined || this.#store === undefined) return known
    for (const { chain: number, origin } of await readHeads(this.#db)) {
      this.#logs.set(number, new ColdLog(this.#store, origin))
    }
    return this.#logs.get(chain)
  }

  /** The records of a range that are not in the database any more and have not expired, bundle by bundle. */
  async *scan({ chain, fromSeq, toSeq }: ChainRange): AsyncGenerator<readonly ColdRecord[]> {
    const { hotFrom, minIndex } = await this.position(chain)
    const to = Math.min(toSeq, hotFrom)
    for (let at = Math.max(fromSeq, minIndex); at < to;) {
      const end = (bundleOf(at) + 1) * TILE_WIDTH
      const records = await this.bundle(chain, bundleOf(at))
      const wanted = records.filter(({ seq }) => seq >= at && seq < to)
      if (wanted.length > 0) yield wanted
      at = end
    }
  }

  /** The records of one bundle; none, and a finding, when it cannot be read. */
  async bundle(chain: number, index: number): Promise<readonly ColdRecord[]> {
    const log = await this.log(chain)
    if (log === undefined) {
      this.#report({ origin: '', index, rule: 'TILE_MISSING', message: NO_STORE })
      return []
    }
    const bundle = await log.bundle(index)
    if (bundle.kind !== 'found') {
      const rule = bundle.kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'
      const message = `the entry bundle ${index} of the cold store is ${bundle.kind}`
      this.#report({ origin: log.origin, index, rule, message })
      return []
    }
    const { size } = await this.position(chain)
    const hashes = await this.#hashTile(log, { index, size })
    return bundle.content.map((body, at) => recordOf(body, index * TILE_WIDTH + at, hashes?.[at]))
  }

  /** Encrypted segments of the records of a range, both ends included. */
  async segments(range: {
    readonly chain: number
    readonly firstSeq: number
    readonly lastSeq: number
  }): Promise<readonly SegmentRow[]> {
    const { chain, firstSeq, lastSeq } = range
    const { hotFrom, minIndex } = await this.position(chain)
    const last = Math.min(lastSeq, hotFrom - 1)
    const log = firstSeq > last ? undefined : await this.log(chain)
    if (log === undefined) return []
    const rows: SegmentRow[] = []
    for (let index = bundleOf(Math.max(firstSeq, minIndex)); index <= bundleOf(last); index += 1) {
      const found = await log.segments(index)
      if (found.kind === 'found') rows.push(...found.content)
      else this.#reportPayload(log.origin, index, found.kind)
    }
    return rows.filter(({ seq }) => seq >= firstSeq && seq <= last)
  }

  async #hashTile(
    log: ColdLog,
    { index, size }: { readonly index: number; readonly size: number },
  ): Promise<readonly Uint8Array[] | undefined> {
    const { origin } = log
    const tile = await log.tile(0, index, TILE_WIDTH)
    if (tile.kind !== 'found') {
      const rule = tile.kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'
      const message = `the hash tile ${index} of the cold store is ${tile.kind}`
      this.#report({ origin, index, rule, message })
      return undefined
    }
    // As wide as it was when the log was archived last; until it is full there may be none.
    const above = { level: 1, index: bundleOf(index) }
    const parent = await log.tile(1, above.index, tileWidth(above, size))
    const expected = parent.kind === 'found' ? parent.content[index % TILE_WIDTH] : undefined
    if (expected !== undefined && !equalBytes(expected, rootOf(tile.content))) {
      const message = `the hash tile ${index} is not the one that the tile above it was made of`
      this.#report({ origin, index, rule: 'TILE_HASH', message })
    }
    return tile.content
  }

  #reportPayload(origin: string, index: number, kind: 'missing' | 'unreadable'): void {
    const rule = kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'
    this.#report({ origin, index, rule, message: `the payloads of bundle ${index} are ${kind}` })
  }

  #report(found: { origin: string; index: number; rule: FindingRule; message: string }): void {
    const { origin, index, rule, message } = found
    this.#findings.push({ origin, seq: index * TILE_WIDTH, rule, message })
  }
}

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
