// A blocked handoff goes to another live agent type that has all it needs (S20); the event of it commits with it.
import type { Detail, HandoffMessage } from '@baton/protocol'
import { placesFor } from '@baton/protocol'
import { crashPoint } from '@baton/runtime'
import { addOutboxEvents, inTransaction, rerouteHandoff } from '@baton/store'
import type { ClaimedHandoff, OutboxEvent, Pool } from '@baton/store'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { storableJson } from './storable-json.ts'

/** It passed every check, but its receiver lacks what it requires. */
export interface Blocked {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
  readonly unmet: readonly Detail[]
}

/**
 * Answers the event once it is published for another type; undefined where no live one can take it. A message that
 * names no requirements goes to nobody but whom it is addressed to.
 */
export async function rerouteBlocked(
  pool: Pool,
  { claimed, message, unmet }: Blocked,
): Promise<OutboxEvent | undefined> {
  if (message.requirements === undefined) return undefined
  return inTransaction(pool, async (transaction) => {
    const routedTo = await rerouteHandoff(transaction, {
      handoffId: claimed.handoffId,
      fencingToken: claimed.fencingToken,
      type: claimed.routedTo ?? claimed.toAgent,
      capabilities: message.requirements?.capabilities ?? [],
      mcp: message.requirements?.mcp ?? [],
      stateKeys: Object.keys(message.currentState),
      places: placesFor(message.residency) ?? null,
      details: storableJson(unmet),
    })
    if (routedTo === undefined) return undefined
    const event = toOutboxEvent(
      lifecycleEntry({ ...claimed, routedTo }, 'HANDOFF_REROUTED', 'BLOCKED'),
    )
    await addOutboxEvents(transaction, [event])
    crashPoint('reroute.before_commit')
    return event
  })
}
