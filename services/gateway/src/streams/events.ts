// A stream as server-sent events: every chunk once and in order, from where the reader left off, and how it ended.
import { listChunks } from '@baton/store'
import type { Pool, StoredChunk, StreamView } from '@baton/store'
import type { Reader } from './readers.ts'

interface Followed {
  readonly pool: Pool
  readonly reader: Reader
  readonly handoffId: string
  /** The number of the last chunk that the reader has. */
  readonly after: number
  /** Aborts when nobody listens any more. */
  readonly signal: AbortSignal
}

const PAGE_CHUNKS_MAX = 200
/** Each reader holds a page or two while it is slow, and all of them share the connections to the database. */
const PAGE_BYTES_MAX = 65_536
/** How long a reader waits before it connects again. */
const RECONNECT_MS = 1_000

/** Reads on only as quickly as its events are taken: nothing waits in memory but one page. */
export async function* eventsOf(followed: Followed): AsyncGenerator<string> {
  const { pool, reader, handoffId, signal } = followed
  let { after } = followed
  yield `retry: ${RECONNECT_MS}\n\n`
  while (!signal.aborted) {
    const view = await reader.moved(handoffId, after, signal)
    if (view === undefined) {
      yield ': still here\n\n'
      continue
    }
    while (after < view.chunks && !signal.aborted) {
      const page = await listChunks(pool, handoffId, {
        after,
        limit: PAGE_CHUNKS_MAX,
        bytesMax: PAGE_BYTES_MAX,
      })
      if (page.length === 0) break
      yield page.map(chunkEvent).join('')
      after = page.at(-1)?.seq ?? after
    }
    if (view.ended && (after >= view.chunks || view.erased)) {
      yield `event: end\ndata: ${JSON.stringify(showStream(view))}\n\n`
      return
    }
  }
}

const chunkEvent = (chunk: StoredChunk): string =>
  `id: ${chunk.seq}\nevent: chunk\ndata: ${chunkJson(chunk)}\n\n`

/** The stored JSON as it is, with its number before it. */
const chunkJson = ({ seq, body }: StoredChunk): string =>
  `{"seq":${seq},${Buffer.from(body).toString('utf8', 1)}`

/** How a stream stands, as readers are told. */
export const showStream = ({ handoffId, state, reason, chunks, ended, erased }: StreamView) => ({
  handoffId,
  state,
  reason,
  committed: chunks,
  ended,
  complete: !erased && (state === 'COMPLETED' || state === 'PARTIAL'),
  erased,
})
