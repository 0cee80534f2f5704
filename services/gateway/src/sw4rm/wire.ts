// The handoff service of SW4RM on the wire: its published definition, and each of its messages as a program sees it.
import { loadSync } from '@grpc/proto-loader'
import type { MethodDefinition, ServiceDefinition } from '@grpc/proto-loader'
import type { BudgetEnvelope, HandoffRequest } from '@baton/protocol/dialects/sw4rm'
import { handoffRequest, STATUS_NUMBERS, Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import type { HandoffResponse } from '@baton/protocol/dialects/sw4rm'

const FOLDER = new URL('../../proto/sw4rm/', import.meta.url).pathname

const definition = loadSync(['handoff.proto', 'status.proto'], {
  includeDirs: [FOLDER],
  keepCase: true,
  longs: Number,
  defaults: true,
  arrays: true,
})

const serviceOf = (name: string): ServiceDefinition => definition[name] as ServiceDefinition

/** Every method by its published name. What is no message of it is read as MALFORMED, so that it is answered like any refusal. */
export const METHODS = Object.fromEntries(
  Object.entries({
    ...serviceOf('sw4rm.handoff.HandoffService'),
    ...serviceOf('baton.sw4rm.HandoffStatusService'),
  }).map(([name, method]) => [name, { ...method, requestDeserialize: readerOf(method) }]),
) as Readonly<Record<MethodName, MethodDefinition<object, object>>>

/** Stands for bytes that are no message. */
export const MALFORMED: object = Object.freeze({})

function readerOf({ requestDeserialize }: MethodDefinition<object, object>) {
  return (bytes: Buffer): object => {
    try {
      return requestDeserialize(bytes)
    } catch {
      return MALFORMED
    }
  }
}

export interface Messages {
  readonly RequestHandoff: [WireRequest, Empty]
  readonly AcceptHandoff: [WireResponse, Empty]
  readonly RejectHandoff: [WireResponse, Empty]
  readonly GetPendingHandoffs: [
    { readonly agent_id: string },
    { readonly pending_requests: readonly WireRequest[] },
  ]
  readonly CompleteHandoff: [
    { readonly request_id: string; readonly status: number },
    { readonly success: boolean; readonly message: string },
  ]
  readonly CancelDelegation: [
    { readonly correlation_id: string; readonly grace_period_ms: number },
    { readonly acknowledged: boolean; readonly message: string },
  ]
  readonly GetHandoffStatus: [{ readonly handoff_id: string }, WireStatus]
}

export type MethodName = keyof Messages

type Empty = Readonly<Record<string, never>>

export interface WireRequest {
  readonly request_id: string
  readonly from_agent: string
  readonly to_agent: string
  readonly reason: string
  readonly context_snapshot: Uint8Array
  readonly capabilities_required: readonly string[]
  readonly priority: number
  readonly timeout: { readonly seconds: number; readonly nanos: number } | null
  readonly budget: WireBudget | null
}

interface WireBudget {
  readonly token_budget_remaining: number
  readonly wall_time_remaining_ms: number
  readonly deadline_epoch_ms: number
  readonly current_depth: number
  readonly max_delegation_depth: number
}

export interface WireResponse {
  readonly request_id: string
  readonly accepted: boolean
  readonly accepting_agent: string
  readonly rejection_reason: string
  readonly rejection_code: number
}

interface WireStatus {
  readonly accepted: boolean
  readonly handoff_id: string
  readonly rejection_reason: string
  readonly status: number
  readonly metadata: Readonly<Record<string, string>>
}

/** Whether a text can name a request or an agent; as long as a message's own reference may be. */
export const isName = (text: string): boolean => /^\P{Cc}{1,1024}$/u.test(text)

/** Longer waits are none. */
const TIMEOUT_MAX_S = 315_576_000

/** A request as it came, with the defaults of the text. Throws a Sw4rmError that says what is missing or impossible. */
export function readRequest(wire: WireRequest): HandoffRequest {
  return handoffRequest({
    requestId: wire.request_id,
    fromAgent: wire.from_agent,
    toAgent: wire.to_agent,
    reason: wire.reason,
    contextSnapshot: wire.context_snapshot.length === 0 ? null : wire.context_snapshot,
    capabilitiesRequired: wire.capabilities_required,
    priority: wire.priority === 0 ? null : wire.priority,
    timeoutMs: timeoutOf(wire),
    budget: wire.budget === null ? null : budgetOf(wire.budget),
  })
}

// As in the peers, no time at all is none that was given.
function timeoutOf({ timeout }: WireRequest): number | null {
  if (timeout === null) return null
  const { seconds, nanos } = timeout
  if (seconds < 0 || nanos < 0 || seconds > TIMEOUT_MAX_S)
    throw new Sw4rmError(`timeout must be 0 to ${TIMEOUT_MAX_S} seconds`)
  const ms = seconds * 1000 + Math.trunc(nanos / 1e6)
  return ms === 0 ? null : ms
}

const budgetOf = (budget: WireBudget): BudgetEnvelope => ({
  tokenBudgetRemaining: budget.token_budget_remaining,
  wallTimeRemainingMs: budget.wall_time_remaining_ms,
  deadlineEpochMs: budget.deadline_epoch_ms,
  currentDepth: budget.current_depth,
  maxDelegationDepth: budget.max_delegation_depth,
})

export function writeRequest(request: HandoffRequest): WireRequest {
  const { budget, timeoutMs } = request
  return {
    request_id: request.requestId,
    from_agent: request.fromAgent,
    to_agent: request.toAgent,
    reason: request.reason,
    context_snapshot: request.contextSnapshot ?? new Uint8Array(),
    capabilities_required: request.capabilitiesRequired,
    priority: request.priority ?? 0,
    timeout:
      timeoutMs === null
        ? null
        : { seconds: Math.trunc(timeoutMs / 1000), nanos: (timeoutMs % 1000) * 1e6 },
    budget:
      budget === null
        ? null
        : {
            token_budget_remaining: budget.tokenBudgetRemaining ?? 0,
            wall_time_remaining_ms: budget.wallTimeRemainingMs ?? 0,
            deadline_epoch_ms: budget.deadlineEpochMs,
            current_depth: budget.currentDepth ?? 0,
            max_delegation_depth: budget.maxDelegationDepth ?? 0,
          },
  }
}

export const writeStatus = (response: HandoffResponse): WireStatus => ({
  accepted: response.accepted,
  handoff_id: response.handoffId,
  rejection_reason: response.rejectionReason ?? '',
  status: STATUS_NUMBERS[response.status],
  metadata: Object.fromEntries(
    Object.entries(response.metadata).map(([key, value]) => [
      key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  ),
})
