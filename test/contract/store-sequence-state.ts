// What the model says of two handoffs is what Postgres holds of them.
import { expect } from 'vitest'
import { completeExecutions, endHandoffs, retryHandoffs } from '@baton/store'
import type { Fence, Pool } from '@baton/store'
import { isEnded, LEASE_EXPIRIES_MAX } from '../model/statements.ts'
import type { Handoff, World } from '../model/world.ts'
import type { Real } from './store-sequence-sweeps.ts'
import { outboxEventOf } from './store-fixture.ts'

export type Ways = 'complete' | 'retry' | 'ROLLED_BACK' | 'DEAD_LETTERED'

const COST = 30

/** Settles as a worker would; answers whether its fencing token still held. */
export async function settleAs(pool: Pool, way: Ways, fence: Fence): Promise<boolean> {
  const { handoffId } = fence
  const why = { reason: 'X', details: '[]' }
  const events = [outboxEventOf(handoffId)]
  if (way === 'complete') {
    const completion = { ...fence, costMicroUSD: COST, result: 'null', taskResult: null }
    return (await completeExecutions(pool, [completion], events)).has(handoffId)
  }
  if (way === 'retry') {
    const retry = { ...fence, ...why, delayMs: 60_000, returned: false }
    return (await retryHandoffs(pool, [retry], events)).has(handoffId)
  }
  const taskStatus = way === 'ROLLED_BACK' ? 'PENDING_HANDOFF' : 'AWAITING_HUMAN'
  const ending = { state: way, taskStatus, costMicroUSD: 0, alert: true, escalate: false } as const
  return (await endHandoffs(pool, [{ ...fence, ...why, ...ending }], events)).has(handoffId)
}

type Seen = Pick<
  Handoff,
  'state' | 'attempt' | 'row' | 'staleRow' | 'status' | 'leased' | 'leaseExpiries'
> &
  Pick<Handoff, 'retry' | 'cancel' | 'due'>

interface Row extends Seen {
  readonly id: string
  readonly publishAttempt: number
  readonly spent: number
}

const LOOK = `
select h.id, h.state, h.attempt, h.publish_attempt as "publishAttempt", h.cancel_requested as cancel, t.spent_micro_usd as spent,
  coalesce(h.expires_at <= clock_timestamp(), false) as due,
  coalesce(e.status, 'NONE') as status, least(coalesce(e.lease_expiries, 0), ${LEASE_EXPIRIES_MAX}) as "leaseExpiries",
  coalesce(e.status in ('CLAIMED', 'EXECUTING') and e.lease_until > clock_timestamp(), false) as leased,
  exists (select from retry r where r.handoff_id = h.id) as retry,
  exists (select from outbox o where o.handoff_id = h.id and o.publish_attempt = h.publish_attempt) as "row",
  exists (select from outbox o where o.handoff_id = h.id and o.publish_attempt < h.publish_attempt) as "staleRow"
from handoff h join task t on t.id = h.task_id left join execution e on e.handoff_id = h.id
order by h.task_seq`

/** Reads both handoffs and compares every field; remembers the live publish attempts for the next command. */
export async function agree(world: World, { store, publishAttempts }: Real): Promise<void> {
  const rows = await store.rows<Row>(LOOK)
  const known = world.handoffs.filter((one) => one.state !== 'UNSENT')
  expect(rows.map(seen)).toEqual(known.map(seen))
  const effects = known.reduce((sum, one) => sum + one.effects, 0)
  for (const [on, row] of rows.entries()) {
    expect(Number(row.spent)).toBe(COST * effects)
    const one = world.handoffs[on]
    const before = publishAttempts[on]
    if (before !== undefined && one !== undefined && !isEnded(one)) {
      expect(row.publishAttempt > before).toBe(world.relays[on]?.live === false)
    }
    publishAttempts[on] = row.publishAttempt
  }
}

const seen = (one: Seen): Seen => ({
  state: one.state,
  attempt: one.attempt,
  row: one.row,
  staleRow: one.staleRow,
  status: one.status,
  leased: one.leased,
  leaseExpiries: one.leaseExpiries,
  retry: one.retry,
  cancel: one.cancel,
  due: one.due,
})
