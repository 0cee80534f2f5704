// Tasks that came in by A2A, read for their callers: one, or a page of a list, in bounded bytes.
import { listA2aContents, listA2aStandings, listA2aStreams, listChunks } from '@baton/store'
import type { A2aContents, A2aStanding, Pool } from '@baton/store'
import { taskStateOf, toTask } from '@baton/protocol/dialects/a2a'
import type { Shown, StoredTask } from '@baton/protocol/dialects/a2a'
import type { JsonObject, JsonValue } from '@baton/protocol'
import { lastOf, partOf, streamArtifactId } from './stream-artifacts.ts'

/** Of one task; who sends more than that in one task sees the newest. */
const MESSAGES_MAX = 100
/** Chunks that stand in an answer; a subscription has all of them. */
const STREAM_BYTES_MAX = 1_048_576

export const storedTask = (
  standing: A2aStanding,
  contents: Pick<A2aContents, 'result' | 'messages'> = { result: null, messages: [] },
): StoredTask => ({
  ...standing,
  state: taskStateOf(standing),
  result: contents.result === null ? undefined : (JSON.parse(contents.result) as JsonValue),
  messages: contents.messages,
})

/** A task as it stands now; undefined where the pool's tenant has none such. */
export async function readTask(pool: Pool, taskId: string): Promise<StoredTask | undefined> {
  const [standing] = await listA2aStandings(pool, [taskId])
  if (standing === undefined) return undefined
  const contents = await listA2aContents(pool, [taskId], MESSAGES_MAX)
  return storedTask(standing, contents.get(taskId))
}

/** The tasks of these standings, in their order. */
export async function readTasks(
  pool: Pool,
  standings: readonly A2aStanding[],
  messagesMax: number,
): Promise<readonly StoredTask[]> {
  const ids = standings.map(({ taskId }) => taskId)
  const contents = await listA2aContents(pool, ids, Math.min(messagesMax, MESSAGES_MAX))
  return standings.map((one) => storedTask(one, contents.get(one.taskId)))
}

/** In A2A's JSON, with what its streams have yielded. */
export async function showTask(pool: Pool, task: StoredTask, shown: Shown): Promise<JsonObject> {
  const streams = shown.artifacts ? await readStreams(pool, task.taskId) : []
  return toTask(task, { ...shown, streams })
}

async function readStreams(pool: Pool, taskId: string): Promise<JsonObject[]> {
  const artifacts: JsonObject[] = []
  let bytesMax = STREAM_BYTES_MAX
  for (const { handoffId, chunks } of await listA2aStreams(pool, taskId)) {
    const page = await listChunks(pool, handoffId, { after: 0, limit: chunks, bytesMax })
    bytesMax -= page.reduce((sum, { body }) => sum + body.length, 0)
    artifacts.push({
      artifactId: streamArtifactId(handoffId),
      name: 'stream',
      parts: page.map(partOf),
      ...(lastOf(page) < chunks ? { metadata: { cutAfter: lastOf(page), chunks } } : {}),
    })
    if (bytesMax <= 0) break
  }
  return artifacts
}
