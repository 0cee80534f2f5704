// Secrets that sign what is sent have to be known again: in the database they stand encrypted with a key that stands in no database, each
// bound to the subscription that it is of.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { permanent } from '@baton/runtime'

export interface EventSecrets {
  encrypt(secret: string, subscriptionId: string): Buffer
  /** Throws BATON_EVENT_SECRET_UNREADABLE where none of the keys has encrypted it, or for another subscription. */
  decrypt(encrypted: Uint8Array, subscriptionId: string): string
}

const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Encrypts with the first of these keys, comma-separated, and decrypts with any, so that one can replace another. */
export function createEventSecrets(keys: string): EventSecrets {
  const derived = keys
    .split(',')
    .map((key) => Buffer.from(hkdfSync('sha256', key.trim(), '', 'baton event secrets', 32)))
  const [newest] = derived
  if (newest === undefined) throw new TypeError('there is no key')
  return {
    encrypt(secret, subscriptionId) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', newest, nonce).setAAD(
        Buffer.from(subscriptionId),
      )
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), text])
    },
    decrypt(encrypted, subscriptionId) {
      for (const key of derived) {
        const secret = decryptWith(key, encrypted, subscriptionId)
        if (secret !== undefined) return secret
      }
      throw UNREADABLE
    },
  }
}

function decryptWith(
  key: Buffer,
  encrypted: Uint8Array,
  subscriptionId: string,
): string | undefined {
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, encrypted.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(subscriptionId))
      .setAuthTag(encrypted.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
    const text = decipher.update(encrypted.subarray(NONCE_BYTES + TAG_BYTES))
    return Buffer.concat([text, decipher.final()]).toString('utf8')
  } catch {
    return undefined
  }
}

const UNREADABLE = permanent(
  'BATON_EVENT_SECRET_UNREADABLE',
  'the secret of a subscription was encrypted with another key',
  {
    fix: 'Add the key of before to BATON_EVENT_SECRETS_KEY, behind a comma, or rotate the secret.',
  },
)

/** A fresh secret, as Standard Webhooks has them. */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`
