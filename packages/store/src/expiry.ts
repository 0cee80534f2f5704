// Deadlines: what has not ended by then ends EXPIRED, wherever it waits and also while it executes.
import type { ExpiredHandoff } from './ended-outside.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { CLEAR_ENDED, CLOSE_APPROVALS, KNOWN, STOP_DUE } from './ended-outside.ts'
import { TELL } from './notices.ts'

const EXPIRE_MAX = 500

const EXPIRED = `
with due as (
  select h.id from handoff h where h.ended_at is null and h.expires_at <= clock_timestamp()
  order by h.expires_at limit ${EXPIRE_MAX}
), ${STOP_DUE}, ended as (
  update handoff h set state = 'EXPIRED', reason = 'EXPIRED', ended_at = clock_timestamp(),
    release_id = null
  from stopped s where h.id = s.handoff_id and h.ended_at is null
  returning h.*, s.epoch
), locked as (
  select id from task where id in (select task_id from ended) order by id for no key update
), tasks as (
  update task t set updated_at = clock_timestamp(), checkpoint_id = e.checkpoint_id,
    status = case when t.cancel_requested then 'CANCELED' else 'PENDING_HANDOFF' end
  from ended e join locked on locked.id = e.task_id where t.id = e.task_id
), told as (
  ${TELL('rollback')}
  select id, task_id, from_agent, attempt, revision, reason, coalesce(last_error, '[]') from ended) n
), alerts as (
  insert into alert (kind, handoff_id, task_id, reason)
  select 'handoff.expired', id, task_id, 'EXPIRED' from ended
), ${CLOSE_APPROVALS}, ${CLEAR_ENDED}
select ${KNOWN} from ended e`

/**
 * Ends handoffs whose deadline or expiry has passed, at most 500 at once; they never execute
 * afterwards, and a result that is still being worked on no longer commits (S12, R16).
 */
export function expireHandoffs(db: Database): Promise<ExpiredHandoff[]> {
  return run(db, 'expire_handoffs', EXPIRED)
}
