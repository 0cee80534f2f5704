// What is computed once per entry, however often its batch has to be built again.
import { createHmac } from 'node:crypto'
import { canonicalJson, commitment, newSalt, recordIdBytes } from '@baton/ledger'
import type { AuditEntry, SegmentInput } from '@baton/ledger'

export interface PreparedSegment {
  readonly kind: SegmentInput['kind']
  /** The name under which the vault knows the subject. */
  readonly subjectName: string
  readonly salt: Buffer
  readonly bytes: Buffer
  readonly commitment: Buffer
}

export interface PreparedEntry {
  readonly entry: AuditEntry
  /** 16 bytes: the idempotency key. */
  readonly key: Buffer
  readonly keyText: string
  /** Keyed hash of the whole request, so that a repeated key with other content is noticed. */
  readonly requestHash: Buffer
  readonly segments: readonly PreparedSegment[]
}

interface PrepareOptions {
  readonly requestKey: Buffer
  readonly environment: string
  /** Microseconds since 1970. */
  readonly nowMicros: number
}

const MICROS_PER_DAY = 86_400_000_000

export function prepareEntry(entry: AuditEntry, options: PrepareOptions): PreparedEntry {
  const key = recordIdBytes(entry)
  const requestHash = createHmac('sha256', options.requestKey).update(canonicalJson(entry)).digest()
  const segments = entry.segments.map((segment) => prepareSegment(segment, options))
  return { entry, key, keyText: key.toString('hex'), requestHash, segments }
}

function prepareSegment(segment: SegmentInput, options: PrepareOptions): PreparedSegment {
  const bytes = Buffer.from(segment.text, 'utf8')
  const salt = newSalt()
  return {
    kind: segment.kind,
    subjectName: subjectName(segment, options),
    salt,
    bytes,
    commitment: commitment(salt, bytes),
  }
}

// Text without a data subject gets the environment's key of the day: one key never encrypts more
// than a day's segments, far below the 2^32 random nonces that AES-GCM bears.
function subjectName({ subject }: SegmentInput, { environment, nowMicros }: PrepareOptions): string {
  if (subject !== null) return `subject/${environment}/${subject}`
  return `default/${environment}/${Math.floor(nowMicros / MICROS_PER_DAY)}`
}
