// Waits until nothing is under way any more, and says what is.
import type { Pool } from '@baton/store'

const POLL_MS = 200

const WAITING = `
select 'open: ' || id || ' ' || state as what from handoff
  where ended_at is null and state not in ('AWAITING_APPROVAL', 'BLOCKED')
union all select 'in the outbox: ' || handoff_id from outbox
union all select 'waiting for a retry: ' || handoff_id from retry
union all select 'leased: ' || handoff_id from execution where status in ('CLAIMED', 'EXECUTING')
union all select 'not joined: ' || id from fan_out where state = 'READY'
union all select 'event not shipped: ' || handoff_id from audit_outbox
union all select 'not told: ' || handoff_id from session_reply r where told_at is null and dead_at is null
  and exists (select from handoff h where h.id = r.handoff_id and h.ended_at is not null)
limit 1000`

/** What is queued, leased, scheduled or unshipped. */
export async function listWaiting(pool: Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ what: string }>({ text: WAITING })
  return rows.map((row) => row.what)
}

/** Waits until nothing waits, at most `maxMs`; answers what still does and how long it took. */
export async function waitUntilDrained(
  pool: Pool,
  maxMs: number,
): Promise<{ readonly stuck: readonly string[]; readonly tookMs: number }> {
  const startedAt = performance.now()
  for (;;) {
    // A connection that a fault has ended is replaced by the next poll.
    const stuck = await listWaiting(pool).catch(() => ['the database does not answer'])
    const tookMs = Math.round(performance.now() - startedAt)
    if (stuck.length === 0 || tookMs > maxMs) return { stuck, tookMs }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
