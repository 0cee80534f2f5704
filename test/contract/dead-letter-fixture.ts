// Dead letters in an operational database, as a receiver leaves them there.
import { endHandoffs, sendHandoffs } from '@baton/store'
import type { NewHandoff, Pool } from '@baton/store'
import { claim, newHandoff } from './store-fixture.ts'

export const RULESET = 'ab'.repeat(32)

/** Sends a handoff that the scanner rejects. */
export async function quarantined(
  pool: Pool,
  changes: Partial<NewHandoff> = {},
): Promise<NewHandoff> {
  const handoff = newHandoff(changes)
  await sendHandoffs(pool, [handoff])
  await quarantine(pool, handoff)
  return handoff
}

/** Claims this publication of a handoff and ends it in quarantine. */
export async function quarantine(
  pool: Pool,
  handoff: { readonly handoffId: string },
  { publishAttempt = 1, cluster = 'C' } = {},
): Promise<void> {
  const { handoffId, fencingToken } = await claim(pool, handoff, { publishAttempt })
  const ending = {
    handoffId,
    fencingToken,
    state: 'DEAD_LETTERED',
    taskStatus: 'AWAITING_HUMAN',
    reason: 'SAFETY_VIOLATION',
    details: '[{"pointer":"/currentState/text","rule":"r1","span":[0,4]}]',
    costMicroUSD: 0,
    alert: true,
    escalate: false,
    cluster,
    rulesetVersion: RULESET,
  } as const
  await endHandoffs(pool, [ending], [])
}
