// Commits what executions yield while they run: judged first, then durable in order, once, under the fencing token.
import { crashPoint, createBatcher } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import { appendChunks, findStreamPlace, listChunks, listChunksBefore } from '@baton/store'
import type { Fence, NewChunk, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { numberChunk, stillToCommit, UNSAFE } from './decide/chunks.ts'
import type { Chunk } from './decide/chunks.ts'
import { isFarEnough, judgedBefore, judgedChunk, judgedTogether } from './decide/judged-chunks.ts'
import type { JudgedChunk } from './decide/judged-chunks.ts'
import { LARGE_BYTES } from './large-work.ts'
import type { LargeWork } from './large-work.ts'
import { withTries } from './with-tries.ts'

interface ChunkParts {
  readonly pool: Pool
  readonly scanner: Pick<Scanner, 'scan'>
  readonly largeWork: LargeWork
  readonly metrics: Pick<Metrics, 'chunksTotal'>
}

/**
 * Commits consecutive chunks, all or none; those that are committed with the same bytes count as committed. `before` are those that stand
 * before them, where the caller knows. Throws what `stillToCommit` throws, and BATON_CHUNK_UNSAFE.
 */
export async function commitChunks(parts: ChunkParts, fence: Fence, given: Given): Promise<void> {
  const { metrics } = parts
  const { length } = given.chunks
  try {
    const committed = await commitAll(parts, fence, given)
    metrics.chunksTotal.committed.inc(committed)
    metrics.chunksTotal.repeated.inc(length - committed)
  } catch (error) {
    metrics.chunksTotal.refused.inc(length)
    throw error
  }
}

interface Given {
  readonly chunks: readonly NewChunk[]
  readonly before?: readonly JudgedChunk[]
  /** Whose work it is: where it is large, it waits for others of theirs. */
  readonly share: string
}

/** Answers how many were not committed before. */
async function commitAll(
  { pool, scanner, largeWork }: ChunkParts,
  fence: Fence,
  { chunks, before, share }: Given,
): Promise<number> {
  const [first] = chunks
  if (first === undefined) return 0
  const judged = chunks.map(judgedChunk)
  const earlier = before ?? (await readBefore(pool, fence, { seq: first.seq, judged }))
  const isLarge = [...earlier, ...judged].reduce((sum, { length }) => sum + length, 0) > LARGE_BYTES
  const texts = judgedTogether(earlier, judged)
  if (isLarge ? await largeWork.rejects(share, texts) : isRejected(scanner, texts)) throw UNSAFE
  let rest = chunks
  let committed = 0
  while (rest.length > 0) {
    const tried = await withTries(() => commitRest(pool, fence, rest))
    committed += tried.committed
    rest = tried.missing
  }
  return committed
}

interface Tried {
  readonly committed: number
  readonly missing: readonly NewChunk[]
}

/** A try that was not answered may have committed: the next one finds out. */
async function commitRest(pool: Pool, fence: Fence, chunks: readonly NewChunk[]): Promise<Tried> {
  crashPoint('chunk.before_commit')
  const appended = await appendChunks(pool, fence, chunks)
  crashPoint('chunk.after_commit')
  if (appended) return { committed: chunks.length, missing: [] }
  return { committed: 0, missing: await stillMissing(pool, fence, chunks) }
}

const isRejected = ({ scan }: ChunkParts['scanner'], texts: readonly object[]): boolean =>
  texts.some((text) => scan(text).decision === 'reject')

/** What new chunks are judged with; without them, what chunks of any kinds are. */
async function readBefore(
  pool: Pool,
  { handoffId }: Fence,
  { seq, judged }: { readonly seq: number; readonly judged?: readonly JudgedChunk[] },
): Promise<readonly JudgedChunk[]> {
  let before: readonly JudgedChunk[] = []
  let from = seq
  while (from > 1 && !(judged !== undefined && isFarEnough(before, judged))) {
    const page = await listChunksBefore(pool, handoffId, from)
    if (page.length === 0) break
    before = judgedBefore([...page.map(judgedChunk), ...before])
    from = page[0]?.seq ?? 0
  }
  return before
}

async function stillMissing(
  pool: Pool,
  fence: Fence,
  chunks: readonly NewChunk[],
): Promise<readonly NewChunk[]> {
  const place = await findStreamPlace(pool, fence)
  const after = (chunks[0]?.seq ?? 1) - 1
  const committed = await listChunks(pool, fence.handoffId, { after, limit: chunks.length })
  return stillToCommit(chunks, { place, committed })
}

/** The stream of one hosted execution. What cannot be committed fails the execution, whatever the agent makes of it. */
export interface Emitter {
  /** Resolves with its number once the chunk is durable. */
  emit(chunk: Chunk, seq?: number): Promise<number>
  /** Waits for everything that was emitted; answers the number of the last chunk. Throws why one was not committed. */
  finish(): Promise<number>
}

const BATCH_CHUNKS_MAX = 64
const WAITING_MAX = 1_024

/** Chunks that are emitted while others commit travel together. */
export function createEmitter(
  parts: ChunkParts,
  fence: Fence & { readonly tenant: string },
): Emitter {
  let last = 0
  let before: { readonly seq: number; readonly judged: readonly JudgedChunk[] } | undefined
  let failure: Error | undefined
  const commits = createBatcher<NewChunk, number>({
    name: 'emit',
    maxItems: BATCH_CHUNKS_MAX,
    maxQueued: WAITING_MAX,
    async flush(chunks) {
      for (const consecutive of consecutiveRuns(chunks)) await commit(consecutive)
      return chunks.map(({ seq }) => seq)
    },
  })

  async function commit(chunks: readonly NewChunk[]): Promise<void> {
    if (failure !== undefined) throw failure
    const seq = chunks[0]?.seq ?? 0
    const judged = chunks.map(judgedChunk)
    try {
      const earlier =
        before?.seq === seq - 1 ? before.judged : await readBefore(parts.pool, fence, { seq })
      await commitChunks(parts, fence, { chunks, before: earlier, share: fence.tenant })
      before = { seq: chunks.at(-1)?.seq ?? 0, judged: judgedBefore([...earlier, ...judged]) }
    } catch (error) {
      failure = error as Error
      throw error
    }
  }

  async function add(chunk: Chunk, seq: number): Promise<number> {
    const numbered = numberChunk(chunk, seq)
    last = seq
    return commits.add(numbered)
  }

  return {
    emit(chunk, seq = last + 1) {
      const committing = add(chunk, seq)
      // Whoever does not wait for it is told by `finish`.
      committing.catch(() => undefined)
      return committing
    },
    async finish() {
      await commits.drain()
      if (failure !== undefined) throw failure
      return last
    },
  }
}

/** Chunks in the order in which they were emitted, cut where a number does not follow the one before. */
function consecutiveRuns(chunks: readonly NewChunk[]): readonly (readonly NewChunk[])[] {
  const runs: NewChunk[][] = []
  for (const chunk of chunks) {
    const run = runs.at(-1)
    if (run !== undefined && run.at(-1)?.seq === chunk.seq - 1) run.push(chunk)
    else runs.push([chunk])
  }
  return runs
}
