// What waits for an agent that asks by name, rather than by a queue.
import { CLAIMABLE, EARLIER_IS_OPEN, IN_TIME, IS_HELD } from './states.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import type { Fence } from './executions.ts'

/** A handoff that could be claimed now, with its signed bytes. */
export interface PendingHandoff {
  readonly handoffId: string
  readonly publishAttempt: number
  readonly body: Buffer
  readonly keyId: string
  readonly signature: string
}

/** Whoever is known by name only cannot say that it is the version of the agent that handoff `h` asks for. */
const NAMES_NO_VERSION = `(h.to_version is null or h.routed_to is not null)`

const PENDING = `
with waiting as (
  select h.id, h.publish_attempt, h.key_id, h.signature, h.priority, h.created_at, h.body_bytes,
    sum(h.body_bytes) over (order by h.priority, h.created_at, h.id) as bytes
  from handoff h
  where h.ended_at is null and h.state in ${CLAIMABLE} and coalesce(h.routed_to, h.to_agent) = $1 and ${NAMES_NO_VERSION}
    and ${IN_TIME} and not h.cancel_requested and not ${IS_HELD} and not ${EARLIER_IS_OPEN}
  order by h.priority, h.created_at, h.id limit $2
)
select w.id as "handoffId", w.publish_attempt as "publishAttempt", b.body, w.key_id as "keyId", w.signature
from waiting w join handoff_body b on b.handoff_id = w.id
where w.bytes <= $3 or w.bytes = w.body_bytes
order by w.priority, w.created_at, w.id`

/** The most urgent first, then the oldest: at most `limit`, and so many bytes unless the first one alone has more. */
export function listPendingHandoffs(
  db: Database,
  agentType: string,
  { limit, bytesMax }: { readonly limit: number; readonly bytesMax: number },
): Promise<PendingHandoff[]> {
  return run(db, 'list_pending_handoffs', PENDING, [agentType, limit, bytesMax])
}

const ACCEPTED = `
with forgotten as (delete from outbox where handoff_id = $1)
update handoff set expires_at = $2 where id = $1 and ended_at is null`

/**
 * A handoff was accepted by name: its time to be accepted is over, so only its deadline counts from now on, and no relay needs to publish it.
 */
export async function markAcceptedByName(
  db: Database,
  handoffId: string,
  deadline: string | null,
): Promise<void> {
  await run(db, 'mark_accepted_by_name', ACCEPTED, [handoffId, deadline])
}

const TAKEN = `
select r.handoff_id as "handoffId", r.fencing_token as "fencingToken" from remote_execution r
where r.handoff_id = $1 and r.taken_by = $2`

/** Under which fencing token an operator took a handoff; undefined where somebody else has it. */
export async function findTakenFence(
  db: Database,
  handoffId: string,
  takenBy: string,
): Promise<Fence | undefined> {
  return (await run<Fence>(db, 'find_taken_fence', TAKEN, [handoffId, takenBy]))[0]
}

const ASKS_FOR_VERSION = `
select from handoff h where h.id = $1 and not ${NAMES_NO_VERSION}`

/** Whether a handoff asks for certain versions of its agent. */
export async function asksForVersion(db: Database, handoffId: string): Promise<boolean> {
  return (await run(db, 'asks_for_version', ASKS_FOR_VERSION, [handoffId])).length > 0
}
