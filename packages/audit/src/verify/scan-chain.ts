// Reads one chain in bounded pages, out of one tier or both: each record with every row that refers to it, in a few set reads.
import { readRecord } from '@baton/ledger'
import type { RecordColumns, StoredBatch, StoredIndex, StoredRecord } from '@baton/ledger'
import { copyOut } from '@baton/postgres'
import type { CopyFields } from '@baton/postgres'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { Snapshot } from '../database.ts'

/** One stored record, its reading, and the rows that refer to it; its segments are read apart. */
export interface ScannedRecord extends StoredRecord {
  readonly index: ScannedIndex | undefined
  readonly columns: RecordColumns & { readonly recordedAtMicros: number }
}

/** The row of the index, with what it remembers of the request. */
export interface ScannedIndex extends StoredIndex {
  readonly requestHash: Buffer
}

interface ScanRange {
  readonly chain: number
  /** The first record. */
  readonly fromSeq: number
  /** Records below this one are read; all by default. */
  readonly toSeq?: number
  readonly pageRecords?: number
}

const PAGE_RECORDS = 1_000
const SEQ_MAX = Number.MAX_SAFE_INTEGER

/**
 * The pages of a chain in order of seq. The next page is read while the caller works on this one,
 * so two pages are in memory, whatever the length of the chain.
 */
export async function* scanChain(
  snapshot: Snapshot,
  range: ScanRange,
): AsyncGenerator<readonly ScannedRecord[]> {
  const { chain, fromSeq, toSeq = SEQ_MAX, pageRecords = PAGE_RECORDS } = range
  const rowsAfter = (seq: number, recordedAtMicros: number) => {
    const rows = readRows(snapshot, { chain, seq, recordedAtMicros, toSeq, limit: pageRecords })
    // Awaited in the next turn; a caller that stops before that must not leave a rejection behind.
    rows.catch(() => undefined)
    return rows
  }
  let coming = rowsAfter(fromSeq, Number.MIN_SAFE_INTEGER)
  for (;;) {
    const rows = await coming
    const last = rows.at(-1)
    if (last === undefined) return
    const page = await complete(snapshot, chain, rows)
    coming = rowsAfter(last.seq, last.columns.recordedAtMicros)
    yield page
  }
}

/** A record as read first; what refers to it is filled in once per page. */
type Draft = { -readonly [Member in keyof ScannedRecord]: ScannedRecord[Member] } & {
  readonly seq: number
}

interface RowsAfter {
  readonly chain: number
  readonly seq: number
  readonly recordedAtMicros: number
  readonly toSeq: number
  readonly limit: number
}

const EARLIEST = `'-infinity'::timestamptz`
const instant = (at: number): string =>
  at === Number.MIN_SAFE_INTEGER ? EARLIEST : `'epoch'::timestamptz + ${at} * interval '1 us'`

// The time is part of the position, because a forged seq may stand twice.
const readRows = (snapshot: Snapshot, after: RowsAfter): Promise<Draft[]> =>
  copyOut(
    snapshot.client,
    `select seq, recorded_at, task_id, handoff_id, event, spent_micro, record_hash, body
     from audit.record
     where chain = ${after.chain} and seq < ${after.toSeq}
       and (seq, recorded_at) > (${after.seq}, ${instant(after.recordedAtMicros)})
     order by seq, recorded_at limit ${after.limit}`,
    draftOf,
  )

function draftOf(fields: CopyFields): Draft {
  const body = fields.bytes(7)
  const seq = fields.int8(0)
  return {
    seq,
    body,
    reading: readRecord(body),
    recordHash: fields.bytes(6),
    columns: {
      seq,
      recordedAtMicros: fields.micros(1),
      taskId: fields.uuid(2),
      handoffId: fields.uuid(3),
      eventNumber: fields.int2(4),
      spentMicroUSD: fields.isNull(5) ? null : fields.int8(5),
    },
    ...NOTHING_YET,
  }
}

/** A record that was read elsewhere, with the rows of the database that refer to it. */
function completeRecords(
  snapshot: Snapshot,
  chain: number,
  records: readonly Pick<Draft, 'seq' | 'body' | 'reading' | 'recordHash' | 'columns'>[],
): Promise<readonly ScannedRecord[]> {
  const drafts = records.map((record) => ({ ...record, ...NOTHING_YET }))
  return complete(snapshot, chain, drafts)
}

const NOTHING_YET = {
  index: undefined,
  taskBefore: undefined,
  batch: undefined,
  segments: undefined,
}

/** Fills in the idempotency rows, those of the record before each task's first, and the batches. */
async function complete(
  snapshot: Snapshot,
  chain: number,
  drafts: readonly Draft[],
): Promise<readonly ScannedRecord[]> {
  await findIndexes(snapshot, { chain, wanted: wantedIndexes(drafts) })
  const range = { chain, first: (drafts[0] as Draft).seq, last: (drafts.at(-1) as Draft).seq }
  const batches = await readBatches(snapshot, range)
  if (batches.size > 0) for (const draft of drafts) draft.batch = batches.get(draft.seq)
  return drafts
}

function wantedIndexes(drafts: readonly Draft[]): Wanted[] {
  const wanted: Wanted[] = []
  const seen = new Set<string>()
  for (const draft of drafts) {
    if (draft.reading === undefined) continue
    const { taskId, taskSeq } = draft.reading
    wanted.push({ taskId, taskSeq, put: (found) => (draft.index = found) })
    if (taskSeq > 0 && !seen.has(taskId)) {
      const put = (found: ScannedIndex | undefined) => (draft.taskBefore = found?.recordHash)
      wanted.push({ taskId, taskSeq: taskSeq - 1, put })
    }
    seen.add(taskId)
  }
  return wanted
}

interface Wanted {
  readonly taskId: string
  readonly taskSeq: number
  readonly put: (found: ScannedIndex | undefined) => void
}

// The ids were checked to be UUIDs when the records were read, so they may stand in the statement.
async function findIndexes(
  snapshot: Snapshot,
  { chain, wanted }: { chain: number; wanted: readonly Wanted[] },
): Promise<void> {
  if (wanted.length === 0) return
  const found = new Set<number>()
  await copyOut(
    snapshot.client,
    `select w.at::integer, i.key, i.chain, i.seq, i.recorded_at, i.record_hash, i.request_hash
     from unnest('{${wanted.map((one) => one.taskId).join(',')}}'::uuid[],
       '{${wanted.map((one) => one.taskSeq).join(',')}}'::bigint[])
       with ordinality as w (task_id, task_seq, at)
     join audit.idem i on i.task_id = w.task_id and i.task_seq = w.task_seq`,
    (fields) => {
      const position = fields.int4(0) - 1
      const { taskId, taskSeq, put } = wanted[position] as Wanted
      const isOnly = !found.has(position) && fields.int2(2) === chain
      found.add(position)
      const index = {
        key: fields.uuid(1),
        seq: fields.int8(3),
        recordedAtMicros: fields.micros(4),
        recordHash: fields.bytes(5),
        requestHash: fields.bytes(6),
        taskId,
        taskSeq,
      }
      put(isOnly ? index : undefined)
    },
  )
}

async function readBatches(
  snapshot: Snapshot,
  { chain, first, last }: { chain: number; first: number; last: number },
): Promise<ReadonlyMap<number, StoredBatch>> {
  const batches = await copyOut(
    snapshot.client,
    `select first_seq, last_seq, last_hash, key_id, signature from audit.batch_sig
     where chain = ${chain} and last_seq between ${first} and ${last}`,
    (fields) => ({
      firstSeq: fields.int8(0),
      lastSeq: fields.int8(1),
      lastHash: fields.bytes(2),
      keyId: fields.text(3),
      signature: fields.bytes(4),
    }),
  )
  return new Map(batches.map((batch) => [batch.lastSeq, batch]))
}

/** As `scanChain`, what was dropped out of the cold store and the rest from the database. What the cold store lacks is left out and told by `tier.takeFindings`. */
export async function* scanTiers(
  snapshot: Snapshot,
  tier: ColdTier,
  range: ScanRange,
): AsyncGenerator<readonly ScannedRecord[]> {
  const { chain, fromSeq, toSeq = Number.MAX_SAFE_INTEGER } = range
  const { hotFrom } = await tier.position(chain)
  for await (const records of tier.scan({ chain, fromSeq, toSeq })) {
    yield await completeRecords(snapshot, chain, records)
  }
  if (toSeq <= hotFrom) return
  yield* scanChain(snapshot, { ...range, fromSeq: Math.max(fromSeq, hotFrom) })
}
