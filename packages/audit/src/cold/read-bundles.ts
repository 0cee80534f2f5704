// Reads what is to be archived out of the hot store: whole bundles of stored bytes, and nothing interpreted.
import { TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { readSegments } from '../read/segments.ts'
import type { SegmentRow } from '../read/segments.ts'
import { SEAL_LOG } from './archive-positions.ts'
import type { BundleContent } from './log-archive.ts'

/** One of the archived logs: a chain by its number, or the seal log. */
export interface ArchivedLog {
  readonly log: number
  readonly origin: string
}

interface Range {
  readonly from: number
  readonly to: number
}

interface Row {
  readonly seq: number
  readonly body: Buffer
}

const readRows = ({ client }: Snapshot, log: number, { from, to }: Range): Promise<Row[]> => {
  const table = log === SEAL_LOG ? 'audit.seal where' : `audit.record where chain = ${log} and`
  return copyOut(
    client,
    `select seq, body from ${table} seq >= ${from} and seq < ${to} order by seq`,
    (fields) => ({ seq: fields.int8(0), body: fields.bytes(1) }),
  )
}

/** The stored bodies of a range; a finding where one is missing or stands twice. */
export async function readEntries(
  snapshot: Snapshot,
  { log, origin }: ArchivedLog,
  range: Range,
): Promise<readonly Uint8Array[] | Finding> {
  const rows = await readRows(snapshot, log, range)
  const wrong = rows.findIndex(({ seq }, at) => seq !== range.from + at)
  if (wrong < 0 && rows.length === range.to - range.from) return rows.map(({ body }) => body)
  const seq = range.from + (wrong < 0 ? rows.length : wrong)
  return { origin, seq, rule: 'RECORD_SEQ', message: 'a record is missing or stands twice' }
}

/** The bundles of a range that begins at the start of one; the last may be partial. */
export function readBundles(
  pool: Pool,
  log: ArchivedLog,
  range: Range,
): Promise<readonly BundleContent[] | Finding> {
  return inSnapshot(pool, async (snapshot) => {
    const entries = await readEntries(snapshot, log, range)
    if ('rule' in entries) return entries
    const segments = log.log === SEAL_LOG ? undefined : await segmentsByBundle(snapshot, log, range)
    const bundles: BundleContent[] = []
    for (let from = range.from; from < range.to; from += TILE_WIDTH) {
      const at = from - range.from
      bundles.push({
        entries: entries.slice(at, at + TILE_WIDTH),
        segments: segments && (segments.get(from / TILE_WIDTH) ?? []),
      })
    }
    return bundles
  })
}

async function segmentsByBundle(
  snapshot: Snapshot,
  { log }: ArchivedLog,
  { from, to }: Range,
): Promise<ReadonlyMap<number, readonly SegmentRow[]>> {
  const rows = await readSegments(snapshot, { chain: log, firstSeq: from, lastSeq: to - 1 })
  return Map.groupBy(rows, ({ seq }) => Math.floor(seq / TILE_WIDTH))
}
