// Which task a request belongs to, and what it may cost there.
import { usdFromMicro } from '@baton/protocol'
import { foreignUuid, kindOf } from '@baton/protocol/dialects/foreign-id'
import { SW4RM } from '@baton/protocol/dialects/sw4rm'
import type { MappedHandoff } from '@baton/protocol/dialects/sw4rm'
import { findTaskBudget } from '@baton/store'
import type { Pool } from '@baton/store'
import { idOwner } from '../acting.ts'
import type { Caller } from './calls.ts'

type State = MappedHandoff['agentState'] & { readonly traceparent: string }

/**
 * A request is the next of the task that its context names where that task waits for its next handoff: then it has what is left of the
 * budget. While anything of the task is under way, and once it has ended, it is a task of its own, in the same trace where the caller names none.
 */
export async function placeRequest(
  pool: Pool,
  { agentState }: Pick<MappedHandoff, 'agentState'>,
  { key, span, isTraced }: Caller,
): Promise<State> {
  const known = await findTaskBudget(pool, agentState.taskId)
  const traceparent = isTraced ? span.traceparent : (known?.traceparent ?? span.traceparent)
  const traced = { ...agentState, traceparent, ...tracestateOf(span) }
  if (known === undefined) return traced
  if (!known.isIdle) return apart(traced, key)
  const { budgetMicroUSD, remainingMicroUSD } = known
  const cost = {
    ...agentState.cost,
    spentSoFarUSD: usdFromMicro(budgetMicroUSD - remainingMicroUSD),
    budgetRemainingUSD: usdFromMicro(remainingMicroUSD),
  }
  return { ...traced, cost }
}

/** The same as a task of its own. */
export const apart = (state: State, key: Caller['key']): State => ({
  ...state,
  taskId: foreignUuid(SW4RM, kindOf('own task', idOwner(key)), state.externalRef?.id ?? ''),
})

const tracestateOf = ({ tracestate }: Caller['span']) =>
  tracestate === undefined ? {} : { tracestate }
