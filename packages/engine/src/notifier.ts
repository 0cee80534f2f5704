// At most one NOTIFY per 10 ms and process: NOTIFY takes a database-wide lock at commit.
import { notifyOutbox } from '@baton/store'
import type { Database, Pool } from '@baton/store'

const GAP_MS = 10

/**
 * Returns a function that tells relays there is work, or whom `notify` tells. The first call goes out at once, calls within
 * the next 10 ms become one. A lost NOTIFY costs time only: relays also poll.
 */
export function createNotifier(
  pool: Pool,
  notify: (db: Database) => Promise<void> = notifyOutbox,
): () => void {
  let resting = false
  let again = false

  function tell(): void {
    if (resting) {
      again = true
      return
    }
    resting = true
    notify(pool).catch(() => undefined)
    setTimeout(() => {
      resting = false
      if (!again) return
      again = false
      tell()
    }, GAP_MS)
  }

  return tell
}
