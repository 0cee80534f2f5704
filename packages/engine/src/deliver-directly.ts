// The synchronous way: what is durable already is also brought to its receiver at once, and its outcome is waited for. Whatever fails
// here costs time only: the outbox row stands, and the queue delivers what was not taken.
import { setTimeout as wait } from 'node:timers/promises'
import { hasHandoffEnded } from '@baton/protocol'
import { findHandoff, listStreams } from '@baton/store'
import type { HandoffView, Pool } from '@baton/store'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { DirectCalls, DirectOutcome } from '@baton/transport/direct-calls'

interface DirectDeliveryParts {
  readonly pool: Pool
  /** Without it nobody is called. */
  readonly calls: DirectCalls | undefined
  /** How long an outcome is waited for. */
  readonly waitMs: number
  readonly logger: Logger
}

/** A handoff that has been sent. */
interface SentBefore {
  readonly handoffId: string
  /** Whether an earlier request had sent it: then nobody is called again. */
  readonly repeated: boolean
}

export interface DirectlyDelivered {
  /** Which way it came to its receiver, or will; null where an earlier request had sent it. */
  readonly deliveredBy: 'http' | 'queue' | null
  /** As it stands now: its outcome, where it has ended. */
  readonly handoff: HandoffView
}

/**
 * Resolves with the outcome, or with how it stands when nobody waits any longer; undefined where that cannot be read. Never rejects: the
 * handoff is durable, whatever is known of it. Nobody is waited for who has `gone`.
 */
export type DeliverDirectly = (
  sent: SentBefore,
  gone?: AbortSignal,
) => Promise<DirectlyDelivered | undefined>

/** Callers that wait at once; further ones are told to ask. */
const WAITING_MAX = 256
/** How often the database is asked, once for all who wait. */
const LOOK_MS = 50

export function createDirectDelivery(parts: DirectDeliveryParts): DeliverDirectly {
  const { pool, calls, waitMs, logger } = parts
  const settlements = createSettlements(pool)
  let waiting = 0

  async function deliver(
    { handoffId, repeated }: SentBefore,
    gone: readonly AbortSignal[],
  ): Promise<DirectlyDelivered | undefined> {
    const over = AbortSignal.any([AbortSignal.timeout(waitMs), ...gone])
    const sent = await findHandoff(pool, handoffId)
    if (sent === undefined) return undefined
    if (isSettled(sent) || calls === undefined || waiting >= WAITING_MAX)
      return { deliveredBy: repeated ? null : 'queue', handoff: sent }
    waiting += 1
    try {
      const outcome = repeated ? 'earlier' : await calls.call(claimOf(sent))
      const deliveredBy = wayOf(outcome)
      const handoff = (await findHandoff(pool, handoffId)) ?? sent
      if (outcome === 'failed' || isSettled(handoff)) return { deliveredBy, handoff }
      // Also where the queue was first, or another try is due: its end is what the caller waits for.
      await settlements.of(handoffId, over)
      return { deliveredBy, handoff: (await findHandoff(pool, handoffId)) ?? handoff }
    } finally {
      waiting -= 1
    }
  }

  return (sent, gone) =>
    deliver(sent, gone === undefined ? [] : [gone]).catch((error: unknown) => {
      logger.warn({ event: 'sync.unknown', handoffId: sent.handoffId, code: codeOf(error) })
      return undefined
    })
}

/** Tells many when what they wait for is settled, from one look at the database. */
function createSettlements(pool: Pool) {
  const waiting = new Map<string, Set<() => void>>()
  let looking = false

  async function look(): Promise<void> {
    const views = await listStreams(pool, [...waiting.keys()])
    for (const { handoffId } of views.filter(isSettled))
      for (const tell of waiting.get(handoffId) ?? []) tell()
  }

  async function lookOn(): Promise<void> {
    if (looking) return
    looking = true
    while (waiting.size > 0) {
      // Whoever waits is told what is known in the end, also where a look has failed.
      await look().catch(() => undefined)
      await wait(LOOK_MS)
    }
    looking = false
  }

  /** Resolves once it is settled, or `over` aborts. */
  function of(handoffId: string, over: AbortSignal): Promise<void> {
    if (over.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const others = waiting.get(handoffId) ?? new Set()
      function tell(): void {
        over.removeEventListener('abort', tell)
        others.delete(tell)
        if (others.size === 0) waiting.delete(handoffId)
        resolve()
      }
      waiting.set(handoffId, others.add(tell))
      over.addEventListener('abort', tell)
      void lookOn()
    })
  }

  return { of }
}

function wayOf(outcome: DirectOutcome | 'earlier'): DirectlyDelivered['deliveredBy'] {
  if (outcome === 'earlier') return null
  return outcome !== 'failed' && outcome.taken ? 'http' : 'queue'
}

/** Nobody but a person moves what waits for an approval. */
const isSettled = ({ state }: Pick<HandoffView, 'state'>): boolean =>
  hasHandoffEnded(state) || state === 'AWAITING_APPROVAL'

/** What was sent just now is published for the first time, if it is already. */
const claimOf = ({ handoffId, toAgent: agentType }: HandoffView) => ({
  handoffId,
  agentType,
  publishAttempt: 1,
})
