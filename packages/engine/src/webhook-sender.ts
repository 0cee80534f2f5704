// Sends one message to an address that somebody named: signed by Standard Webhooks, only to where it may go, and bounded whatever answers.
import { createEndpoint } from '@baton/http/endpoint'
import type { Endpoint } from '@baton/http/endpoint'
import { createWebhookSigner } from '@baton/http/webhook'
import { BatonError, codeOf } from '@baton/runtime'
import type { Tls } from '@baton/runtime'

export interface WebhookTarget {
  readonly url: string
  /** Allows addresses in one's own network, and plain http there. */
  readonly allowPrivate: boolean
}

export interface WebhookSending {
  readonly target: WebhookTarget
  /** The same for every try. */
  readonly id: string
  readonly body: string
  readonly contentType: string
  /** Beside those of the signature. */
  readonly headers?: Readonly<Record<string, string>>
  /** Signed with each, `whsec_` and base64; with none, it is not signed. */
  readonly secrets: readonly string[]
}

export type Sent =
  | { readonly ok: true }
  | {
      readonly ok: false
      /** HTTP_ and the status, or why there was none. */
      readonly code: string
      /** The consumer refused this one; else it may be away altogether. */
      readonly isRefused: boolean
      /** It is gone for good, and says so. */
      readonly isGone: boolean
      readonly retryAfterMs: number
    }

export interface WebhookSender {
  /** Never throws but for `signal`. */
  send(sending: WebhookSending, signal: AbortSignal): Promise<Sent>
  /** Ends its connections. */
  close(): void
}

interface SenderOptions {
  readonly tls?: Tls | undefined
  /** How long one try may take in all. */
  readonly callMs: number
}

const CONNECTIONS_PER_TARGET_MAX = 4
/** Addresses whose connections are kept; the one that was used longest ago makes room. */
const TARGETS_MAX = 128

export function createWebhookSender({ tls, callMs }: SenderOptions): WebhookSender {
  const endpoints = new Map<string, Endpoint>()

  function endpointOf({ url, allowPrivate }: WebhookTarget): Endpoint {
    const key = `${allowPrivate}${url}`
    const known =
      endpoints.get(key) ??
      createEndpoint({
        url,
        allowPrivate,
        tls,
        answerBytesMax: 0,
        connectionsMax: CONNECTIONS_PER_TARGET_MAX,
      })
    endpoints.delete(key)
    endpoints.set(key, known)
    const [oldest] = endpoints.keys()
    if (endpoints.size > TARGETS_MAX && oldest !== undefined) {
      endpoints.get(oldest)?.close()
      endpoints.delete(oldest)
    }
    return known
  }

  return {
    async send(sending, signal) {
      const { target, body, contentType } = sending
      try {
        const headers = { ...sending.headers, ...signatureOf(sending), 'content-type': contentType }
        const answer = await endpointOf(target).post({ body, headers, signal, timeoutMs: callMs })
        const { status, retryAfterMs = 0 } = answer
        if (status >= 200 && status <= 299) return { ok: true }
        const isRefused = status >= 400 && status <= 499 && status !== 408 && status !== 429
        return {
          ok: false,
          code: `HTTP_${status}`,
          isRefused,
          isGone: status === 410,
          retryAfterMs,
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof BatonError)) throw error
        return { ok: false, code: codeOf(error), isRefused: false, isGone: false, retryAfterMs: 0 }
      }
    },
    close() {
      for (const endpoint of endpoints.values()) endpoint.close()
      endpoints.clear()
    },
  }
}

/** With one signature for each secret: whoever has any of them accepts it. */
function signatureOf({ id, body, secrets }: WebhookSending): Readonly<Record<string, string>> {
  if (secrets.length === 0) return {}
  const at = new Date()
  const all = secrets.map((secret) => createWebhookSigner(secret).headersOf({ id, at, body }))
  const signature = all.map((headers) => headers['webhook-signature']).join(' ')
  return { ...all[0], 'webhook-signature': signature }
}

const FIRST_MS = 5_000
const CAP_MS = 7_200_000

/** The wait after so many tries, from 1: it doubles from five seconds to two hours, give or take a fifth. */
export const nextTryMs = (tries: number, random: number): number =>
  Math.round(Math.min(CAP_MS, FIRST_MS * 2 ** Math.min(tries - 1, 30)) * (0.8 + random * 0.4))
