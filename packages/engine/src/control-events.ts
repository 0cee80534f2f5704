// What ends or moves handoffs from outside their executions, each with its events in one transaction.
import type { RerouteRequest } from './settle-blocked.ts'
import { crashPoint } from '@baton/runtime'
import {
  addAuditIntents,
  endCanceledHandoffs,
  expireHandoffs,
  inTransaction,
  rerouteHandoff,
} from '@baton/store'
import type { AuditIntent, Database, ExpiredHandoff, Pool } from '@baton/store'

type EventsOf = (ended: readonly ExpiredHandoff[]) => readonly AuditIntent[]

/** Ends what is due; answers its events once they have committed with it. */
function endWithEvents(
  pool: Pool,
  end: (transaction: Database) => Promise<readonly ExpiredHandoff[]>,
  eventsOf: EventsOf,
): Promise<readonly AuditIntent[]> {
  return inTransaction(pool, async (transaction) => {
    const intents = eventsOf(await end(transaction))
    if (intents.length > 0) await addAuditIntents(transaction, intents)
    return intents
  })
}

export const expireWithEvents = (pool: Pool, eventsOf: EventsOf): Promise<readonly AuditIntent[]> =>
  endWithEvents(pool, expireHandoffs, eventsOf)

export const endCanceledWithEvents = (
  pool: Pool,
  eventsOf: EventsOf,
): Promise<readonly AuditIntent[]> => endWithEvents(pool, endCanceledHandoffs, eventsOf)

/** Moves a blocked handoff to another agent type; undefined where no live one can take it. */
export function rerouteWithEvent(
  pool: Pool,
  request: RerouteRequest,
  eventOf: (routedTo: string) => AuditIntent,
): Promise<AuditIntent | undefined> {
  return inTransaction(pool, async (transaction) => {
    const routedTo = await rerouteHandoff(transaction, request)
    if (routedTo === undefined) return undefined
    const intent = eventOf(routedTo)
    await addAuditIntents(transaction, [intent])
    crashPoint('reroute.before_commit')
    return intent
  })
}
