// Per-task order: whatever ends a handoff lets the next one of its task go.

/** Where a handoff is published: at the agent type it was rerouted to, else at the one it names. */
export const QUEUE = 'coalesce(routed_to, to_agent)'

/**
 * The next handoff of the same task was refused while this one was open; ring for it again.
 * Stands in a statement whose `ended` names the task_id and task_seq of what has ended.
 */
export const WAKE_SUCCESSORS = `
successors as (
  select (select n.id from handoff n where n.task_id = e.task_id and n.task_seq > e.task_seq
            and n.ended_at is null and n.id not in (select id from ended) order by n.task_seq limit 1) as id
  from ended e
), woken as (
  update handoff set generation = generation + 1, state = 'QUEUED', queued_at = clock_timestamp()
  where id in (select id from successors) and state = 'DISPATCHED'
  returning id, task_id, generation, ${QUEUE} as queue, priority, body_sha256, body_bytes, traceparent, tracestate
), rung as (
  insert into outbox (handoff_id, task_id, generation, queue, priority, sha256, bytes, traceparent, tracestate)
  select id, task_id, generation, queue, priority, body_sha256, body_bytes, traceparent, tracestate
  from woken
)`
