// Note keys by C2SP signed-note: a name and a key id say which key signed, and with which algorithm.
import { concatBytes, encodeUtf8, fromBase64, fromHex, toBase64, toHex } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { sha256 } from '../sha256.ts'

/** Ed25519 over the text, and the timestamped Ed25519 cosignature of a witness. */
export const SIGNATURE_TYPES = { ed25519: 0x01, cosignature: 0x04 } as const
export type SignatureType = (typeof SIGNATURE_TYPES)[keyof typeof SIGNATURE_TYPES]

/** Who may have signed. Comes from a policy or from settings, never from what is verified. */
export interface VerifierKey {
  readonly name: string
  /** Eight lower-case hex digits. */
  readonly keyId: string
  readonly type: SignatureType
  /** 32 bytes. */
  readonly publicKey: Uint8Array
}

/** Not empty, no Unicode space, no plus, no control character. */
export const isKeyName = (name: string): boolean =>
  name !== '' && name.isWellFormed() && !/[\s\u0085+\u0000-\u001f]/u.test(name)

const isKnownType = (type: number | undefined): type is SignatureType =>
  type === SIGNATURE_TYPES.ed25519 || type === SIGNATURE_TYPES.cosignature

const keyMaterial = (type: SignatureType, publicKey: Uint8Array): Uint8Array =>
  concatBytes([new Uint8Array([type]), publicKey])

const keyIdOf = (name: string, material: Uint8Array): string =>
  toHex(sha256(concatBytes([encodeUtf8(`${name}\n`), material])).subarray(0, 4))

/** Throws BATON_KEY_INVALID for a bad name or a key that is not 32 bytes. */
export function verifierKey(name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name) || publicKey.length !== 32) {
    throw new LedgerError('BATON_KEY_INVALID', 'a note key needs a name and 32 bytes')
  }
  return { name, type, publicKey, keyId: keyIdOf(name, keyMaterial(type, publicKey)) }
}

/** `<name>+<key id>+<base64(type || public key)>`. */
export const formatVerifierKey = ({ name, keyId, type, publicKey }: VerifierKey): string =>
  `${name}+${keyId}+${toBase64(keyMaterial(type, publicKey))}`

/** Reads what `formatVerifierKey` writes. Throws BATON_KEY_INVALID for any other text. */
export function readVerifierKey(text: string): VerifierKey {
  const [name = '', keyId = '', encoded = ''] = splitKey(text)
  const material = fromBase64(encoded)
  const type = material?.[0]
  const isComplete = fromHex(keyId)?.length === 4 && material?.length === 33
  if (!isComplete || !isKnownType(type)) {
    throw new LedgerError('BATON_KEY_INVALID', 'a verifier key is name+id+base64 of a known type')
  }
  const key = verifierKey(name, type, material.slice(1))
  if (key.keyId === keyId) return key
  throw new LedgerError('BATON_KEY_INVALID', 'the id of the verifier key is not that of its bytes')
}

/**
 * The key material, in base64, of a whole verifier key of an algorithm that is not known here (such as
 * ML-DSA-44); undefined for a known one and for what is no verifier key.
 */
export function unknownKeyMaterial(text: string): string | undefined {
  const [name = '', keyId = '', encoded = ''] = splitKey(text)
  const material = fromBase64(encoded)
  if (!isKeyName(name) || material === undefined || material.length < 2) return undefined
  return isKnownType(material[0]) || keyIdOf(name, material) !== keyId ? undefined : encoded
}

// The base64 may hold a plus, the name and the id may not.
function splitKey(text: string): string[] {
  const first = text.indexOf('+')
  const second = text.indexOf('+', first + 1)
  if (first < 0 || second < 0) return []
  return [text.slice(0, first), text.slice(first + 1, second), text.slice(second + 1)]
}
