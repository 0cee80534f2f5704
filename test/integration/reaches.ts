// Waits until a handoff is in one of some states.
import { findHandoff } from '@baton/store'
import type { HandoffView, Pool } from '@baton/store'
import { eventually } from '@baton/testkit'

export type Reaches = (handoffId: string, ...states: readonly string[]) => Promise<HandoffView>

const WAIT_MS = 20_000

/** `troubles` is what is shown where it does not come to that. */
export const createReaches =
  (pool: Pool, troubles: () => string): Reaches =>
  (handoffId, ...states) => {
    let seen: HandoffView | undefined
    return eventually(
      async () => {
        seen = await findHandoff(pool, handoffId)
        return seen !== undefined && states.includes(seen.state) && seen
      },
      {
        deadlineMs: WAIT_MS,
        describe: () => `${states.join(' or ')}, is ${seen?.state} ${seen?.reason}\n${troubles()}`,
      },
    )
  }
