// The handoff service: what each method needs to be called, and who answers it.
import { requestCancel } from '@baton/engine'
import { Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import { status } from '@grpc/grpc-js'
import { requireOwnType } from '../executions/own-types.ts'
import type { Caller, Methods } from './calls.ts'
import { findByName, responseFor } from './find-handoff.ts'
import { pendingFor } from './pending.ts'
import type { PendingParts } from './pending.ts'
import { notFound, PeerRefusal } from './refusal.ts'
import { createSendRequest } from './send-request.ts'
import type { SendRequestParts } from './send-request.ts'
import { acceptHandoff, completeHandoff, rejectHandoff } from './take-handoff.ts'
import type { TakeParts } from './take-handoff.ts'
import { writeStatus } from './wire.ts'
import type { Messages } from './wire.ts'

export type Sw4rmParts = SendRequestParts & PendingParts & TakeParts

export const createMethods = (parts: Sw4rmParts): Methods => ({
  RequestHandoff: {
    scope: 'handoffs:send',
    answer: createSendRequest(parts),
  },
  GetPendingHandoffs: {
    scope: 'executions:claim',
    async answer({ agent_id }, caller) {
      await requireOwnType(parts.pool, caller.key, agent_id)
      return { pending_requests: await pendingFor(agent_id, caller, parts) }
    },
  },
  AcceptHandoff: {
    scope: 'executions:claim',
    answer: (response, caller) => acceptHandoff(response, caller, parts),
  },
  RejectHandoff: {
    scope: 'executions:claim',
    answer: (response, caller) => rejectHandoff(response, caller, parts),
  },
  CompleteHandoff: {
    scope: 'executions:claim',
    answer: (request, caller) => completeHandoff(request, caller, parts),
  },
  CancelDelegation: {
    scope: 'handoffs:cancel',
    answer: (request, caller) => cancelDelegation(request, caller, parts),
  },
  GetHandoffStatus: {
    scope: 'handoffs:read',
    async answer({ handoff_id }) {
      const handoff = await findByName(parts.pool, handoff_id)
      return writeStatus(await responseFor(parts.pool, handoff_id, handoff))
    },
  },
})

/** The least that SW4RM gives for cleaning up, and the most that Baton does. */
const GRACE_MIN_MS = 5_000
const GRACE_MAX_MS = 600_000

async function cancelDelegation(
  { correlation_id, grace_period_ms }: Messages['CancelDelegation'][0],
  { key }: Caller,
  { pool, logger }: Sw4rmParts,
): Promise<Messages['CancelDelegation'][1]> {
  if (grace_period_ms > GRACE_MAX_MS)
    throw new Sw4rmError(`grace_period_ms is at most ${GRACE_MAX_MS}`)
  const { handoffId } = await findByName(pool, correlation_id)
  const graceMs = Math.max(GRACE_MIN_MS, grace_period_ms)
  const outcome = await requestCancel(pool, { handoffId, graceMs, actor: key.operator })
  if (outcome.kind === 'unknown') throw notFound(correlation_id)
  if (outcome.kind === 'ended')
    throw new PeerRefusal(
      status.FAILED_PRECONDITION,
      `the handoff had ended before: ${outcome.state}`,
    )
  const { ended, stopping, repeated } = outcome
  logger.info({
    event: 'cancel.requested',
    handoffId,
    actor: key.operator,
    ended: ended.length,
    stopping: stopping.length,
    repeated,
  })
  return { acknowledged: true, message: stopping.length > 0 ? 'stopping' : 'canceled' }
}
