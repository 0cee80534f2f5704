// What an execution yields while it runs, as an artifact that grows: one for each handoff that yields anything.
import { readChunk } from '@baton/engine'
import type { JsonObject, JsonValue } from '@baton/protocol'
import type { StoredChunk } from '@baton/store'

export const streamArtifactId = (handoffId: string): string => `stream-${handoffId}`

/** A chunk that is text is text; anything else is data, with the agent's own word for its kind. */
export function partOf(chunk: StoredChunk): JsonObject {
  const { kind, content } = readChunk(chunk)
  if (typeof content === 'string' && kind === 'text') return { text: content }
  return { data: content as JsonValue, mediaType: 'application/json', metadata: { kind } }
}

/** The number of the last of these chunks. */
export const lastOf = (page: readonly StoredChunk[]): number => page.at(-1)?.seq ?? 0
