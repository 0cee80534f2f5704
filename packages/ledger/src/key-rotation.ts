// A key that follows another, as its record says it: which key, the ids that are in force now, and those that were before.
import type { OperationDetail } from './audit-entry.ts'
import { facts } from './operation.ts'
import type { RecordBody } from './record.ts'

/** What signs messages: held by whoever sends, delivers and executes. */
export const HANDOFF_KEY = 'handoff'

export interface RotatedKey {
  /** `handoff`, `batch`, `witness`, `wrapping`, `lookup`, `evidence` or `seal`. */
  readonly key: string
  /** Names or beginnings of digests; several where several are in force at once, as witnesses are. */
  readonly from: readonly string[]
  readonly to: readonly string[]
}

export interface KeyRotation extends RotatedKey {
  /** When it was recorded, ISO 8601. */
  readonly at: string
  /** Which process says so. */
  readonly by: string
  readonly origin: string
  readonly seq: number
}

/** The facts of a KEY_ROTATED record. */
export const rotationFacts = ({ from, to }: RotatedKey): readonly OperationDetail[] => [
  ...facts('NEW_KEY', to),
  ...facts('EARLIER_KEY', from),
]

/** What the facts of this code name: a digest where the name itself is none that a record takes. */
export const namedBy = (details: readonly OperationDetail[], code: string): readonly string[] =>
  details.flatMap((detail) => (detail.code === code ? [detail.sha256 ?? detail.value ?? ''] : []))

/** Undefined where the record tells of no key. */
export function readKeyRotation(body: RecordBody): KeyRotation | undefined {
  const { event, operation, act, recordedAt: at, origin, seq } = body
  if (event !== 'KEY_ROTATED' || operation === undefined) return undefined
  return {
    key: operation.subject,
    from: namedBy(operation.details, 'EARLIER_KEY'),
    to: namedBy(operation.details, 'NEW_KEY'),
    at,
    by: act?.actor ?? '',
    origin,
    seq,
  }
}
