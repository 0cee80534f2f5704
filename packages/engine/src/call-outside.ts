// Calls an agent outside for one execution. It is written down first who may settle it, so that an answer that overtakes
// the call's own finds it.
import { crashPoint } from '@baton/runtime'
import { keepRemoteLeases, takeExecutions } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Accepted, Execution } from './execute-handoff.ts'
import type { Lease } from './heartbeat.ts'
import { describeGiven, executionOf } from './outside-agent.ts'
import type { OutsideAgent } from './outside-agent.ts'

interface CallParts {
  readonly agent: OutsideAgent
  readonly pool: Pool
  readonly lease: Lease
  /** That of the process which calls. */
  readonly leaseMs: number
}

/** No API key has this operator. */
const NOBODY = ''

/** Throws what the call threw. While it runs, the process keeps the lease; what the agent took is its own to keep. */
export async function callOutside(
  { agent, pool, lease, leaseMs }: CallParts,
  { claimed, message, span }: Accepted,
): Promise<Execution> {
  const { handoffId, fencingToken } = claimed
  const { traceparent } = span
  const takenBy = agent.operator ?? NOBODY
  const [taken] = await takeExecutions(pool, [
    {
      handoffId,
      fencingToken,
      takenBy,
      agentType: agent.type,
      agentVersion: agent.version,
      leaseMs: agent.leaseMs,
      firstLeaseMs: leaseMs,
      traceparent,
    },
  ])
  if (taken === undefined) return { kind: 'abandoned' }
  crashPoint('push.before_call')
  const given = describeGiven({ claimed, message, lease: taken, traceparent }, agent.leaseMs)
  const outcome = await span.run(() => agent.call(given, lease.signal))
  crashPoint('push.after_answer')
  if (outcome.kind !== 'taken')
    return executionOf(outcome, { claimed, message, agent, traceparent })
  await lease.leave()
  await keepRemoteLeases(pool, [{ handoffId, fencingToken }], { operator: takenBy })
  crashPoint('push.after_taken')
  return { kind: 'elsewhere' }
}
