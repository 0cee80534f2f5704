// What a killed command left running is ended by the next one, which says what that was; Postgres is taken over where it is joined.
import { join } from 'node:path'
import { endLeftovers, endUnusedRedis, listLeftovers, withLock } from '@baton/embedded'
import type { Context } from '../context.ts'

const LOCK_WAIT_MS = 30_000

/** Called with the lock of the instance held, where no command serves it. */
export async function clearLeftovers({ home, output }: Context): Promise<void> {
  const { ended, owner } = await endLeftovers(home)
  const redis = (await endUnusedRedis(join(home, 'redis'))) ? ['Redis'] : []
  const all = [...ended, ...redis]
  const whose = owner === undefined ? '' : ` of process ${owner}, which was killed`
  if (all.length > 0) output.step('passed', 'leftovers', `ended: ${all.join(', ')}${whose}`)
}

/** For a command that only reads: takes the lock only where services were left. */
export async function clearLeftoversOnce(context: Context): Promise<void> {
  const { home } = context
  const clear = () => clearLeftovers(context)
  if ((await listLeftovers(home)).length === 0) await clear()
  else await withLock(join(home, 'instance.lock'), { waitMs: LOCK_WAIT_MS }, clear)
}
