// Watching what goes on until it has ended, a person interrupts, or nobody would wait any longer.
import { setTimeout as delay } from 'node:timers/promises'
import { permanent } from '@baton/runtime'
import type { Context } from '../context.ts'

interface Following<Seen> {
  readonly look: () => Promise<Seen>
  readonly ended: (seen: Seen) => boolean
  readonly waitMs: number
  readonly everyMs: number
  /** Words for a person meanwhile. */
  readonly progress: (seen: Seen, waitedSeconds: number) => string
}

/** What was seen last: ended, or after `waitMs` not yet. Throws BATON_INTERRUPTED. */
export async function follow<Seen>(
  { output, interrupt }: Context,
  { look, ended, waitMs, everyMs, progress }: Following<Seen>,
): Promise<Seen> {
  const startedAt = performance.now()
  try {
    for (;;) {
      const seen = await look()
      const waitedMs = performance.now() - startedAt
      if (ended(seen) || waitedMs > waitMs) return seen
      if (interrupt.aborted) throw interrupted()
      output.progress(progress(seen, Math.round(waitedMs / 1_000)))
      await delay(everyMs)
    }
  } finally {
    output.endProgress()
  }
}

export const interrupted = () =>
  permanent('BATON_INTERRUPTED', 'interrupted', {
    fix: 'Nothing that was sent is lost: it goes on when Baton is started again.',
  })
