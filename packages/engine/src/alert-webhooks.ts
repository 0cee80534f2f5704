// Tells webhooks what becomes of alerts: at least once and under one id for each change, in order for each alert, and one
// webhook that is away holds back no other. Kept in Postgres, sent by whichever process claims it.
import { createEndpoint } from '@baton/http/endpoint'
import type { Endpoint } from '@baton/http/endpoint'
import { createWebhookSigner } from '@baton/http/webhook'
import type { WebhookSigner } from '@baton/http/webhook'
import { BatonError, codeOf, every } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import {
  announceAlertWebhooks,
  claimAlertDeliveries,
  closeAlertDelivery,
  forgetAlertDeliveries,
  planAlertDeliveries,
  postponeAlertDelivery,
} from '@baton/store'
import type { AlertDelivery, Database } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { alertMessage } from './decide/alert-message.ts'

export interface AlertWebhook {
  readonly name: string
  /** https, unless `allowPrivate`. */
  readonly url: string
  /** Each `whsec_` and base64: signed with all of them, so that one can replace another. */
  readonly secrets: readonly string[]
  /** Allows addresses in one's own network, and plain http there. */
  readonly allowPrivate?: boolean
}

export interface AlertWebhooks {
  readonly webhooks: readonly AlertWebhook[]
  /** The address of the folder of runbooks. */
  readonly runbooks: string
}

export interface DeliveryTimes {
  readonly lookMs: number
  readonly callMs: number
  /** The wait after the first attempt; it doubles up to `capMs`. */
  readonly baseMs: number
  readonly capMs: number
  /** How long a change is tried at all. */
  readonly endMs: number
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const TIMES: DeliveryTimes = {
  lookMs: 1_000,
  callMs: 10_000,
  baseMs: 5_000,
  capMs: 15 * MINUTE_MS,
  endMs: DAY_MS,
}
const AT_ONCE = 4
/** A lease is so much longer than a call. */
const LEASE_SPARE_MS = 20_000

interface DeliveryParts {
  readonly db: Database
  readonly to: AlertWebhooks
  readonly times?: Partial<DeliveryTimes>
  /** How webhooks in one's own network are spoken to. */
  readonly tls?: Tls | undefined
  readonly metrics: Pick<Metrics, 'alertDeliveriesTotal'>
  readonly logger: Logger
}

/** Nothing is sent before it has started. Throws BATON_ADDRESS_REFUSED, BATON_WEBHOOK_SECRET_INVALID. */
export function createAlertWebhooks(parts: DeliveryParts): Service {
  const { db, to, logger } = parts
  const times = { ...TIMES, ...parts.times }
  const names = to.webhooks.map(({ name }) => name)
  const unread = (error: unknown) =>
    logger.warn({ event: 'alerts.deliveries_unread', code: codeOf(error) })
  const plans = every({
    name: 'alert webhooks',
    everyMs: times.lookMs,
    run: () => planAlertDeliveries(db, names),
    failed: unread,
  })
  const keeps = every({
    name: 'alert webhooks of this process',
    everyMs: MINUTE_MS,
    async run() {
      await announceAlertWebhooks(db, names)
      await forgetAlertDeliveries(db)
    },
    failed: unread,
  })
  const sends = to.webhooks.map((webhook) => createSends({ ...parts, times, webhook }))
  const all = [keeps, plans, ...sends]
  return {
    name: plans.name,
    async start() {
      for (const one of all) await one.start()
    },
    stop: async () => void (await Promise.all(all.map((one) => one.stop()))),
  }
}

interface SendParts extends DeliveryParts {
  readonly times: DeliveryTimes
  readonly webhook: AlertWebhook
}

interface Way {
  readonly endpoint: Endpoint
  readonly signers: readonly WebhookSigner[]
}

function createSends(parts: SendParts): Service {
  const { db, times, webhook, logger } = parts
  const way = openWay(webhook, parts.tls)
  const claim = {
    webhook: webhook.name,
    limit: AT_ONCE,
    leaseMs: times.callMs + LEASE_SPARE_MS,
  }
  const sends = every({
    name: `alert webhook ${webhook.name}`,
    everyMs: times.lookMs,
    async run(signal) {
      const claimed = await claimAlertDeliveries(db, claim)
      await Promise.all(claimed.map((one) => deliver(parts, way, one, signal)))
      return claimed.length === AT_ONCE ? 0 : times.lookMs
    },
    failed: (error) => logger.warn({ event: 'alerts.deliveries_unread', code: codeOf(error) }),
  })
  return {
    name: sends.name,
    start: () => sends.start(),
    async stop() {
      await sends.stop()
      way.endpoint.close()
    },
  }
}

/** Throws what is wrong with the address or a secret, with the name of the webhook. */
function openWay(
  { name, url, allowPrivate = false, secrets }: AlertWebhook,
  tls: Tls | undefined,
): Way {
  try {
    return {
      signers: secrets.map(createWebhookSigner),
      endpoint: createEndpoint({
        url,
        allowPrivate,
        tls,
        answerBytesMax: 65_536,
        connectionsMax: AT_ONCE,
      }),
    }
  } catch (error) {
    if (!(error instanceof BatonError)) throw error
    const { kind, code, message, fix } = error
    const context = fix === undefined ? {} : { fix }
    throw new BatonError(kind, code, `the webhook ${name}: ${message}`, context)
  }
}

async function deliver(
  { db, to, times, metrics, logger }: SendParts,
  way: Way,
  delivery: AlertDelivery,
  signal: AbortSignal,
): Promise<void> {
  const { changeId, webhook, attempts, change } = delivery
  const told = { changeId, webhook, change, attempts }
  const body = JSON.stringify(alertMessage(delivery, to.runbooks))
  const answer = await post(way, { id: changeId, body, timeoutMs: times.callMs, signal })
  if (signal.aborted) return
  metrics.alertDeliveriesTotal[answer.code === undefined ? 'ok' : 'failed'].inc()
  if (answer.code === undefined) {
    await closeAlertDelivery(db, delivery)
    logger.info({ event: 'alert.told', ...told })
    return
  }
  const { code, retryAfterMs = 0 } = answer
  const waitMs = Math.min(times.capMs, times.baseMs * 2 ** Math.min(attempts - 1, 30))
  const againInMs = Math.max(waitMs, retryAfterMs)
  const isDead = await postponeAlertDelivery(db, delivery, { code, againInMs, endMs: times.endMs })
  if (isDead) logger.error({ event: 'alert.given_up', ...told, code })
  else logger.warn({ event: 'alert.untold', ...told, code })
}

interface Posting {
  readonly id: string
  readonly body: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** Without a code, the webhook has it. */
async function post(
  { endpoint, signers }: Way,
  { id, body, timeoutMs, signal }: Posting,
): Promise<{ readonly code?: string; readonly retryAfterMs?: number | undefined }> {
  const headers = headersOf(signers, { id, at: new Date(), body })
  try {
    const { status, retryAfterMs } = await endpoint.post({ body, headers, signal, timeoutMs })
    if (status >= 200 && status <= 299) return {}
    return { code: `HTTP_${status}`, retryAfterMs }
  } catch (error) {
    return { code: codeOf(error) }
  }
}

/** With one signature for each secret: whoever has any of them accepts it. */
function headersOf(
  signers: readonly WebhookSigner[],
  message: Parameters<WebhookSigner['headersOf']>[0],
): Readonly<Record<string, string>> {
  const all = signers.map((signer) => signer.headersOf(message))
  const signature = all.map((headers) => headers['webhook-signature']).join(' ')
  return { ...all[0], 'webhook-signature': signature }
}
