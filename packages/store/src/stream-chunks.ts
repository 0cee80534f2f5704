// The chunks that an execution yields while it runs: committed in order under its fencing token, and read in pages.
import { BINARY, columns, int4 } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { MAY_GO_ON } from './executions.ts'
import type { Fence } from './executions.ts'

/** How many chunks one handoff yields at most, and how many bytes they take together. */
export const STREAM_CHUNKS_MAX = 10_000
export const STREAM_BYTES_MAX = 16_777_216

export interface NewChunk {
  readonly seq: number
  readonly body: Uint8Array
}

const CHUNKS = columns({ seq: int4, body: BINARY.bytea })
const AFTER_CHUNKS = (index: number): string => `$${CHUNKS.width + index}`

const APPEND = `
with held as (
  update execution e set chunks = e.chunks + ${AFTER_CHUNKS(4)}, chunk_bytes = e.chunk_bytes + ${AFTER_CHUNKS(5)}
  from handoff h
  where e.handoff_id = ${AFTER_CHUNKS(1)} and e.fencing_token = ${AFTER_CHUNKS(2)} and e.status = 'EXECUTING'
    and e.chunks = ${AFTER_CHUNKS(3)}::integer - 1 and e.chunks + ${AFTER_CHUNKS(4)} <= ${STREAM_CHUNKS_MAX}
    and e.chunk_bytes + ${AFTER_CHUNKS(5)} <= ${STREAM_BYTES_MAX} and h.id = e.handoff_id and ${MAY_GO_ON}
  returning e.handoff_id, e.fencing_token
)
insert into stream_chunk (handoff_id, seq, fencing_token, body)
select held.handoff_id, i.seq, held.fencing_token, i.body from held, ${CHUNKS.unnest('i')} returning seq`

/**
 * Commits chunks that follow the last committed one, all or none. False where they do not follow it, where there is no room for them, or
 * where the fencing token is held no longer.
 */
export async function appendChunks(
  db: Database,
  { handoffId, fencingToken }: Fence,
  chunks: readonly NewChunk[],
): Promise<boolean> {
  const bytes = chunks.reduce((sum, { body }) => sum + body.length, 0)
  const place = [handoffId, fencingToken, chunks[0]?.seq, chunks.length, bytes]
  const appended = await run(db, 'append_chunks', APPEND, [...CHUNKS.values(chunks), ...place])
  return appended.length > 0
}

export interface StreamPlace {
  /** Whether the fencing token may commit still. */
  readonly held: boolean
  readonly chunks: number
  readonly bytes: number
}

const PLACE = `
select e.fencing_token = $2 and e.status = 'EXECUTING' and ${MAY_GO_ON} as held, e.chunks, e.chunk_bytes as bytes
from execution e join handoff h on h.id = e.handoff_id where e.handoff_id = $1`

/** How far the stream has come, as the holder of a fencing token sees it; undefined where nothing executes. */
export async function findStreamPlace(
  db: Database,
  { handoffId, fencingToken }: Fence,
): Promise<StreamPlace | undefined> {
  return (
    await run<StreamPlace & object>(db, 'find_stream_place', PLACE, [handoffId, fencingToken])
  )[0]
}

export interface StoredChunk extends NewChunk {
  /** Under which it was committed. */
  readonly fencingToken: number
  readonly createdAt: Date
}

interface ChunkRange {
  /** Chunks after this one. */
  readonly after: number
  readonly limit: number
  /** How many bytes they have at most, beside the first of them; 1 MiB by default. */
  readonly bytesMax?: number
}

const PAGE_BYTES_MAX = 1_048_576

const PAGE = `
select seq, body, "fencingToken", "createdAt" from (
  select seq, body, fencing_token as "fencingToken", created_at as "createdAt",
    sum(octet_length(body)) over (order by seq) - octet_length(body) as before
  from stream_chunk where handoff_id = $1 and seq > $2 and seq <= $2 + $3 order by seq) c
where before < $4 order by seq`

/** Committed chunks in their order, as many as a page holds. */
export function listChunks(
  db: Database,
  handoffId: string,
  { after, limit, bytesMax = PAGE_BYTES_MAX }: ChunkRange,
): Promise<StoredChunk[]> {
  return run<StoredChunk & object>(db, 'list_chunks', PAGE, [handoffId, after, limit, bytesMax])
}

const BEFORE_MAX = 512
const BEFORE_BYTES_MAX = 262_144

const BEFORE = `
select seq, body from (
  select seq, body, sum(octet_length(body)) over (order by seq desc) - octet_length(body) as behind from (
    select seq, body from stream_chunk where handoff_id = $1 and seq < $2 order by seq desc limit ${BEFORE_MAX}) l) c
where behind < ${BEFORE_BYTES_MAX} order by seq`

/** The committed chunks that stand directly before one, as many as a page holds; at least one where there is any. */
export function listChunksBefore(
  db: Database,
  handoffId: string,
  seq: number,
): Promise<NewChunk[]> {
  return run<NewChunk & object>(db, 'list_chunks_before', BEFORE, [handoffId, seq])
}

const DIGESTS = `
select i.id as "handoffId", count(c.seq)::integer as chunks,
  encode(sha256(coalesce(string_agg(c.sha256, '' order by c.seq), '')), 'hex') as sha256
from unnest($1::uuid[]) i (id) left join stream_chunk c on c.handoff_id = i.id group by i.id`

/** How many chunks a stream has, and SHA-256 over the digests of all of them in their order: lower-case hex. */
export interface StreamDigest {
  readonly chunks: number
  readonly sha256: string
}

/** What is committed of these streams now, by the ids of their handoffs; of one without chunks too. */
export async function digestStreams(
  db: Database,
  handoffIds: readonly string[],
): Promise<ReadonlyMap<string, StreamDigest>> {
  const rows = await run<StreamDigest & { readonly handoffId: string }>(
    db,
    'digest_streams',
    DIGESTS,
    [handoffIds],
  )
  return new Map(rows.map(({ handoffId, chunks, sha256 }) => [handoffId, { chunks, sha256 }]))
}

/** How a stream stands for those who read it. */
export interface StreamView {
  readonly handoffId: string
  readonly state: string
  readonly reason: string | null
  readonly chunks: number
  /** Nothing can be added any more, unless a person takes the handoff up again. */
  readonly ended: boolean
  /** Its chunks were erased with the people they may tell of. */
  readonly erased: boolean
}

const VIEWS = `
select h.id as "handoffId", h.state, h.reason, coalesce(e.chunks, 0) as chunks, h.ended_at is not null as ended,
  h.erased_at is not null as erased
from unnest($1::uuid[]) i (id) join handoff h on h.id = i.id left join execution e on e.handoff_id = h.id`

/** Those of these handoffs that exist. What has ended has all its chunks by then. */
export function listStreams(db: Database, handoffIds: readonly string[]): Promise<StreamView[]> {
  return run<StreamView & object>(db, 'list_streams', VIEWS, [handoffIds])
}
