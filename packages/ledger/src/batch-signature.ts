// The append service signs every batch, so that nobody can slip records in by SQL.
import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { batchKeyIdOf, batchStatementBytes } from './batch-statement.ts'
import type { BatchStatement } from './batch-statement.ts'
import { LedgerError } from './ledger-error.ts'

export interface BatchSigner {
  /** Names the public key: the first 16 hex digits of SHA-256 over its 32 raw bytes. */
  readonly keyId: string
  readonly publicKey: KeyObject
  /** The 64-byte Ed25519 signature over the statement. */
  sign(statement: BatchStatement): Buffer
}

/** The name of an Ed25519 public key in records and signatures. */
export function batchKeyId(publicKey: KeyObject): string {
  return batchKeyIdOf(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32))
}

/** Reads an Ed25519 private key: PKCS #8 DER in base64, one line. Throws BATON_KEY_INVALID for anything else. */
export function readPrivateKey(pkcs8: string): KeyObject {
  const der = Buffer.from(pkcs8, 'base64')
  return readKey(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
}

/** Throws as `readPrivateKey`. */
export function createBatchSigner(pkcs8: string): BatchSigner {
  const privateKey = readPrivateKey(pkcs8)
  const publicKey = createPublicKey(privateKey)
  return {
    keyId: batchKeyId(publicKey),
    publicKey,
    sign: (statement) => sign(null, batchStatementBytes(statement), privateKey),
  }
}

/** Reads an Ed25519 public key: SPKI DER in base64. Throws BATON_KEY_INVALID for anything else. */
export function readBatchPublicKey(spki: string): KeyObject {
  const der = Buffer.from(spki, 'base64')
  return readKey(() => createPublicKey({ key: der, format: 'der', type: 'spki' }))
}

export function verifyBatch(
  statement: BatchStatement,
  signature: Uint8Array,
  publicKey: KeyObject,
): boolean {
  return verify(null, batchStatementBytes(statement), publicKey, signature)
}

function readKey(read: () => KeyObject): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch {
    throw new LedgerError('BATON_KEY_INVALID', 'the key is not DER in base64')
  }
  if (key.asymmetricKeyType === 'ed25519') return key
  throw new LedgerError('BATON_KEY_INVALID', 'the key is not an Ed25519 key')
}
