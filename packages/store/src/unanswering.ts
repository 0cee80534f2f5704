// Agents outside that do not answer, by what the handoffs and the replies for them have recorded.
import { run } from './database.ts'
import type { Database } from './database.ts'

export interface Unanswering {
  /** An agent type that is called, or a session peer that is to be told an outcome. */
  readonly kind: 'agent' | 'peer'
  readonly name: string
  /** Handoffs that wait to be tried again, or outcomes that could not be told. */
  readonly count: number
  /** The code of the newest failure. */
  readonly code: string
}

/** Under which a call failed because nobody answered, or not now. */
const UNANSWERED = [
  'BATON_PUSH_TIMEOUT',
  'BATON_PUSH_UNAVAILABLE',
  'BATON_BREAKER_OPEN',
  'BATON_SESSION_UNAVAILABLE',
]
/** Further than this nothing is looked at. */
const LOOKED_MAX = 20_000

const UNANSWERING = `
with failing as (
  (select 'agent' as kind, coalesce(h.routed_to, h.to_agent) as name, h.reason as code, h.queued_at as at
    from retry r join handoff h on h.id = r.handoff_id where h.reason = any($1::text[]) limit ${LOOKED_MAX})
  union all
  (select 'peer', peer, last_error, created_at from session_reply
    where told_at is null and last_error is not null and (dead_at is null or dead_at > clock_timestamp() - interval '1 day')
    limit ${LOOKED_MAX})
)
select kind, name, count(*)::int as count, (array_agg(code order by at desc))[1] as code
from failing group by kind, name order by count desc, name limit 100`

/** Those for whom something waits now, and peers that nobody tells any more since at most a day. */
export function listUnanswering(db: Database): Promise<Unanswering[]> {
  return run(db, 'list_unanswering', UNANSWERING, [UNANSWERED])
}
