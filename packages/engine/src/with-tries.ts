// A few tries for what commits, while the lease still holds.
import { fullJitterMs, kindOf } from '@baton/runtime'

/** About as long as a lease holds: a restart of Postgres costs no execution. */
const TRIES_MAX = 12
const WAIT = { baseMs: 100, capMs: 1_000 }

/** Throws what the last try threw; what is not transient is not tried again. */
export async function withTries<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tried = 1; ; tried += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (kindOf(error) !== 'transient' || tried >= TRIES_MAX) throw error
      const waitMs = fullJitterMs(tried, WAIT)
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
