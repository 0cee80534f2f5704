// The receiving functions of a worker: the steps of receive-handoff.ts on Postgres, scanner and auditor.
import { randomUUID } from 'node:crypto'
import type { AuditClient } from '@baton/audit/client'
import type { Agent } from './agent.ts'
import type { BlockedPolicy } from './settle-blocked.ts'
import type { EventShipper } from './ship-events.ts'
import type { Heartbeat } from './heartbeat.ts'
import { receiveHandoff } from './receive-handoff.ts'
import type { ReceiveDeps } from './receive-handoff.ts'
import { createSettler } from './settle-handoff.ts'
import type { Settler } from './settle-handoff.ts'
import { canceledEvents } from './sweep.ts'
import { executeHandoff } from './execute-handoff.ts'
import { judgeHandoff, unmetRequirements } from '@baton/protocol'
import type { AgentRegistration, KeyRing } from '@baton/protocol'
import { createBatcher } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { createScanner } from '@baton/safety'
import {
  claimExecutions,
  giveBackAll,
  giveBackExecutions,
  markExecuting,
  notifyOutbox,
  notifySenders,
  releaseClaims,
} from '@baton/store'
import type { ClaimRequest, ClaimedHandoff, Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import { createNotifier } from './notifier.ts'
import { createRecorder, shipDecisions } from './recorder.ts'
import { completeSteps, endSet, retrySet } from './commit-outcomes.ts'
import { endCanceledWithEvents, rerouteWithEvent } from './control-events.ts'

export interface ReceiverParts {
  readonly agents: readonly Agent[]
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  readonly backoff: { readonly baseMs: number; readonly capMs: number }
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
  /** Handles one doorbell; never rejects for what a handoff is. */
  receive(pointer: ClaimRequest): Promise<void>
  /** Resolves when every settlement under way has been committed. */
  drain(): Promise<void>
  /** Gives back whatever this receiver still holds. */
  giveBackAll(): Promise<void>
}

const SET_MAX = 128
const LINGER_MS = 20
const QUEUED_MAX = 10_000

export function createReceiver(parts: ReceiverParts): Receiver {
  const { pool, metrics, leaseMs } = parts
  const owner = randomUUID()
  const agents = new Map(parts.agents.map((agent) => [agent.type, agent]))
  const { scan } = createScanner()
  const limits = { maxItems: SET_MAX, maxQueued: QUEUED_MAX, lingerMs: LINGER_MS }
  const claims = createBatcher({
    name: 'claim',
    ...limits,
    flush: (requests: readonly ClaimRequest[]) =>
      claimExecutions(pool, { owner, leaseMs }, requests),
  })
  const starts = createBatcher({
    name: 'start',
    ...limits,
    flush: (set: Parameters<typeof markExecuting>[1]) => markExecuting(pool, set),
  })
  const settle = createSettlerFor(parts)
  const deps: ReceiveDeps = {
    claim: claims.add,
    judge: (claimed) => judgeClaimed(claimed, { agents, keyRing: parts.keyRing, scan }),
    unmet: (claimed, message) => unmetRequirements(message, agentFor(claimed, agents)),
    record: createRecorder(parts.client, metrics).record,
    recordDecisions: (handoffId) => shipDecisions(pool, parts.shipper, handoffId),
    start: starts.add,
    execute: (claimed, message, span) =>
      executeHandoff({ agents, heartbeat: parts.heartbeat, metrics }, { claimed, message, span }),
    settle,
    metrics,
    logger: parts.logger,
  }
  return {
    receive: (pointer) => receiveHandoff(deps, pointer),
    drain: () => settle.drain(),
    async giveBackAll() {
      const given = await giveBackAll(pool, owner)
      if (given > 0) await notifyOutbox(pool)
    },
  }
}

interface Judging {
  readonly agents: ReadonlyMap<string, Agent>
  readonly keyRing: KeyRing
  readonly scan: ReturnType<typeof createScanner>['scan']
}

function agentFor(
  { routedTo, toAgent }: ClaimedHandoff,
  agents: ReadonlyMap<string, Agent>,
): AgentRegistration {
  const type = routedTo ?? toAgent
  return agents.get(type) ?? { type, version: '0.0.0', requires: [] }
}

function judgeClaimed(claimed: ClaimedHandoff, { agents, keyRing, scan }: Judging) {
  return judgeHandoff(
    { bytes: claimed.body, keyId: claimed.keyId, signature: claimed.signature },
    {
      agent: agentFor(claimed, agents),
      routed: claimed.routedTo !== null,
      keyRing,
      scan,
      task: {
        budgetMicroUSD: claimed.budgetMicroUSD,
        remainingMicroUSDMax: claimed.parentRemainingMicroUSD ?? claimed.budgetMicroUSD,
      },
      release: releaseOf(claimed),
    },
  )
}

const releaseOf = ({ release, handoffId }: ClaimedHandoff) =>
  release === null ? undefined : { offered: release, handoffId }

function createSettlerFor(parts: ReceiverParts): Settler {
  const { pool, shipper, metrics, logger } = parts
  const wakeRelays = createNotifier(pool)
  const wakeSenders = createNotifier(pool, notifySenders)
  return createSettler({
    keyRing: parts.keyRing,
    attemptsMax: parts.attemptsMax,
    windowTokensOf: (type) =>
      parts.agents.find((agent) => agent.type === type)?.contextWindowTokens,
    onCompressed: () => metrics.contextCompressionsTotal.inc(),
    complete: async (steps) => {
      const held = await completeSteps(pool, steps)
      if (steps.some((step) => step.next.length > 0)) wakeRelays()
      return held
    },
    async retry(set) {
      const held = await retrySet(pool, set)
      if (set.some(({ change }) => change.returned)) wakeSenders()
      return held
    },
    async end(set) {
      const held = await endSet(pool, set)
      wakeSenders()
      return held
    },
    release: async (fences, delayMs) => {
      if (delayMs > 0) return releaseClaims(pool, fences, delayMs)
      await giveBackExecutions(pool, fences)
      wakeRelays()
    },
    blockedPolicy: parts.blockedPolicy,
    async reroute(request, eventOf) {
      const intent = await rerouteWithEvent(pool, request, eventOf)
      if (intent !== undefined) wakeRelays()
      return intent
    },
    async endCanceled() {
      const intents = await endCanceledWithEvents(pool, canceledEvents)
      wakeRelays()
      void shipper.ship(intents)
    },
    committed: (intents) => void shipper.ship(intents),
    backoff: parts.backoff,
    metrics,
    logger,
  })
}
