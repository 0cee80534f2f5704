// Everything that happens in a task, in order, until it has ended: the task, what its agents yield, how it stands, what came of it.
import { StreamResponse } from '@a2a-js/sdk'
import { listA2aStandings, listA2aStreams, listChunks } from '@baton/store'
import type { A2aStream, Pool } from '@baton/store'
import { isTerminal, resultsOf, taskStateOf, toStatus, toTask } from '@baton/protocol/dialects/a2a'
import type { Shown, StoredTask } from '@baton/protocol/dialects/a2a'
import type { JsonObject } from '@baton/protocol'
import { markOf } from './follow-tasks.ts'
import type { TaskFollowers } from './follow-tasks.ts'
import { readTask, storedTask } from './read-tasks.ts'
import { partOf, streamArtifactId } from './stream-artifacts.ts'

export interface Followed {
  /** Of all tenants: the reader was shown the task before. */
  readonly pool: Pool
  readonly followers: TaskFollowers
  readonly task: StoredTask
  readonly shown: Shown
  /** Also while it needs something from its caller: whoever only sent a message is told that, and sends another one. */
  readonly isSubscribed: boolean
  /** Aborts when nobody listens any more, or nobody may any longer. */
  readonly signal: AbortSignal
}

const PAGE_CHUNKS_MAX = 200
/** Each reader holds a page or two while it is slow. */
const PAGE_BYTES_MAX = 65_536
const WAIT_MS = 15_000

/**
 * Whoever comes back gets everything again from the beginning: the first part of an artifact replaces what was told of it before. Ends
 * with the status of a task that has ended.
 */
export async function* taskEvents(followed: Followed): AsyncGenerator<StreamResponse, void> {
  const { pool, followers, task, shown, isSubscribed, signal } = followed
  const { taskId, contextId } = task
  const told = new Map<string, Told>()
  yield event({ task: toTask(task, { ...shown, artifacts: false }) })
  let { state } = task
  while (!signal.aborted) {
    const [standing] = await listA2aStandings(pool, [taskId])
    if (standing === undefined) return
    // What has ended has all its chunks by now: they are read after it was seen.
    for (const stream of await listA2aStreams(pool, taskId))
      for await (const part of newParts(pool, stream, toldOf(told, stream), signal))
        yield event({ artifactUpdate: { taskId, contextId, ...part } })
    const now = taskStateOf(standing)
    if (now !== state || isTerminal(now)) {
      state = now
      const ended = isTerminal(now) ? await readTask(pool, taskId) : undefined
      for (const artifact of ended === undefined ? [] : resultsOf(ended))
        yield event({ artifactUpdate: { taskId, contextId, artifact, lastChunk: true } })
      const status = toStatus(ended ?? storedTask(standing))
      yield event({ statusUpdate: { taskId, contextId, status } })
    }
    if (isTerminal(now) || (now === 'TASK_STATE_INPUT_REQUIRED' && !isSubscribed)) return
    await followers.moved({ taskId, mark: markOf(standing) }, { signal, withinMs: WAIT_MS })
  }
}

const event = (json: JsonObject): StreamResponse => StreamResponse.fromJSON(json)

interface Told {
  seq: number
  closed: boolean
}

function toldOf(told: Map<string, Told>, { handoffId }: A2aStream): Told {
  const known = told.get(handoffId) ?? { seq: 0, closed: false }
  told.set(handoffId, known)
  return known
}

async function* newParts(
  pool: Pool,
  { handoffId, chunks, ended }: A2aStream,
  told: Told,
  signal: AbortSignal,
): AsyncGenerator<JsonObject> {
  const artifactId = streamArtifactId(handoffId)
  while (told.seq < chunks && !signal.aborted) {
    const range = { after: told.seq, limit: PAGE_CHUNKS_MAX, bytesMax: PAGE_BYTES_MAX }
    const page = await listChunks(pool, handoffId, range)
    // They were erased with the people they may tell of.
    if (page.length === 0) return
    for (const chunk of page) {
      const artifact = { artifactId, name: 'stream', parts: [partOf(chunk)] }
      const lastChunk = ended && chunk.seq === chunks
      yield { artifact, append: chunk.seq > 1, lastChunk }
      told.seq = chunk.seq
      told.closed = lastChunk
    }
  }
  if (!ended || told.closed || told.seq === 0) return
  told.closed = true
  yield {
    artifact: { artifactId, name: 'stream', parts: [{ text: '' }] },
    append: true,
    lastChunk: true,
  }
}
