// A message to somebody's HTTP endpoint, signed by Standard Webhooks, so that its reader knows who sent it and that it is no repeat.
import { Webhook } from 'standardwebhooks'
import { permanent } from '@baton/runtime'

interface WebhookMessage {
  /** The same for every try: readers drop what they have seen. */
  readonly id: string
  readonly at: Date
  /** The exact text of the body. */
  readonly body: string
}

/** Signs with one secret. */
export interface WebhookSigner {
  /** The headers that a message travels with. */
  headersOf(message: WebhookMessage): Readonly<Record<string, string>>
}

const KEY_BYTES_MIN = 24
const KEY_BYTES_MAX = 64

/** `secret` is `whsec_` and 24 to 64 bytes in base64. Throws BATON_WEBHOOK_SECRET_INVALID. */
export function createWebhookSigner(secret: string): WebhookSigner {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  if (key.byteLength < KEY_BYTES_MIN || key.byteLength > KEY_BYTES_MAX) {
    throw permanent('BATON_WEBHOOK_SECRET_INVALID', 'the secret of a webhook cannot be used', {
      fix: `Give whsec_ and ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX} random bytes in base64.`,
    })
  }
  const webhook = new Webhook(key.toString('base64'))
  return {
    headersOf: ({ id, at, body }) => ({
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': webhook.sign(id, at, body),
    }),
  }
}
