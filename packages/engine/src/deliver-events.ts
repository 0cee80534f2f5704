// Tells subscriptions of events by webhooks: at least once and under one id, from where each stands, so that one whose consumer is away for
// days costs no row for each event and holds back no other. An event that is not taken is tried for days, and then waits for a person.
import { randomUUID } from 'node:crypto'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import {
  claimSubscriptions,
  countWaitingEvents,
  leaveSubscription,
  listNewEvents,
  listWaitingEvents,
  noteRound,
} from '@baton/store'
import type { DueEvent, DueSubscription, Pool, Tried } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { passes } from './decide/event-filter.ts'
import type { EventAttributes, EventFilter } from './decide/event-filter.ts'
import { TEST_TYPE } from './decide/lifecycle-event.ts'
import { messageOf } from './decide/event-message.ts'
import type { EventSecrets } from './event-secrets.ts'
import { roomLeft } from './tenant-shares.ts'
import { createWebhookSender, nextTryMs } from './webhook-sender.ts'
import type { Sent, WebhookSender, WebhookTarget } from './webhook-sender.ts'

export interface EventDeliveryTimes {
  readonly lookMs: number
  readonly callMs: number
  /** How long an event is tried at all. */
  readonly endMs: number
}

interface DeliverParts {
  readonly pool: Pool
  readonly secrets: EventSecrets
  /** Whether an address may be in one's own network. */
  readonly isPrivateAllowed: (url: string) => boolean
  readonly times: EventDeliveryTimes
  readonly tls?: Tls | undefined
  readonly random?: () => number
  readonly metrics: Pick<Metrics, 'eventDeliveriesTotal'>
  readonly logger: Logger
}

export interface EventDeliveries extends Service {
  /** Looks now: something is to be told. */
  wake(): void
}

/** How many subscriptions this process tells at once, and of these how many may be one tenant's. */
const SHARES = { atOnce: 32, perTenant: 8 }
/** Events in a round, and tries at once in it; those of one task one after the other. */
const ROUND_EVENTS_MAX = 20
const TRIES_AT_ONCE = 4
/** So long one subscription is told without giving its place to another. */
const TURN_MS = 10_000
/** So long one is left alone of which nothing could be told: all of it waits, or its turn has failed. */
const REST_MS = 5_000
/** Longer than a round, in which every try takes as long as it may. */
const leaseOf = ({ callMs }: EventDeliveryTimes): number => ROUND_EVENTS_MAX * callMs + 30_000
/** After so many failures in a row a consumer is away: from then on it is only looked whether it is back. */
const AWAY_FROM = 3
/** With so many events that wait for another try, what is new waits too. */
const WAITING_MAX = 100

export function createEventDeliveries(parts: DeliverParts): EventDeliveries {
  const { pool, times, logger } = parts
  const lease = randomUUID()
  const leaseMs = leaseOf(times)
  const sender = createWebhookSender({ tls: parts.tls, callMs: times.callMs })
  const turns = new Map<string, { readonly tenant: string; readonly turn: Promise<void> }>()
  const failed = (error: unknown) =>
    logger.warn({ event: 'events.undelivered', code: codeOf(error) })

  const looks = every({
    name: 'event deliveries',
    everyMs: times.lookMs,
    async run(signal) {
      const { without, limit } = roomLeft(turns.values(), SHARES)
      if (limit === 0) return times.lookMs
      const claim = { lease, leaseMs, limit, without, awayFrom: AWAY_FROM }
      const claimed = await claimSubscriptions(pool, claim)
      for (const due of claimed) {
        const turn = takeTurn({ ...parts, sender, lease, leaseMs }, due, signal)
          .catch(failed)
          .finally(() => {
            turns.delete(due.id)
            looks.wake()
          })
        turns.set(due.id, { tenant: due.tenant, turn })
      }
      return claimed.length === limit ? 0 : times.lookMs
    },
    failed,
  })

  return {
    name: looks.name,
    wake: looks.wake,
    start: () => looks.start(),
    async stop() {
      await looks.stop()
      await Promise.all([...turns.values()].map(({ turn }) => turn))
      sender.close()
    },
  }
}

interface TurnParts extends DeliverParts {
  readonly sender: WebhookSender
  readonly lease: string
  readonly leaseMs: number
}

/** What one subscription is told with, as long as it has its turn. */
interface Told {
  readonly due: DueSubscription
  readonly target: WebhookTarget
  readonly filters: readonly EventFilter[]
  readonly secrets: readonly string[]
  readonly signal: AbortSignal
}

/** Rounds until nothing is left to be told, its consumer fails, or its turn is over. */
async function takeTurn(
  parts: TurnParts,
  due: DueSubscription,
  signal: AbortSignal,
): Promise<void> {
  const { pool, lease, isPrivateAllowed } = parts
  let restMs = REST_MS
  try {
    const told: Told = {
      due,
      target: { url: due.url, allowPrivate: isPrivateAllowed(due.url) },
      filters: JSON.parse(due.filters) as readonly EventFilter[],
      secrets: await signingSecrets(parts, due),
      signal,
    }
    const deadline = performance.now() + TURN_MS
    let at = { position: due.position, failures: due.failures }
    for (;;) {
      const { next, noted } = await round(parts, told, at)
      if (noted) restMs = 0
      if (next === undefined || signal.aborted || performance.now() > deadline) break
      at = next
    }
  } finally {
    // Of a process that stops another one goes on at once.
    await leaveSubscription(pool, { id: due.id, lease, restMs: signal.aborted ? 0 : restMs })
  }
}

/**
 * One of before that no key reads signs no longer, so that a rotation mends it. Where it is the newest, its subscription says so, and waits as if
 * its consumer had failed.
 */
async function signingSecrets(parts: TurnParts, due: DueSubscription): Promise<readonly string[]> {
  const { pool, lease, leaseMs, secrets, times, random = Math.random } = parts
  const newest = readSecret(secrets, due.secret, due.id)
  if (newest instanceof Error) {
    const failures = due.failures + 1
    await noteRound(pool, {
      id: due.id,
      tenant: due.tenant,
      lease,
      leaseMs,
      tried: [],
      position: due.position,
      failures,
      waitMs: nextTryMs(failures, random()),
      lastError: codeOf(newest),
      endMs: times.endMs,
      disabledFor: null,
      isBack: false,
    })
    throw newest
  }
  if (due.earlierSecret === null) return [newest]
  const earlier = readSecret(secrets, due.earlierSecret, due.id)
  return earlier instanceof Error ? [newest] : [newest, earlier]
}

function readSecret(secrets: EventSecrets, encrypted: Uint8Array, id: string): string | Error {
  try {
    return secrets.decrypt(encrypted, id)
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

interface At {
  readonly position: number
  readonly failures: number
}

interface Round {
  /** Whether there was anything, told or passed over. */
  readonly noted: boolean
  /** Where to go on; undefined where there is nothing to do now. */
  readonly next: At | undefined
}

const NOTHING: Round = { noted: false, next: undefined }

/** Tells what is due, and notes what came of it. */
async function round(parts: TurnParts, told: Told, at: At): Promise<Round> {
  const { due, signal } = told
  const page = await pageOf(parts.pool, told, at)
  if (page.waiting.length + page.fresh.length === 0) return NOTHING
  const wanted = page.fresh.filter(({ body }) => isWanted(told.filters, body))
  const outcomes = await tellAll(parts, told, { events: [...page.waiting, ...wanted], at })
  if (signal.aborted && outcomes.size === 0) return NOTHING
  const random = parts.random ?? Math.random
  const { tried, position, failures } = outcomeOf({ random, page, wanted, outcomes, at })
  const failed = [...outcomes.values()].filter((one) => !one.ok)
  const away = failed.findLast(isOfConsumer)
  const isGone = failed.some((one) => one.isGone)
  const noted = await noteRound(parts.pool, {
    id: due.id,
    tenant: due.tenant,
    lease: parts.lease,
    leaseMs: parts.leaseMs,
    tried,
    position,
    failures,
    waitMs: away === undefined ? 0 : Math.max(away.retryAfterMs, nextTryMs(failures, random())),
    lastError: failed.at(-1)?.code ?? null,
    endMs: parts.times.endMs,
    disabledFor: isGone ? 'HTTP_410' : null,
    isBack: at.failures >= AWAY_FROM && failures === 0,
  })
  if (noted === undefined) return NOTHING
  tell({ ...parts, due, outcomes, failures, dead: noted.dead })
  return { noted: true, next: away === undefined ? { position, failures } : undefined }
}

type Failed = Extract<Sent, { ok: false }>

/** It is no matter of this event: its consumer is away, or gone. */
const isOfConsumer = ({ isRefused, isGone }: Failed): boolean => !isRefused || isGone

interface Noted extends Pick<TurnParts, 'metrics' | 'logger'> {
  readonly due: DueSubscription
  readonly outcomes: Outcomes
  readonly failures: number
  readonly dead: number
}

/** Of what came of a round, to whoever watches. */
function tell({ metrics, logger, due, outcomes, failures, dead }: Noted): void {
  const about = { subscriptionId: due.id, tenant: due.tenant }
  for (const one of outcomes.values()) metrics.eventDeliveriesTotal[one.ok ? 'ok' : 'failed'].inc()
  const failed = [...outcomes.values()].filter((one) => !one.ok)
  const code = failed.at(-1)?.code
  if (code !== undefined) logger.warn({ event: 'event.untold', ...about, code, failures })
  if (dead > 0) logger.error({ event: 'event.given_up', ...about, count: dead })
  if (failed.some((one) => one.isGone))
    logger.error({ event: 'event.subscription_disabled', ...about, code: 'HTTP_410' })
}

interface Page {
  readonly waiting: readonly DueEvent[]
  /** Not yet told, whether or not they are asked for. */
  readonly fresh: readonly DueEvent[]
}

/** Of a consumer that is away, what waits longest and what is new, one each: whether it is back is seen by either. */
async function pageOf(pool: Pool, { due }: Told, { position, failures }: At): Promise<Page> {
  const isAway = failures >= AWAY_FROM
  const limit = isAway ? 1 : ROUND_EVENTS_MAX
  const waiting = await listWaitingEvents(pool, { id: due.id, anyTime: isAway, limit })
  const room = WAITING_MAX - (await countWaitingEvents(pool, due.id))
  const fresh =
    room > 0 ? await listNewEvents(pool, { ...due, position, limit: Math.min(limit, room) }) : []
  return { waiting, fresh }
}

const isWanted = (filters: readonly EventFilter[], body: string): boolean => {
  const event = JSON.parse(body) as EventAttributes
  return event['type'] === TEST_TYPE || passes(filters, event)
}

type Outcomes = ReadonlyMap<number, Sent>

/** Those of one task one after the other, several tasks at once; nothing more is begun once the consumer seems to be away. */
async function tellAll(
  parts: TurnParts,
  told: Told,
  { events, at }: { readonly events: readonly DueEvent[]; readonly at: At },
): Promise<Outcomes> {
  const outcomes = new Map<number, Sent>()
  const tasks = [
    ...Map.groupBy(
      events,
      ({ body }) => (JSON.parse(body) as { subject: string }).subject,
    ).values(),
  ]
  const state = { isAway: false }
  const isAlone = at.failures >= AWAY_FROM
  async function work(): Promise<void> {
    for (;;) {
      const ofTask = tasks.shift()
      if (ofTask === undefined) return
      for (const event of ofTask) {
        if ((state.isAway && !isAlone) || told.signal.aborted) return
        const sent = await send(parts, told, event).catch((error: unknown) => {
          if (told.signal.aborted) return undefined
          throw error
        })
        if (sent === undefined) return
        outcomes.set(event.position, sent)
        if (!sent.ok && isOfConsumer(sent)) state.isAway = true
      }
    }
  }
  const workers = isAlone ? 1 : TRIES_AT_ONCE
  await Promise.all(Array.from({ length: workers }, work))
  return outcomes
}

function send({ sender }: TurnParts, told: Told, { eventId, body }: DueEvent): Promise<Sent> {
  const { target, secrets, due, signal } = told
  return sender.send({ target, secrets, id: eventId, ...messageOf(body, due.mode) }, signal)
}

interface OutcomeParts {
  readonly random: () => number
  readonly page: Page
  readonly wanted: readonly DueEvent[]
  readonly outcomes: Outcomes
  readonly at: At
}

/** New ones that were not tried, and stand before one that was, wait in a row of their own; behind it they stay where they are. */
function outcomeOf({ random, page, wanted, outcomes, at }: OutcomeParts) {
  const untried = wanted.filter(({ position }) => !outcomes.has(position))
  const lastTried =
    wanted.findLast(({ position }) => outcomes.has(position))?.position ?? at.position
  const position =
    untried.length === 0
      ? (page.fresh.at(-1)?.position ?? at.position)
      : Math.max(at.position, lastTried)
  const tried: Tried[] = []
  for (const { position: place, eventId, attempts } of [...page.waiting, ...wanted]) {
    const sent = outcomes.get(place)
    if (sent === undefined) {
      if (place > at.position && place < position)
        tried.push({ position: place, eventId, code: 'UNSENT', againInMs: 0, sent: 0 })
      continue
    }
    const againInMs = sent.ok ? 0 : Math.max(sent.retryAfterMs, nextTryMs(attempts + 1, random()))
    tried.push({ position: place, eventId, code: sent.ok ? null : sent.code, againInMs, sent: 1 })
  }
  return { tried, position, failures: failuresAfter(at.failures, outcomes) }
}

/** Whatever is answered, even that an event is refused, comes from a consumer that is there. */
function failuresAfter(before: number, outcomes: Outcomes): number {
  const all = [...outcomes.values()]
  const away = all.filter((one) => !one.ok && isOfConsumer(one)).length
  if (away === all.length) return before + away
  return away === 0 ? 0 : 1
}
