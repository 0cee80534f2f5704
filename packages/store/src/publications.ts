// Publishing a handoff: whatever queues it again writes its outbox row in the same statement.
import { CLAIMABLE } from './states.ts'

/** Where a handoff is published: at the agent type it was rerouted to, else at the one it names. */
export const QUEUE = 'coalesce(routed_to, to_agent)'

/** What PUBLISH needs of an updated handoff. */
export const PUBLICATION = `id, tenant, task_id, publish_attempt, ${QUEUE} as queue, priority, body_sha256, body_bytes, traceparent, tracestate`

/** Puts the rows of `from`, which has the columns of PUBLICATION, into the outbox. */
export const PUBLISH = (from: string): string => `
  insert into outbox (handoff_id, tenant, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent, tracestate)
  select id, tenant, task_id, publish_attempt, queue, priority, body_sha256, body_bytes, traceparent, tracestate
  from ${from}`

/**
 * Publishes the handoffs of `taken` (handoff_id) and answers their ids. Every publication is a new
 * publish attempt, so that an older queue message is recognised as stale.
 */
export const REQUEUE = `
queued as (
  update handoff set state = 'QUEUED', publish_attempt = publish_attempt + 1, queued_at = clock_timestamp()
  where id in (select handoff_id from taken) and state in ${CLAIMABLE}
  returning ${PUBLICATION}
), published as (${PUBLISH('queued')}
)
select id from queued`

/**
 * Order within a task and within each of its branches: the next handoff was refused while this one was open; publish it
 * again. Stands in a statement whose `ended` names the task_id, branch_id and task_seq of what has ended.
 */
export const WAKE_NEXT_IN_TASK = `
next_in_task as (
  select (select n.id from handoff n where n.task_id = e.task_id and n.task_seq > e.task_seq
            and n.branch_id is not distinct from e.branch_id and n.ended_at is null and n.id not in (select id from ended) order by n.task_seq limit 1) as id
  from ended e
), woken as (
  update handoff set publish_attempt = publish_attempt + 1, state = 'QUEUED', queued_at = clock_timestamp()
  where id in (select id from next_in_task) and state = 'DISPATCHED'
  returning ${PUBLICATION}
), published as (${PUBLISH('woken')}
)`
