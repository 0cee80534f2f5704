// Waits until a ledger campaign has settled: every handoff ended, every record sealed, witnessed and archived.
import { readArchivePositions, readCoveredSizes } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { readBatchPublicKey } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { waitUntilDrained } from './drain.ts'
import { pause } from './fault.ts'
import type { ChainCoverage } from './ledger-evidence.ts'
import type { LedgerWorld } from './ledger-world.ts'

const READY_MAX_MS = 90_000
const DRAIN_MAX_MS = 120_000
const COVERED_MAX_MS = 60_000
const LOOK_EVERY_MS = 100

/** How far each chain has got now. */
export async function readCoverage(
  pool: Pool,
  { ledger }: LedgerWorld,
): Promise<readonly ChainCoverage[]> {
  const sizes = await readCoveredSizes(pool, readBatchPublicKey(ledger.keys.seal))
  const archived = await readArchivePositions(pool)
  return sizes.heads.map(({ chain, origin, size }) => ({
    origin,
    size,
    sealed: sizes.sealed.get(chain)?.size ?? 0,
    witnessed: sizes.witnessed.get(chain)?.size ?? 0,
    archived: archived.get(chain)?.tail ?? 0,
  }))
}

/** Answers how long it took. What does not settle in its time is left as it is: the checker names it. */
export async function settle(world: LedgerWorld, pool: Pool): Promise<number> {
  const startedAt = performance.now()
  await eventually(() => [...world.slots.values()].every((slot) => slot.ready()), {
    deadlineMs: READY_MAX_MS,
    describe: `every service is up again; see the logs in ${world.folder}`,
  })
  await waitUntilDrained(world.admin, DRAIN_MAX_MS)
  await covered(world, pool, ({ size, sealed, witnessed }) => sealed === size && witnessed === size)
  // An archiver that is asked to end also stores what fills no bundle yet.
  await world.slots.get('archiver-1')?.replace()
  await covered(world, pool, ({ size, archived }) => archived === size)
  return Math.round(performance.now() - startedAt)
}

async function covered(
  world: LedgerWorld,
  pool: Pool,
  isDone: (coverage: ChainCoverage) => boolean,
): Promise<void> {
  const until = performance.now() + COVERED_MAX_MS
  while (performance.now() < until) {
    const coverage = await readCoverage(pool, world)
    if (coverage.every(isDone)) return
    await pause(LOOK_EVERY_MS)
  }
}
