// The receiving functions of a worker: the steps of receive-handoff.ts on Postgres, scanner and auditor.
import { randomUUID } from 'node:crypto'
import type { AuditClient } from '@baton/audit/client'
import type { Agent } from './agent.ts'
import type { Backoff, BlockedPolicy } from './decide/outcome.ts'
import type { Heartbeat } from './heartbeat.ts'
import { receiveHandoff } from './receive-handoff.ts'
import type { ReceiveDeps } from './receive-handoff.ts'
import { createSettler } from './commit-outcome.ts'
import { executeHandoff } from './execute-handoff.ts'
import { judgeHandoff, unmetRequirements } from '@baton/protocol'
import type { AgentRegistration, KeyRing } from '@baton/protocol'
import { createBatcher } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createScanner, prepareScanner } from '@baton/safety'
import { claimExecutions, markExecuting, notifyOutbox, releaseOwnLeases } from '@baton/store'
import type { ClaimedHandoff, ClaimRequest, Pool, StartedExecution } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { createRecorder, shipDecisions } from './record-audit.ts'
import type { EventShipper } from './record-audit.ts'

export interface ReceiverParts {
  readonly agents: readonly Agent[]
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  readonly backoff: Backoff
  readonly leaseMs: number
  readonly blockedPolicy: BlockedPolicy
  readonly pool: Pool
  readonly client: AuditClient
  readonly shipper: EventShipper
  readonly heartbeat: Heartbeat
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface Receiver {
  /** Handles one queue message; never rejects for what a handoff is. */
  receive(pointer: ClaimRequest): Promise<void>
  /** Resolves when every settlement under way has been committed. */
  drain(): Promise<void>
  /** Releases whatever this receiver still holds. */
  releaseOwnLeases(): Promise<void>
}

const LIMITS = { maxItems: 128, maxQueued: 10_000, batchingDelayMs: 20 }

export function createReceiver(parts: ReceiverParts): Receiver {
  const { pool, keyRing, heartbeat, shipper, metrics, logger, leaseMs } = parts
  const owner = randomUUID()
  const agents = new Map(parts.agents.map((agent) => [agent.type, agent]))
  prepareScanner()
  const { scan } = createScanner()
  const claims = createBatcher({
    name: 'claim',
    ...LIMITS,
    flush: (requests: readonly ClaimRequest[]) =>
      claimExecutions(pool, { owner, leaseMs }, requests),
  })
  const starts = createBatcher({
    name: 'start',
    ...LIMITS,
    flush: (set: readonly StartedExecution[]) => markExecuting(pool, set),
  })
  const settle = createSettler({
    ...parts,
    windowTokensOf: (type) => agents.get(type)?.contextWindowTokens,
  })

  function agentFor({ routedTo, toAgent }: ClaimedHandoff): AgentRegistration {
    const type = routedTo ?? toAgent
    return agents.get(type) ?? { type, version: '0.0.0', requires: [] }
  }

  function judge(claimed: ClaimedHandoff) {
    const { handoffId, body, keyId, signature, approvalOverride, budgetMicroUSD } = claimed
    return judgeHandoff(
      { bytes: body, keyId, signature },
      {
        agent: agentFor(claimed),
        routed: claimed.routedTo !== null,
        keyRing,
        scan,
        task: {
          budgetMicroUSD,
          remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? budgetMicroUSD,
        },
        override: approvalOverride === null ? undefined : { offered: approvalOverride, handoffId },
      },
    )
  }

  const deps: ReceiveDeps = {
    claim: claims.add,
    judge,
    unmet: (claimed, message) => unmetRequirements(message, agentFor(claimed)),
    record: createRecorder(parts.client, metrics),
    recordDecisions: (handoffId) => shipDecisions(pool, shipper, handoffId),
    start: starts.add,
    execute: (claimed, message, span) =>
      executeHandoff({ agents, heartbeat, metrics }, { claimed, message, span }),
    settle,
    metrics,
    logger,
  }
  return {
    receive: (pointer) => receiveHandoff(deps, pointer),
    drain: settle.drain,
    async releaseOwnLeases() {
      const given = await releaseOwnLeases(pool, owner)
      if (given > 0) await notifyOutbox(pool)
    },
  }
}
