// What wraps the keys of data subjects: a key of the settings, or one that never leaves a key service.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { permanent } from '@baton/runtime'

export interface WrappingKey {
  /** Names it in records and beside what it wrapped; says nothing about the key. */
  readonly id: string
  /** Opens only by the same key and with the same context, which is not secret. */
  wrap(key: Buffer, context: string): Promise<Buffer>
  /** Throws BATON_VAULT_KEY_UNREADABLE for what this key did not wrap with this context. */
  unwrap(wrapped: Buffer, context: string): Promise<Buffer>
}

const KEY_BYTES = 32
const MAKE = 'Make one with `openssl rand -base64 32`'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const ID_DIGITS = 16

/** Wraps with AES-256-GCM under 32 bytes in base64. Throws BATON_KEY_INVALID for anything else. */
export function createLocalWrappingKey(base64: string): WrappingKey {
  const secret = readVaultKey('wrapping', base64)
  const id = idOfWrappingKey(secret)
  return {
    id,
    async wrap(key, context) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES })
      cipher.setAAD(Buffer.from(context))
      return Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()])
    },
    async unwrap(wrapped, context) {
      const end = wrapped.length - TAG_BYTES
      if (end < NONCE_BYTES) throw unreadable(id)
      const nonce = wrapped.subarray(0, NONCE_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', secret, nonce, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(context))
      decipher.setAuthTag(wrapped.subarray(end))
      try {
        return Buffer.concat([
          decipher.update(wrapped.subarray(NONCE_BYTES, end)),
          decipher.final(),
        ])
      } catch (cause) {
        throw unreadable(id, cause)
      }
    },
  }
}

/** Throws BATON_KEY_INVALID when a key is not 32 bytes of base64. */
export function readVaultKey(name: string, base64: string): Buffer {
  const key = Buffer.from(base64, 'base64')
  if (key.length === KEY_BYTES && key.toString('base64') === base64) return key
  throw permanent('BATON_KEY_INVALID', `the ${name} key is not 32 bytes of base64`, {
    fix: name === 'wrapping' ? `${MAKE}, or give the ARN of a key of AWS KMS.` : `${MAKE}.`,
  })
}

export const idOfWrappingKey = (of: Buffer): string =>
  createHash('sha256').update(of).digest('hex').slice(0, ID_DIGITS)

export const unreadable = (id: string, cause?: unknown) =>
  permanent('BATON_VAULT_KEY_UNREADABLE', `a subject key does not open with wrapping key ${id}`, {
    cause,
    fix: 'Give the auditor the wrapping key that wrapped it.',
  })
