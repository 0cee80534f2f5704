// The synchronous way: what is durable already is also brought to its receiver at once, and its outcome is waited for. Whatever fails
// here costs time only: the outbox row stands, and the queue delivers what was not taken.
import { setTimeout as wait } from 'node:timers/promises'
import { hasHandoffEnded } from '@baton/protocol'
import { findHandoff } from '@baton/store'
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
 * handoff is durable, whatever is known of it.
 */
export type DeliverDirectly = (sent: SentBefore) => Promise<DirectlyDelivered | undefined>

/** Callers that wait at once; further ones are told to ask. */
const WAITING_MAX = 256
const LOOK_MS = 50

export function createDirectDelivery(parts: DirectDeliveryParts): DeliverDirectly {
  const { pool, calls, waitMs, logger } = parts
  let waiting = 0

  async function deliver({
    handoffId,
    repeated,
  }: SentBefore): Promise<DirectlyDelivered | undefined> {
    const until = performance.now() + waitMs
    const sent = await findHandoff(pool, handoffId)
    if (sent === undefined) return undefined
    if (isSettled(sent) || calls === undefined || waiting >= WAITING_MAX)
      return { deliveredBy: repeated ? null : 'queue', handoff: sent }
    waiting += 1
    try {
      const outcome = repeated ? 'earlier' : await calls.call(claimOf(sent))
      const handoff = await lookUntil(outcome === 'failed' ? 0 : until, handoffId)
      return { deliveredBy: wayOf(outcome), handoff: handoff ?? sent }
    } finally {
      waiting -= 1
    }
  }

  // Also where the queue was first, or another try is due: its end is what the caller waits for.
  async function lookUntil(until: number, handoffId: string): Promise<HandoffView | undefined> {
    for (;;) {
      const handoff = await findHandoff(pool, handoffId)
      if (handoff === undefined || isSettled(handoff) || performance.now() >= until) return handoff
      await wait(LOOK_MS)
    }
  }

  return (sent) =>
    deliver(sent).catch((error: unknown) => {
      logger.warn({ event: 'sync.unknown', handoffId: sent.handoffId, code: codeOf(error) })
      return undefined
    })
}

function wayOf(outcome: DirectOutcome | 'earlier'): DirectlyDelivered['deliveredBy'] {
  if (outcome === 'earlier') return null
  return outcome !== 'failed' && outcome.taken ? 'http' : 'queue'
}

/** Nobody but a person moves what waits for an approval. */
const isSettled = ({ state }: HandoffView): boolean =>
  hasHandoffEnded(state) || state === 'AWAITING_APPROVAL'

/** What was sent just now is published for the first time, if it is already. */
const claimOf = ({ handoffId, toAgent: agentType }: HandoffView) => ({
  handoffId,
  agentType,
  publishAttempt: 1,
})
