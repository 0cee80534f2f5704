// The append service signs every batch, so that nobody can slip records in by SQL.
import { createPrivateKey, createPublicKey, createHash, sign, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { LedgerError } from './ledger-error.ts'

/** One contiguous run of a chain, appended together. `lastHash` is lower-case hex. */
export interface BatchStatement {
  readonly origin: string
  readonly firstSeq: number
  readonly lastSeq: number
  readonly lastHash: string
}

export interface BatchSigner {
  /** Names the public key: the first 16 hex digits of SHA-256 over its 32 raw bytes. */
  readonly keyId: string
  readonly publicKey: KeyObject
  /** The 64-byte Ed25519 signature over the statement. */
  sign(statement: BatchStatement): Buffer
}

const statementBytes = ({ origin, firstSeq, lastSeq, lastHash }: BatchStatement): Buffer =>
  Buffer.from(`baton/batch/v1\n${origin}\n${firstSeq}\n${lastSeq}\n${lastHash}\n`)

/** The name of an Ed25519 public key in records and signatures. */
export function batchKeyId(publicKey: KeyObject): string {
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
  return createHash('sha256').update(raw).digest('hex').slice(0, 16)
}

/**
 * Reads an Ed25519 private key: PKCS #8 DER in base64, one line. Throws BATON_KEY_INVALID for
 * anything else.
 */
export function createBatchSigner(pkcs8: string): BatchSigner {
  const der = Buffer.from(pkcs8, 'base64')
  const privateKey = readKey(() => createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  const publicKey = createPublicKey(privateKey)
  return {
    keyId: batchKeyId(publicKey),
    publicKey,
    sign: (statement) => sign(null, statementBytes(statement), privateKey),
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
  return verify(null, statementBytes(statement), publicKey, signature)
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
