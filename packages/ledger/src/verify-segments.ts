// Each segment of a record is there and as committed, or erased by a record that names it; anything else is loss.
import type { Finding } from './finding.ts'
import type { PayloadReference, RecordBody } from './record.ts'
import { opensCommitment, openSegment } from './segment.ts'
import type { StoredSegment } from './stored-record.ts'

/** `missing` is tampering: neither the text nor an erasure record that names it is there. */
export type SegmentVerdict = 'present' | 'erased' | 'missing' | 'mismatch'

export interface JudgedSegment {
  readonly segment: number
  readonly kind: PayloadReference['kind']
  readonly subjectRef: string
  readonly verdict: SegmentVerdict
}

/** The subject of each erased segment, by segment number; of one record. */
type Erased = ReadonlyMap<number, string>

const NOTHING_ERASED: Erased = new Map()

/** What became of every segment that a record names (I11). */
export const judgeSegments = (
  body: RecordBody,
  stored: readonly StoredSegment[],
  erased: Erased = NOTHING_ERASED,
): JudgedSegment[] =>
  body.payload.map((reference) => {
    const { segment, kind, subjectRef } = reference
    const found = stored.find((one) => one.segment === segment)
    const fault = faultOf(body, reference, { found, erased })
    return { segment, kind, subjectRef, verdict: VERDICTS[fault] }
  })

/**
 * Compares the payload list of `body` with what is stored, by opening every segment. A segment may be
 * missing, or not open any more, only where `erased` names it with the subject that the record names.
 */
export function verifySegments(
  body: RecordBody,
  stored: readonly StoredSegment[],
  erased: Erased = NOTHING_ERASED,
): Finding[] {
  const findings: Finding[] = []
  const report = (rule: keyof typeof SENTENCES, segment: number) =>
    findings.push({
      origin: body.origin,
      seq: body.seq,
      rule,
      message: `segment ${segment}: ${SENTENCES[rule]}`,
    })
  const bySegment = new Map(stored.map((segment) => [segment.segment, segment]))
  for (const reference of body.payload) {
    const found = bySegment.get(reference.segment)
    bySegment.delete(reference.segment)
    const fault = faultOf(body, reference, { found, erased })
    if (fault !== 'none' && fault !== 'erased') report(fault, reference.segment)
  }
  for (const segment of bySegment.keys()) report('PAYLOAD_UNEXPECTED', segment)
  return findings
}

const SENTENCES = {
  PAYLOAD_MISSING: 'the record names it but it is not stored, and no erasure names it',
  PAYLOAD_KEY: 'the key of its subject is gone, and no erasure names it',
  PAYLOAD_MISMATCH: 'it does not open, or is not what the record committed to',
  PAYLOAD_UNEXPECTED: 'it is stored but the record does not name it',
} as const

const VERDICTS = {
  none: 'present',
  erased: 'erased',
  PAYLOAD_MISSING: 'missing',
  PAYLOAD_KEY: 'missing',
  PAYLOAD_MISMATCH: 'mismatch',
} as const satisfies Record<string, SegmentVerdict>

function faultOf(
  body: RecordBody,
  reference: PayloadReference,
  { found, erased }: { readonly found: StoredSegment | undefined; readonly erased: Erased },
): keyof typeof VERDICTS {
  const isErased = erased.get(reference.segment) === reference.subjectRef
  if (found === undefined) return isErased ? 'erased' : 'PAYLOAD_MISSING'
  if (found.subjectRef !== reference.subjectRef) return 'PAYLOAD_MISMATCH'
  if (found.key === undefined) return isErased ? 'erased' : 'PAYLOAD_KEY'
  const salted = openSegment(found.key, body, { reference, encrypted: found })
  if (salted === undefined) return 'PAYLOAD_MISMATCH'
  return opensCommitment(salted, reference) ? 'none' : 'PAYLOAD_MISMATCH'
}
