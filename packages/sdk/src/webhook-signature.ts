// Signs what is pushed, as Standard Webhooks 1.0 says: whoever has the secret knows who sent it, when, and that nothing was changed.
import { createHmac } from 'node:crypto'
import { permanent } from '@baton/runtime'

const SECRET = /^whsec_(?<key>[A-Za-z0-9+/]+={0,2})$/
/** What the specification asks of a secret. */
const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** Reads secrets in the form whsec_<base64>; throws BATON_PUSH_SECRET_INVALID, which never quotes one. */
export function readPushSecrets(secrets: readonly string[]): readonly Uint8Array[] {
  const keys = secrets.map((secret) => {
    const text = SECRET.exec(secret)?.groups?.['key'] ?? ''
    const key = Buffer.from(text, 'base64')
    const isKey = key.length >= KEY_BYTES_MIN && key.length <= KEY_BYTES_MAX
    return isKey && key.toString('base64') === text ? key : undefined
  })
  const valid = keys.filter((key) => key !== undefined)
  if (valid.length === secrets.length && valid.length > 0) return valid
  throw permanent(
    'BATON_PUSH_SECRET_INVALID',
    'a push secret is whsec_ and base64 of 24 to 64 bytes',
    {
      fix: 'Make one: echo "whsec_$(openssl rand -base64 32)". Several stand beside each other while one replaces another.',
    },
  )
}

interface Signed {
  readonly id: string
  /** Seconds. */
  readonly timestamp: number
  readonly body: string
}

/** One signature for each secret: whoever has any of them accepts it. */
export function webhookHeaders(
  secrets: readonly Uint8Array[],
  { id, timestamp, body }: Signed,
): Readonly<Record<string, string>> {
  const sign = (secret: Uint8Array): string =>
    createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': secrets.map((secret) => `v1,${sign(secret)}`).join(' '),
  }
}
