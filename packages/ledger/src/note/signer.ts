// Signs notes as a log, and cosigns them as a witness; the private key never leaves the object.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { concatBytes, encodeUtf8 } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { SIGNATURE_TYPES, verifierKey } from './key.ts'
import type { SignatureType, VerifierKey } from './key.ts'
import { formatNote } from './note.ts'
import type { NoteSignature } from './note.ts'
import { cosignedMessage, timestampBytes } from './signature.ts'

/** Signs as a log (type 0x01). */
export interface NoteSigner {
  readonly key: VerifierKey
  sign(text: string): NoteSignature
}

/** Signs as a witness (type 0x04): at `timestamp`, POSIX seconds, this was the newest checkpoint. */
export interface Cosigner {
  readonly key: VerifierKey
  cosign(text: string, timestamp: number): NoteSignature
}

interface Identity {
  /** A schemeless URL; for a log its origin. */
  readonly name: string
  /** Ed25519, PKCS #8 DER in base64, one line. */
  readonly pkcs8: string
}

/** Throws BATON_KEY_INVALID for a bad name or a key that is not Ed25519. */
export function createNoteSigner(identity: Identity): NoteSigner {
  const { key, privateKey } = readIdentity(identity, SIGNATURE_TYPES.ed25519)
  const { name, keyId } = key
  return {
    key,
    sign: (text) => ({ name, keyId, bytes: sign(null, encodeUtf8(text), privateKey) }),
  }
}

/** Throws BATON_KEY_INVALID for a bad name or a key that is not Ed25519. */
export function createCosigner(identity: Identity): Cosigner {
  const { key, privateKey } = readIdentity(identity, SIGNATURE_TYPES.cosignature)
  const { name, keyId } = key
  return {
    key,
    cosign(text, timestamp) {
      const signature = sign(null, cosignedMessage(text, timestamp), privateKey)
      return { name, keyId, bytes: concatBytes([timestampBytes(timestamp), signature]) }
    },
  }
}

/** The note over `text`, signed by each signer in turn. Throws BATON_NOTE_INVALID. */
export const signNote = (text: string, signers: readonly NoteSigner[]): string =>
  formatNote({ text, signatures: signers.map((signer) => signer.sign(text)) })

function readIdentity(
  { name, pkcs8 }: Identity,
  type: SignatureType,
): { key: VerifierKey; privateKey: KeyObject } {
  const privateKey = readPrivateKey(pkcs8)
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  return { key: verifierKey(name, type, Uint8Array.from(spki.subarray(-32))), privateKey }
}

function readPrivateKey(pkcs8: string): KeyObject {
  let key: KeyObject | undefined
  try {
    key = createPrivateKey({ key: Buffer.from(pkcs8, 'base64'), format: 'der', type: 'pkcs8' })
  } catch {
    key = undefined
  }
  if (key?.asymmetricKeyType === 'ed25519') return key
  throw new LedgerError('BATON_KEY_INVALID', 'the key is not Ed25519, PKCS #8 DER in base64')
}
