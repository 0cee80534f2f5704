// Wakes who waits for work in Postgres, at most once per 10 ms and pool: NOTIFY takes a database-wide lock at commit.
import { notifyOutbox, notifySenders } from '@baton/store'
import type { Database, Pool } from '@baton/store'

const GAP_MS = 10

/**
 * Tells relays that there is work. The first call goes out at once, calls within the next 10 ms
 * become one. A lost NOTIFY costs time only: relays also poll.
 */
export const wakeRelays = inTurns(notifyOutbox)

/** The same for those who hear what comes back to senders. */
export const wakeSenders = inTurns(notifySenders)

function inTurns(notify: (db: Database) => Promise<void>): (pool: Pool) => void {
  const resting = new WeakMap<Pool, { again: boolean }>()
  return function wake(pool) {
    const before = resting.get(pool)
    if (before !== undefined) {
      before.again = true
      return
    }
    const rest = { again: false }
    resting.set(pool, rest)
    notify(pool).catch(() => undefined)
    setTimeout(() => {
      resting.delete(pool)
      if (rest.again) wake(pool)
    }, GAP_MS)
  }
}
