// An exemption from one rule of the scanner: its terms, its name, and the signatures of people under it. Whoever has the file in which it
// stands can check by its name in a record that it is this one, and by its signatures who allowed it.
import { hash, sign } from 'node:crypto'
import { encodeUtf8, fromBase64, toBase64 } from './bytes.ts'
import type { DecisionSigner } from './decision.ts'
import { verifyEd25519 } from './ed25519.ts'
import type { People } from './people.ts'
import type { DecisionFault } from './recorded-decision.ts'
import { DEFAULT_TENANT, tenantOfOperator } from './tenant-names.ts'
import { uuidOfDigest } from './uuid.ts'

/** No text of it holds a control character, so that no part of what is signed can stand for two. */
export interface ExemptionTerms {
  /** The agent that sends, and the type of the agent that executes. */
  readonly from: string
  readonly to: string
  /** The rule whose findings count for nothing there. */
  readonly rule: string
  /** RFC 6901: this field or, where `below`, everything in it. */
  readonly pointer: string
  readonly below: boolean
  /** Whose handoffs; everybody's where it is null. */
  readonly tenant: string | null
  /** RFC 3339 in UTC with milliseconds: from then on it counts for nothing. */
  readonly until: string
  /** Why, in words of whoever asks for it. */
  readonly reason: string
}

export interface ExemptionSignature {
  /** The first 16 hex digits of SHA-256 over the person's raw public key. */
  readonly keyId: string
  /** RFC 3339 in UTC with milliseconds, by the clock of whoever signed. */
  readonly signedAt: string
  /** Ed25519, in base64. */
  readonly signature: string
}

const termsText = ({ from, to, rule, pointer, below, tenant, until, reason }: ExemptionTerms) =>
  `baton/exemption/v1\n${from}\n${to}\n${rule}\n${below ? 'below' : 'at'} ${pointer}\n${tenant ?? '-'}\n${until}\n${reason}\n`

/** The same terms have the same name, and no others do: a UUID of version 8. */
export const exemptionId = (terms: ExemptionTerms): string =>
  uuidOfDigest(hash('sha256', termsText(terms)))

type Signing = Omit<ExemptionSignature, 'signature'> & { readonly person: string }

const statementOf = (terms: ExemptionTerms, { person, keyId, signedAt }: Signing): Uint8Array =>
  encodeUtf8(`${termsText(terms)}${person}\n${keyId}\n${signedAt}\n`)

/** Signs as of `now`, in one line. */
export function signExemption(
  terms: ExemptionTerms,
  person: string,
  { signer, now }: { readonly signer: DecisionSigner; readonly now: Date },
): string {
  const said = { person, keyId: signer.keyId, signedAt: now.toISOString() }
  const signature = sign(null, statementOf(terms, said), signer.privateKey)
  return `${said.keyId} ${said.signedAt} ${toBase64(signature)}`
}

const LINE =
  /^(?<keyId>[0-9a-f]{16}) (?<signedAt>[1-9]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z) (?<signature>[A-Za-z0-9+/]{86}==)$/

/** What `signExemption` wrote; undefined for any other text. */
export function readExemptionSignature(line: string): ExemptionSignature | undefined {
  const groups = LINE.exec(line)?.groups
  if (groups === undefined) return undefined
  const { keyId = '', signedAt = '', signature = '' } = groups
  return Number.isNaN(Date.parse(signedAt)) ? undefined : { keyId, signedAt, signature }
}

/** Undefined where a reviewer who is known here signed exactly these terms, and may speak for the tenant that they name. */
export function exemptionFault(
  terms: ExemptionTerms,
  { keyId, signedAt, signature }: ExemptionSignature,
  people: People,
): DecisionFault | 'tenant' | undefined {
  const key = people.get(keyId)
  if (key === undefined) return 'unknown_key'
  const { person, roles, publicKey, untilMs = Infinity } = key
  if (!roles.has('reviewer')) return 'role'
  if (!(Date.parse(signedAt) < untilMs)) return 'expired_key'
  const tenant = tenantOfOperator(person)
  if (tenant !== DEFAULT_TENANT && tenant !== terms.tenant) return 'tenant'
  const statement = statementOf(terms, { person, keyId, signedAt })
  const bytes = fromBase64(signature)
  return bytes !== undefined && verifyEd25519(publicKey, statement, bytes) ? undefined : 'signature'
}
