// The JSON text of a v0.1 handoff: changed only where it is meant to be; whatever else stands there survives.
import type { JsonObject, JsonValue } from '../../json.ts'
import { timeOf } from './handoff.ts'
import type { OfferedHandoff } from './handoff.ts'
import type { Status } from './transitions.ts'

/** What a change of status writes; members of the context that are undefined are taken out. */
export interface DocumentChange {
  readonly status?: Status
  readonly updated_at?: string
  readonly context?: Readonly<Record<string, JsonValue | undefined>>
}

// A number a double would change stays as it is written: 1.0, 1e400, or twenty digits.
interface SourceText {
  readonly source?: string
}
const { rawJSON } = JSON as unknown as { rawJSON(text: string): JsonObject }

const keepNumber = (_key: string, value: unknown, { source }: SourceText = {}): unknown =>
  typeof value === 'number' && source !== undefined && String(value) !== source
    ? rawJSON(source)
    : value

/** The text of a new handoff, as the reference implementation lays it out. */
export const writeHandoff = (handoff: OfferedHandoff): string => layOut(handoff)

/** The same text with the change made. `text` is one that `readHandoff` took. */
export function changeHandoff(text: string, change: DocumentChange): string {
  const document = JSON.parse(text, keepNumber) as Record<string, JsonValue | undefined>
  const { context, ...fields } = change
  const changed = { ...document, ...fields }
  return layOut(
    context === undefined ? changed : { ...changed, context: merged(document, context) },
  )
}

function merged(
  { context }: Readonly<Record<string, JsonValue | undefined>>,
  changes: NonNullable<DocumentChange['context']>,
): object {
  const kept = typeof context === 'object' && context !== null ? context : {}
  return { ...kept, ...changes }
}

const layOut = (document: object): string => JSON.stringify(document, null, 2)

/** Later than the last change, also where clocks disagree, so that every change of status can be seen. */
export function timeAfter(before: string, nowMs: number): string {
  const last = timeOf(before) ?? Number.NEGATIVE_INFINITY
  return writeTime(Math.max(nowMs, last + 1))
}

/** In the form that Python writes and reads. */
export const writeTime = (atMs: number): string =>
  new Date(atMs).toISOString().replace('Z', '+00:00')
