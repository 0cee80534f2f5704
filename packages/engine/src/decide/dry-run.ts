// What would happen to a dead letter if it went back to the queue now; nothing is enqueued or stored.
import { hasTaskEnded, judgeHandoff } from '@baton/protocol'
import type { AgentRegistration, Detail, KeyRing } from '@baton/protocol'
import type { LiveAgent, QuarantinedMessage } from '@baton/store'
import type { Scanner } from '@baton/safety'

export interface DryRun {
  readonly handoffId: string
  readonly wouldPass: boolean
  /** Why it would not: a reason of a rejection, EXPIRED or TASK_ENDED; null where it would pass. */
  readonly reason: string | null
  readonly details: readonly Detail[]
  /** Versions of the receiving agent that live workers host; `unknown` where none is live. */
  readonly agents: readonly string[] | 'unknown'
}

interface DryRunDeps {
  readonly keyRing: KeyRing
  readonly scan: Scanner['scan']
}

/**
 * Judges the stored bytes as a receiver would now: today's keys, schema, scanner and live agents, and
 * no release. Where no agent is live, what depends on the agent is left out.
 */
export function dryRun(
  message: QuarantinedMessage,
  live: readonly LiveAgent[],
  deps: DryRunDeps,
): DryRun {
  const { handoffId, toAgent } = message
  const hosted = live.filter(({ type }) => type === toAgent)
  const versions = [...new Set(hosted.map(({ version }) => version))]
  const agents = versions.length === 0 ? 'unknown' : versions
  const answer = (reason: string | null, details: readonly Detail[] = []): DryRun => ({
    handoffId,
    wouldPass: reason === null,
    reason,
    details,
    agents,
  })
  if (message.overdue) return answer('EXPIRED')
  if (hasTaskEnded(message.taskStatus) || message.canceling) return answer('TASK_ENDED')
  const verdicts = (hosted.length === 0 ? [undefined] : hosted).map((agent) =>
    judgeFor(message, agent, deps),
  )
  const verdict = verdicts.find(({ valid }) => valid) ?? verdicts[0]
  if (verdict === undefined || verdict.valid) return answer(null)
  return answer(verdict.reason, verdict.details)
}

function judgeFor(
  message: QuarantinedMessage,
  agent: AgentRegistration | undefined,
  { keyRing, scan }: DryRunDeps,
) {
  const { body, keyId, signature, budgetMicroUSD, parentRemainingMicroUSD } = message
  return judgeHandoff(
    { bytes: body, keyId, signature },
    {
      agent,
      keyRing,
      scan,
      task: { budgetMicroUSD, remainingMicroUSDMax: parentRemainingMicroUSD ?? budgetMicroUSD },
    },
  )
}
