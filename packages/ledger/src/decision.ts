// What a person decides, signed by that person (Ed25519). The signature covers the event, what it is about, who decides and
// a salted digest of what exactly was decided; it stands in the record, so that whoever reads the log can check it too.
import { createPublicKey, hash, randomBytes, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readPrivateKey } from './batch-signature.ts'
import { toBase64 } from './bytes.ts'
import { personKeyId } from './people.ts'
import type { People } from './people.ts'
import { isDecision, isSignedBy, keyFault, statementOf } from './recorded-decision.ts'
import type { Decision, DecisionFault, RecordedSignature } from './recorded-decision.ts'

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
