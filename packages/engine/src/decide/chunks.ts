// What a chunk is, and what becomes of chunks that do not simply follow the committed ones. Pure.
import { canonicalBytes, DEFAULT_LIMITS } from '@baton/protocol'
import type { JsonObject, JsonValue } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import type { BatonError } from '@baton/runtime'
import { STREAM_BYTES_MAX, STREAM_CHUNKS_MAX } from '@baton/store'
import type { NewChunk, StreamPlace } from '@baton/store'

/** A part of a result, as an agent yields it while it runs. */
export interface Chunk {
  /** What it is, in a word of the agent’s own; `text` by default. */
  readonly kind?: string
  readonly content: JsonValue
}

/** A committed chunk. */
export interface CommittedChunk extends Required<Chunk> {
  /** From 1 without gaps, over all attempts of the handoff. */
  readonly seq: number
}

export const CHUNK_KIND_PATTERN = '^[a-z][a-z0-9._-]{0,63}$'
const CHUNK_BYTES_MAX = 65_536

const KIND = new RegExp(CHUNK_KIND_PATTERN)
const LIMITS = { ...DEFAULT_LIMITS, bytesMax: CHUNK_BYTES_MAX }

/** Numbers a chunk and fixes its bytes. Throws BATON_CHUNK_INVALID. */
export function numberChunk({ kind = 'text', content }: Chunk, seq: number): NewChunk {
  if (!Number.isInteger(seq) || seq < 1) throw invalid('its number is not a whole number from 1')
  if (typeof kind !== 'string' || !KIND.test(kind)) throw invalid('its kind is no name')
  if (content === undefined) throw invalid('it has no content')
  try {
    return { seq, body: canonicalBytes({ kind, content }, LIMITS) }
  } catch (cause) {
    throw invalid(`its content is no JSON value of at most ${CHUNK_BYTES_MAX} bytes`, cause)
  }
}

const invalid = (why: string, cause?: unknown): BatonError =>
  permanent('BATON_CHUNK_INVALID', `this is no chunk: ${why}`, {
    cause,
    fix: `Emit { kind, content }: a JSON value of at most ${CHUNK_BYTES_MAX} bytes, numbered from 1.`,
  })

export function readChunk({ seq, body }: NewChunk): CommittedChunk {
  const { kind, content } = JSON.parse(Buffer.from(body).toString('utf8')) as JsonObject
  return { seq, kind: kind as string, content: content as JsonValue }
}

/** What stands where chunks were to be committed. */
export interface StreamStanding {
  /** Undefined where nothing executes. */
  readonly place: StreamPlace | undefined
  /** The committed chunks of the same numbers. */
  readonly committed: readonly NewChunk[]
}

/**
 * Which of consecutive chunks are still to be committed: those that are, with the same bytes, were committed by an earlier try. Throws
 * where they cannot follow: BATON_EXECUTION_LOST, BATON_CHUNK_CONFLICT, BATON_CHUNK_GAP or BATON_STREAM_FULL.
 */
export function stillToCommit(
  chunks: readonly NewChunk[],
  { place, committed }: StreamStanding,
): readonly NewChunk[] {
  if (place?.held !== true) throw LOST
  const bodies = new Map(committed.map(({ seq, body }) => [seq, Buffer.from(body)]))
  const other = chunks.find(({ seq, body }) => bodies.get(seq)?.equals(body) === false)
  if (other !== undefined) throw conflict(other.seq)
  const rest = chunks.filter(({ seq }) => seq > place.chunks)
  const [first] = rest
  if (first === undefined) return rest
  if (first.seq > place.chunks + 1) throw gap(first.seq, place.chunks)
  const bytes = rest.reduce((sum, { body }) => sum + body.length, place.bytes)
  if (bytes > STREAM_BYTES_MAX || place.chunks + rest.length > STREAM_CHUNKS_MAX) throw FULL
  return rest
}

export const LOST = permanent(
  'BATON_EXECUTION_LOST',
  'this execution is not yours, or no longer: its lease or its deadline has passed, or it was canceled',
  { fix: 'Stop working on it; nothing of it is or will be committed under this fencing token.' },
)

const FULL = permanent(
  'BATON_STREAM_FULL',
  `a stream has at most ${STREAM_CHUNKS_MAX} chunks and ${STREAM_BYTES_MAX} bytes`,
  { fix: 'Emit larger chunks, or put the rest into the result.' },
)

const conflict = (seq: number): BatonError =>
  permanent('BATON_CHUNK_CONFLICT', `chunk ${seq} is committed with other bytes`, {
    fix: 'Go on after the committed chunks: an attempt may repeat them, but not change them.',
  })

const gap = (seq: number, chunks: number): BatonError =>
  permanent('BATON_CHUNK_GAP', `chunk ${seq} does not follow the ${chunks} committed chunks`, {
    fix: `Emit chunk ${chunks + 1} next.`,
  })

/** What no further chunk of the same execution can mend: it fails, whatever the agent makes of it. */
export const breaksStream = (code: string): boolean =>
  code === 'BATON_CHUNK_CONFLICT' || code === 'BATON_CHUNK_UNSAFE'

export const UNSAFE = permanent('BATON_CHUNK_UNSAFE', 'a chunk was judged unsafe', {
  fix: 'Nothing of it was committed; the execution fails, and its task goes back to its checkpoint.',
})

/** The stream that a completion names is not the one that is committed. */
export const incomplete = (expected: number, committed: number): BatonError =>
  permanent(
    'BATON_STREAM_INCOMPLETE',
    `the result is of ${expected} chunks, and ${committed} are committed`,
    { fix: 'Say with the result how many chunks the stream has in all.' },
  )
