// The end of a stream: a completion commits only with every chunk that it names, and with no other.
import { digestStreams, findStreamPlace } from '@baton/store'
import type { Completion, Fence, Pool, StreamDigest } from '@baton/store'
import { incomplete } from './decide/chunks.ts'
import type { Ended } from './decide/outcome.ts'

/** What an execution has yielded; undefined where that is nothing. Throws BATON_STREAM_INCOMPLETE. */
export async function finishedStream(
  pool: Pool,
  { handoffId }: Fence,
  execution: Ended,
): Promise<StreamDigest | undefined> {
  const expected = execution.kind === 'done' ? (execution.result.chunks ?? 0) : 0
  if (expected === 0) return undefined
  const stream = (await digestStreams(pool, [handoffId])).get(handoffId)
  if (stream?.chunks !== expected) throw incomplete(expected, stream?.chunks ?? 0)
  return stream
}

/** Why a completion was not committed: throws BATON_STREAM_INCOMPLETE where its fencing token holds still. */
export async function requireWhole(
  pool: Pool,
  fence: Fence,
  { chunks = 0 }: Completion,
): Promise<void> {
  const place = await findStreamPlace(pool, fence)
  if (place?.held === true && place.chunks !== chunks) throw incomplete(chunks, place.chunks)
}
