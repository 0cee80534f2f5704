// What a person decides, signed by that person (Ed25519). The signature covers the event, what it is about, who decides and
// a salted digest of what exactly was decided; it stands in the record, so that whoever reads the log can check it too.
import { createPublicKey, hash, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { AuditEntry } from './audit-entry.ts'
import type { AuditEvent } from './audit-event.ts'
import { readPrivateKey } from './batch-signature.ts'
import { encodeUtf8, fromBase64, toBase64 } from './bytes.ts'
import { verifyEd25519 } from './ed25519.ts'
import { personKeyId } from './people.ts'
import type { People, Role } from './people.ts'
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

/**
 * The same with its salt, which goes when what was decided about is erased: what stands in the log for ever then tells
 * nothing of it.
 */
export interface DecisionSignature extends RecordedSignature {
  /** 16 random bytes in lower-case hex. */
  readonly salt: string
}

/** Whoever signs: the name of the public key, and the key. */
export interface DecisionSigner {
  readonly keyId: string
  readonly privateKey: KeyObject
}

/** Reads a person's private key: Ed25519, PKCS #8 DER in base64. Throws BATON_KEY_INVALID for anything else. */
export function readDecisionSigner(
  pkcs8: string,
): DecisionSigner & { readonly publicKey: Uint8Array } {
  const privateKey = readPrivateKey(pkcs8)
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const publicKey = new Uint8Array(der.subarray(-32))
  return { keyId: personKeyId(publicKey), publicKey, privateKey }
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
const statementOf = (
  { event, taskId, handoffId, person }: Omit<Decision, 'decided'>,
  { keyId, signedAt, content }: Omit<RecordedSignature, 'signature'>,
): Uint8Array =>
  encodeUtf8(
    `baton/decision/v1\n${event}\n${taskId}\n${handoffId ?? '-'}\n${person}\n${keyId}\n${signedAt}\n${content}\n`,
  )

/** The digest of what exactly was decided: each part on a line of its own; a missing part is an empty line. */
export const digestOf = (...parts: readonly (string | number | null | undefined)[]): string =>
  hash('sha256', `baton/decided/v1\n${parts.map((part) => `${part ?? ''}\n`).join('')}`)

const contentOf = (salt: string, decided: string): string =>
  hash('sha256', `baton/content/v1\n${salt}\n${decided}\n`)

const SALT_BYTES = 16

/** Signs as of `now`. */
export function signDecision(
  decision: Decision,
  { keyId, privateKey }: DecisionSigner,
  now: Date,
): DecisionSignature {
  const salt = randomBytes(SALT_BYTES).toString('hex')
  const content = contentOf(salt, decision.decided)
  const said = { keyId, signedAt: now.toISOString(), content }
  const signature = sign(null, statementOf(decision, said), privateKey)
  return { ...said, salt, signature: toBase64(signature) }
}

/** Undefined where the person, in the role that it takes and with a key that is believed, has decided exactly this. */
export function decisionFault(
  decision: Decision,
  signed: DecisionSignature | undefined,
  people: People,
): DecisionFault | undefined {
  if (signed === undefined) return 'unsigned'
  const fault = keyFault(decision, signed, people)
  if (fault !== undefined) return fault
  if (signed.content !== contentOf(signed.salt, decision.decided)) return 'other_content'
  return isSignedBy(decision, signed, people) ? undefined : 'signature'
}

function keyFault(
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

/** How far the clock of somebody who signs may be from ours, and how long what they signed may be under way. */
const UNDER_WAY_MAX_MS = 300_000

/**
 * Why a signature that counts is not taken for a decision that is made now: it says itself when it was made, so whoever has found a
 * key that has ended could say that it was made before.
 */
export function arrivalFault(
  { keyId, signedAt }: RecordedSignature,
  people: People,
  now: Date,
): 'clock' | 'expired_key' | undefined {
  const nowMs = now.getTime()
  if (Date.parse(signedAt) > nowMs + UNDER_WAY_MAX_MS) return 'clock'
  const { untilMs = Infinity } = people.get(keyId) ?? {}
  return nowMs - UNDER_WAY_MAX_MS < untilMs ? undefined : 'expired_key'
}

function isSignedBy(
  decision: Omit<Decision, 'decided'>,
  signed: RecordedSignature,
  people: People,
): boolean {
  const publicKey = people.get(signed.keyId)?.publicKey
  const signature = fromBase64(signed.signature)
  if (publicKey === undefined || signature === undefined) return false
  return verifyEd25519(publicKey, statementOf(decision, signed), signature)
}

/** As one line of a header: the parts with a space between each. */
export const formatSigned = ({ keyId, signedAt, salt, content, signature }: DecisionSignature) =>
  `${keyId} ${signedAt} ${salt} ${content} ${signature}`

const LINE =
  /^(?<keyId>[0-9a-f]{16}) (?<signedAt>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?<salt>[0-9a-f]{32}) (?<content>[0-9a-f]{64}) (?<signature>[A-Za-z0-9+/]{86}==)$/

/** What `formatSigned` wrote; undefined for any other text. */
export function parseSigned(text: string): DecisionSignature | undefined {
  const groups = LINE.exec(text)?.groups
  if (groups === undefined) return undefined
  const { keyId = '', signedAt = '', salt = '', content = '', signature = '' } = groups
  return Number.isNaN(Date.parse(signedAt))
    ? undefined
    : { keyId, signedAt, salt, content, signature }
}

/** What is to be signed, as one line of a header: event, task, handoff or -, person, and the digest of what is decided. */
export const formatNeeded = ({ event, taskId, handoffId, person, decided }: Decision): string =>
  `${event} ${taskId} ${handoffId ?? '-'} ${person} ${decided}`

const NEEDED =
  /^(?<event>[A-Z_]+) (?<taskId>[0-9a-f-]{36}) (?<handoffId>[0-9a-f-]{36}|-) (?<person>[!-~]{1,256}) (?<decided>[0-9a-f]{64})$/

/** What `formatNeeded` wrote; undefined for any other text, so that no part of what is signed can stand for two. */
export function parseNeeded(text: string): Decision | undefined {
  const groups = NEEDED.exec(text)?.groups
  const { event, taskId = '', handoffId = '', person = '', decided = '' } = groups ?? {}
  if (groups === undefined || !isDecision(event)) return undefined
  return { event, taskId, handoffId: handoffId === '-' ? null : handoffId, person, decided }
}

/** What goes on record of a signature: all but its salt. */
export const recorded = ({
  keyId,
  signedAt,
  content,
  signature,
}: DecisionSignature): RecordedSignature => ({ keyId, signedAt, content, signature })

/** The id of the act in the log: the same signature is the same act, however often it is sent. */
export const actIdOf = ({ signature }: Pick<DecisionSignature, 'signature'>): string =>
  uuidOfDigest(hash('sha256', `baton/act/v1\n${signature}`))

type Acted = Pick<AuditEntry, 'event' | 'taskId' | 'handoffId' | 'act'>

/** Whoever asked for an erasure signed that, whether a hold defers it or not. */
const signedAs = (event: AuditEvent): AuditEvent =>
  event === 'ERASURE_DEFERRED' ? 'ERASURE_REQUESTED' : event

/**
 * Why an entry of a person's decision does not prove that the person decided it; undefined where it does, and for every
 * other event. What was decided is bound by its salted digest, which those check who hold both.
 */
export function entryFault(entry: Acted, people: People): DecisionFault | undefined {
  const { taskId, act } = entry
  const event = signedAs(entry.event)
  if (!isDecision(event)) return undefined
  if (act?.signed === undefined) return 'unsigned'
  const { signed } = act
  if (act.id !== actIdOf(signed)) return 'signature'
  const handoffId = DECIDED_AS[event] === 'compliance' ? null : entry.handoffId
  const decision = { event, taskId, handoffId, person: act.actor }
  const fault = keyFault(decision, signed, people)
  return fault ?? (isSignedBy(decision, signed, people) ? undefined : 'signature')
}
