// Executions that their process gives back: somebody else is rung for at once, no attempt is counted.
import type { Fence } from './executions.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { REQUEUE } from './sweeps.ts'

const GIVE_BACK = `
with taken as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  from unnest($1::uuid[], $2::int[]) as i(handoff_id, epoch)
  where e.handoff_id = i.handoff_id and e.epoch = i.epoch and e.status in ('CLAIMED', 'EXECUTING')
  returning e.handoff_id
), ${REQUEUE}`

/** Ends the leases and publishes the handoffs again, each as its next generation. */
export async function giveBackExecutions(db: Database, leases: readonly Fence[]): Promise<void> {
  const sorted = leases.toSorted((a, b) => (a.handoffId < b.handoffId ? -1 : 1))
  await run(db, 'give_back_executions', GIVE_BACK, [
    sorted.map((lease) => lease.handoffId),
    sorted.map((lease) => lease.epoch),
  ])
}

const GIVE_BACK_ALL = `
with taken as (
  update execution e set status = 'ABANDONED', lease_until = clock_timestamp()
  where e.handoff_id in (
    select handoff_id from execution where status in ('CLAIMED', 'EXECUTING') and owner = $1
      and lease_until > '-infinity' order by handoff_id for update)
  returning e.handoff_id
), ${REQUEUE}`

/** The same for everything that one owner holds, whatever became of it there; answers how much. */
export async function giveBackAll(db: Database, owner: string): Promise<number> {
  return (await run(db, 'give_back_all', GIVE_BACK_ALL, [owner])).length
}
