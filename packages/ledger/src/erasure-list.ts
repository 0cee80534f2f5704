// What an erasure record says about the segments it erased: how many, and a digest of which.
import { encodeUtf8, toHex } from './bytes.ts'
import { sha256 } from './sha256.ts'

/** A place of the log: the origin of a chain, a seq and a segment number. */
export type SegmentPlaceTuple = readonly [origin: string, seq: number, segment: number]

/** Stands in an erasure record. Names no person and no text. */
export interface RecordErasure {
  /** The subject whose key is destroyed, as the payload references name it. */
  readonly subjectRef: string
  readonly segments: number
  /** Lower-case hex; see `erasureOf`. */
  readonly listSha256: string
}

function compareSegments(left: SegmentPlaceTuple, right: SegmentPlaceTuple): number {
  if (left[0] !== right[0]) return left[0] < right[0] ? -1 : 1
  return left[1] - right[1] || left[2] - right[2]
}

/** SHA-256 over one line `<origin> <seq> <segment>` for each segment, sorted by place. */
export function erasureOf(subjectRef: string, places: readonly SegmentPlaceTuple[]): RecordErasure {
  const lines = [...places].sort(compareSegments).map((place) => `${place.join(' ')}\n`)
  const listSha256 = toHex(sha256(encodeUtf8(lines.join(''))))
  return { subjectRef, segments: places.length, listSha256 }
}
