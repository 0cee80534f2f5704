// A person's decision as it stands in a record: what was signed, by which key, and whether the signature is right. What exactly was
// decided is in it by a salted digest alone. Needs no node:crypto by itself, so it runs in a browser too.
import type { AuditEntry } from './audit-entry.ts'
import type { AuditEvent } from './audit-event.ts'
import { encodeUtf8, fromBase64 } from './bytes.ts'
import { verifyEd25519 } from './ed25519.ts'
import type { People, Role } from './people.ts'
import { sha256Hex } from './sha256.ts'
import { uuidOfDigest } from './uuid.ts'

/** The events that only a person's signature brings about, and the role that the person must have. */
export const DECIDED_AS = {
  RELEASE_APPROVED: 'reviewer',
  DEAD_LETTER_DISCARDED: 'reviewer',
  HANDOFF_APPROVED: 'reviewer',
  APPROVAL_REFUSED: 'reviewer',
  LEGAL_HOLD_SET: 'compliance',
  LEGAL_HOLD_LIFTED: 'compliance',
  ERASURE_REQUESTED: 'compliance',
  ERASURE_COMPLETED: 'compliance',
} as const satisfies Partial<Record<AuditEvent, Role>>

export type DecisionEvent = keyof typeof DECIDED_AS

export const isDecision = (event: unknown): event is DecisionEvent =>
  typeof event === 'string' && Object.hasOwn(DECIDED_AS, event)

/** What a person puts their name to. */
export interface Decision {
  readonly event: DecisionEvent
  readonly taskId: string
  /** Null where it is about the whole task. */
  readonly handoffId: string | null
  readonly person: string
  /** Lower-case hex: SHA-256 of what exactly was decided, see `digestOf`. */
  readonly decided: string
}

/** A person's signature over one decision, as it stands in `act.signed` of a record. */
export interface RecordedSignature {
  /** The first 16 hex digits of SHA-256 over the person's raw public key. */
  readonly keyId: string
  /** RFC 3339 in UTC with milliseconds, by the clock of whoever signed. */
  readonly signedAt: string
  /** Lower-case hex: SHA-256 of the salt and of what was decided. */
  readonly content: string
  /** 64 bytes, in base64. */
  readonly signature: string
}

/** Why a signature does not count. */
export type DecisionFault =
  | 'unsigned'
  | 'unknown_key'
  | 'expired_key'
  | 'other_person'
  | 'role'
  | 'other_content'
  /** It was signed at a time that has not come yet, or too long ago. */
  | 'clock'
  | 'signature'

/** One line for each part; no part can contain a line feed. */
export const statementOf = (
  { event, taskId, handoffId, person }: Omit<Decision, 'decided'>,
  { keyId, signedAt, content }: Omit<RecordedSignature, 'signature'>,
): Uint8Array =>
  encodeUtf8(
    `baton/decision/v1\n${event}\n${taskId}\n${handoffId ?? '-'}\n${person}\n${keyId}\n${signedAt}\n${content}\n`,
  )

export function keyFault(
  { event, person }: Pick<Decision, 'event' | 'person'>,
  { keyId, signedAt }: RecordedSignature,
  people: People,
): DecisionFault | undefined {
  const key = people.get(keyId)
  if (key === undefined) return 'unknown_key'
  if (key.person !== person) return 'other_person'
  if (!key.roles.has(DECIDED_AS[event])) return 'role'
  const isPast = key.untilMs !== undefined && !(Date.parse(signedAt) < key.untilMs)
  return isPast ? 'expired_key' : undefined
}

export function isSignedBy(
  decision: Omit<Decision, 'decided'>,
  signed: RecordedSignature,
  people: People,
): boolean {
  const publicKey = people.get(signed.keyId)?.publicKey
  const signature = fromBase64(signed.signature)
  if (publicKey === undefined || signature === undefined) return false
  return verifyEd25519(publicKey, statementOf(decision, signed), signature)
}

/** The id of the act in the log: the same signature is the same act, however often it is sent. */
export const actIdOf = ({ signature }: Pick<RecordedSignature, 'signature'>): string =>
  uuidOfDigest(sha256Hex(encodeUtf8(`baton/act/v1\n${signature}`)))

const HOUR_MS = 3_600_000

/**
 * How long after the end of its key a decision still counts: it may wait for so long until the log can be reached again, and a release is
 * good for no longer.
 */
const ENDED_MAX_MS = 168 * HOUR_MS

/** The time of signing is whatever the signer says, so a key that ended counts by when its decision came here, or was recorded. */
export function endedFault(
  { keyId }: Pick<RecordedSignature, 'keyId'>,
  people: People,
  atMs: number,
): 'expired_key' | undefined {
  const { untilMs = Infinity } = people.get(keyId) ?? {}
  return untilMs === Infinity || atMs < untilMs + ENDED_MAX_MS ? undefined : 'expired_key'
}

export type Acted = Pick<AuditEntry, 'event' | 'taskId' | 'handoffId' | 'act'>

/** Whoever asked for an erasure signed that, whether a hold defers it or not. */
export const signedAs = (event: AuditEvent): AuditEvent =>
  event === 'ERASURE_DEFERRED' ? 'ERASURE_REQUESTED' : event

/**
 * Why an entry of a person's decision, recorded at `atMs`, does not prove that the person decided it; undefined where it does, and for
 * every other event. What was decided is bound by its salted digest, which those check who hold both.
 */
export function entryFault(entry: Acted, people: People, atMs: number): DecisionFault | undefined {
  const { taskId, act } = entry
  const event = signedAs(entry.event)
  if (!isDecision(event)) return undefined
  if (act?.signed === undefined) return 'unsigned'
  const { signed } = act
  if (act.id !== actIdOf(signed)) return 'signature'
  const handoffId = DECIDED_AS[event] === 'compliance' ? null : entry.handoffId
  const decision = { event, taskId, handoffId, person: act.actor }
  const fault = keyFault(decision, signed, people)
  if (fault !== undefined) return fault
  if (!isSignedBy(decision, signed, people)) return 'signature'
  return endedFault(signed, people, atMs)
}
