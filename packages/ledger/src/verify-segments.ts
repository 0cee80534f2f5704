// The stored segments of a record are exactly the ones it committed to.
import type { Finding, FindingRule } from './finding.ts'
import type { PayloadReference, RecordBody } from './record.ts'
import { openSegment, opensCommitment } from './segment.ts'
import type { StoredSegment } from './stored-record.ts'

/** Compares the payload list of `body` with what is stored, by opening every segment. */
export function verifySegments(body: RecordBody, stored: readonly StoredSegment[]): Finding[] {
  const findings: Finding[] = []
  const report = (rule: FindingRule, message: string) =>
    findings.push({ origin: body.origin, seq: body.seq, rule, message })
  const bySegment = new Map(stored.map((segment) => [segment.segment, segment]))
  for (const reference of body.payload) {
    const segment = bySegment.get(reference.segment)
    bySegment.delete(reference.segment)
    const fault = faultOf(body, reference, segment)
    if (fault !== undefined) report(fault, `segment ${reference.segment}: ${SENTENCES[fault]}`)
  }
  for (const segment of bySegment.keys()) {
    report('PAYLOAD_UNEXPECTED', `segment ${segment}: ${SENTENCES.PAYLOAD_UNEXPECTED}`)
  }
  return findings
}

const SENTENCES = {
  PAYLOAD_MISSING: 'the record names it but it is not stored',
  PAYLOAD_KEY: 'the key of its subject is gone',
  PAYLOAD_MISMATCH: 'it does not open, or is not what the record committed to',
  PAYLOAD_UNEXPECTED: 'it is stored but the record does not name it',
} as const

function faultOf(
  body: RecordBody,
  reference: PayloadReference,
  stored: StoredSegment | undefined,
): keyof typeof SENTENCES | undefined {
  if (stored === undefined) return 'PAYLOAD_MISSING'
  if (stored.subjectRef !== reference.subjectRef) return 'PAYLOAD_MISMATCH'
  if (stored.key === undefined) return 'PAYLOAD_KEY'
  const place = { origin: body.origin, seq: body.seq, segment: reference.segment }
  const salted = openSegment(stored.key, place, stored)
  if (salted === undefined) return 'PAYLOAD_MISMATCH'
  return opensCommitment(salted, reference) ? undefined : 'PAYLOAD_MISMATCH'
}
