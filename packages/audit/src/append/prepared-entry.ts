// What is computed once per entry, however often its batch has to be built again.
import { packText, recordIdBytes, saltText } from '@baton/ledger'
import type { AuditEntry, PackedText, SaltedText, SegmentInput } from '@baton/ledger'
import { digestRequest } from './request-digest.ts'

export interface PreparedSegment extends Pick<SaltedText, 'bytes' | 'commitment'>, PackedText {
  readonly kind: SegmentInput['kind']
  /** The name under which the vault knows the subject, or the set of subjects. */
  readonly subjectName: string
  /** The names of those in the set; empty for one subject. */
  readonly memberNames: readonly string[]
}

export interface PreparedEntry {
  readonly entry: AuditEntry
  /** 16 bytes: the idempotency key. */
  readonly key: Buffer
  readonly keyText: string
  /** See `digestRequest`. */
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

/** Salts its texts anew; the same request always has the same key and hash. */
export function prepareEntry(entry: AuditEntry, options: PrepareOptions): PreparedEntry {
  const key = recordIdBytes(entry)
  const segments = entry.segments.map((segment) => {
    const { salted, bytes, commitment } = saltText(segment.text)
    const { kind } = segment
    const names = namesOf(segment, { ...options, tenant: entry.tenant })
    return { kind, bytes, commitment, ...names, ...packText(salted) }
  })
  const requestHash = digestRequest(entry, key, options.requestKey)
  return { entry, key, keyText: key.toString('hex'), requestHash, segments }
}

/** Where a name means one person: another tenant may call somebody else so. */
export interface SubjectPlace {
  readonly environment: string
  /** The default one where it is undefined. */
  readonly tenant: string | undefined
}

/** The name under which the vault knows a data subject. */
export const subjectName = ({ environment, tenant }: SubjectPlace, subject: string): string =>
  tenant === undefined
    ? `subject/${environment}/${subject}`
    : `subject-of/${tenant}/${environment}/${subject}`

// Text without a data subject gets the environment's key of the day: one key never encrypts more
// than a day's segments, far below the 2^32 random nonces that AES-GCM bears.
function namesOf(
  { subject, subjects = [] }: SegmentInput,
  { environment, tenant, nowMicros }: SubjectPlace & PrepareOptions,
): Pick<PreparedSegment, 'subjectName' | 'memberNames'> {
  const people = [...new Set(subject === null ? subjects : [subject, ...subjects])].toSorted()
  const memberNames = people.map((one) => subjectName({ environment, tenant }, one))
  const [only] = memberNames
  if (only === undefined) {
    const day = Math.floor(nowMicros / MICROS_PER_DAY)
    return { subjectName: `default/${environment}/${day}`, memberNames }
  }
  if (memberNames.length === 1) return { subjectName: only, memberNames: [] }
  const kind = tenant === undefined ? 'set' : `set-of/${tenant}`
  return { subjectName: `${kind}/${environment}/${JSON.stringify(people)}`, memberNames }
}
