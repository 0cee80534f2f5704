// What stands in a part of a chain, in either tier: the records that may fit a question, and the hash of every one.
import { recordHash } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import type { CopyFields } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import { bundleOf } from '../cold/objects.ts'
import { rowOf } from '../cold/read-task.ts'
import type { Snapshot } from '../database.ts'
import type { RecordRow } from '../read/records.ts'
import type { Hint } from './criteria.ts'

/** What stands in a range: records that may fit, and the hash of the stored bytes of each record, by seq. */
export interface RecordRange {
  /** Those that may fit, the newest first. */
  readonly rows: readonly RecordRow[]
  readonly hashes: ReadonlyMap<number, Uint8Array>
  readonly findings: readonly Finding[]
}

interface Range {
  readonly chain: number
  readonly origin: string
  readonly from: number
  /** Not included; on the same side of `hotFrom`, and in the cold tier in the same bundle. */
  readonly below: number
}

interface RangeReading {
  readonly snapshot: Snapshot
  readonly tier: ColdTier
  readonly hints: readonly Hint[]
}

export async function readRange(
  { snapshot, tier, hints }: RangeReading,
  { chain, origin, from, below }: Range,
): Promise<RecordRange> {
  const { hotFrom } = await tier.position(chain)
  if (below > hotFrom) return readHot(snapshot, { chain, origin, from, below, hints })
  const records = await tier.bundle(chain, bundleOf(from))
  const own = records.filter(({ seq }) => seq >= from && seq < below)
  const hashes = new Map(own.map(({ seq, body }) => [seq, recordHash(body)]))
  const rows = own.map((one) => rowOf(one, chain)).toReversed()
  return { rows, hashes, findings: tier.takeFindings() }
}

/**
 * The lowest record is always among the rows, because it tells how far back the piece reaches. Postgres hashes the bytes of
 * those that do not fit, so that what was altered until it does not fit is found without being sent.
 */
async function readHot(
  { client }: Snapshot,
  { chain, origin, from, below, hints }: Range & Pick<RangeReading, 'hints'>,
): Promise<RecordRange> {
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
