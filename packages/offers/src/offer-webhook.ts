// Tells an HTTP endpoint what changed, signed by Standard Webhooks.
import { createHttpClient } from '@baton/http/client'
import { createWebhookSigner } from '@baton/http/webhook'
import { NO_TLS } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { OfferChange } from './watch-offers.ts'

interface WebhookOptions {
  readonly url: string
  /** `whsec_` and 24 to 64 bytes in base64. */
  readonly secret: string
  readonly tls?: Tls
}

const TIMEOUT_MS = 15_000

/**
 * Posts `{ type: "handoff.<status>", timestamp, data }` with the handoff as data; resolves when the endpoint has taken it.
 * `webhook-id` is the same on every try. Throws BATON_WEBHOOK_UNAVAILABLE and BATON_WEBHOOK_SECRET_INVALID.
 */
export function createOfferWebhook({ url, secret, tls = NO_TLS }: WebhookOptions) {
  const { pathname, search, origin } = new URL(url)
  const signer = createWebhookSigner(secret)
  const client = createHttpClient({
    url: origin,
    name: `the webhook at ${origin}`,
    tls: { tls, setting: '--webhook', whose: 'others' },
    timeoutMs: TIMEOUT_MS,
    unavailable: {
      code: 'BATON_WEBHOOK_UNAVAILABLE',
      fix: 'Check that the endpoint runs and answers 2xx; it is told again.',
    },
  })
  return {
    async tell({ id, handoff }: OfferChange): Promise<void> {
      const { status, updated_at: timestamp } = handoff
      const body = JSON.stringify({ type: `handoff.${status}`, timestamp, data: handoff })
      const headers = signer.headersOf({ id, at: new Date(), body })
      await client.ask(`${pathname}${search}`, { body, headers })
    },
    close: (): void => client.close(),
  }
}
