// A SW4RM request as a handoff of Baton, and a handoff as the request that an agent of SW4RM expects.
import type { AgentState, HandoffConstraints } from '../../agent-state.ts'
import type { HandoffMessage } from '../../handoff-message.ts'
import type { Turn } from '../../generated/handoff.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { cameInBy, foreignUuid, kindOf } from '../foreign-id.ts'
import { contextFrom, deserializeContext, serializeContext } from './handoff-context.ts'
import type { ContextMode, HandoffContext } from './handoff-context.ts'
import { handoffRequest } from './handoff-request.ts'
import type { BudgetEnvelope, HandoffRequest } from './handoff-request.ts'
import { isDict, isList, jsonObjectOf, jsonOf, pythonValueOf } from './python-value.ts'
import type { PythonDict, PythonValue } from './python-value.ts'
import { withoutSecretShapes, withoutToolSecrets } from './secrets.ts'
import type { HidingOptions } from './secrets.ts'
import { snapshotBytes, snapshotOf, unpackContext } from './snapshot.ts'

export const SW4RM = 'sw4rm'

export interface MappingOptions extends HidingOptions {
  /** Milliseconds since 1970: from when on the time-out counts. */
  readonly nowMs: number
  /** SW4RM knows no money, so the task gets this budget. */
  readonly budgetUSD: number
  readonly mode?: ContextMode
  /** Whose ids these are, where several may use the same. */
  readonly owner?: string | undefined
}

/** Everything a sender needs beside the trace. */
export interface MappedHandoff {
  readonly agentState: Omit<AgentState, 'traceparent'>
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

/** The handoff that a request is. Throws a Sw4rmError for a context that cannot be read. */
export function toHandoff(request: HandoffRequest, options: MappingOptions): MappedHandoff {
  const { requestId, fromAgent, toAgent, metadata, contextSnapshot } = request
  const snapshot =
    contextSnapshot === null ? undefined : forwarded(contextSnapshot, request, options)
  const context = snapshot?.context ?? contextFrom({})
  const tools = withoutToolSecrets(context.tool_state, options)
  const contextMetadata = withoutSecretShapes(context.metadata, options)
  const requestMetadata = withoutSecretShapes(pythonValueOf(metadata), options)
  const history = historyOf(context.conversation_history)
  const known = asDict(context.metadata)
  const named = textOf(metadata['task_id'] ?? known.get('task_id'))
  const subjects = subjectsOf(
    metadata['data_subjects'] ?? jsonOf(known.get('data_subjects') ?? null),
  )
  const idOf = (kind: string, id: string) => foreignUuid(SW4RM, kindOf(kind, options.owner), id)
  return {
    targetAgentType: toAgent,
    agentState: {
      taskId: idOf('task', named ?? requestId),
      handoffId: idOf('handoff', requestId),
      agent: {
        agentId: fromAgent,
        agentVersion: UNKNOWN_VERSION,
        executionId: idOf('execution', requestId),
      },
      taskDescription: 'INITIAL',
      completedSubtasks: [],
      remainingSubtasks: [],
      currentState: {
        reason: request.reason,
        tool_state: jsonOf(tools.value),
        metadata: jsonOf(contextMetadata.value),
        ...(history === undefined
          ? { conversation_history: jsonOf(context.conversation_history) }
          : {}),
      },
      conversationHistory: history ?? [],
      cost: {
        spentSoFarUSD: 0,
        budgetRemainingUSD: options.budgetUSD,
        ownCostUSD: 0,
        tokenSpent: { prompt: 0, completion: 0 },
      },
      externalRef: { protocol: SW4RM, id: requestId },
      ...(snapshot === undefined ? {} : { contextSnapshot: snapshotOf(snapshot.bytes) }),
      ...(subjects.length === 0 ? {} : { personalData: { dataSubjects: subjects, payload: {} } }),
      ...delegationOf(request.budget),
      extensions: {
        'x-sw4rm': {
          priority: request.priority,
          timeout_ms: request.timeoutMs,
          preserve_history: request.preserveHistory,
          metadata: jsonOf(requestMetadata.value),
          withheld: [
            ...tools.places.map((place) => `/tool_state${place}`),
            ...contextMetadata.places.map((place) => `/metadata${place}`),
          ],
        },
      },
    },
    constraints: constraintsOf(request, options.nowMs),
  }
}

/** SW4RM names agents without their versions. */
const UNKNOWN_VERSION = '0.0.0'

interface Forwarded {
  readonly context: HandoffContext
  readonly bytes: Uint8Array
}

/** What goes on: the bytes as they came, or written anew without the history where that is kept back. */
function forwarded(
  bytes: Uint8Array,
  { preserveHistory }: HandoffRequest,
  { mode = 'lenient' }: MappingOptions,
): Forwarded {
  const context = deserializeContext(unpackContext(bytes), { mode })
  if (preserveHistory) return { context, bytes }
  const kept = { ...context, conversation_history: [] }
  return { context: kept, bytes: serializeContext(kept) }
}

const asDict = (value: PythonValue): PythonDict => (isDict(value) ? value : new Map())

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

const subjectsOf = (value: JsonValue): readonly string[] =>
  Array.isArray(value) ? [...new Set(value.filter((item) => typeof item === 'string'))] : []

/** The turns of a history; undefined where it is no list of objects, which only lenient readers take. */
function historyOf(history: PythonValue): readonly Turn[] | undefined {
  return isList(history) && history.every(isDict) ? history.map(turnOf) : undefined
}

// What a turn of Baton holds in another form stays readable: the bytes themselves are in the snapshot.
function turnOf(entry: PythonDict): Turn {
  const { role, content, timestamp, metadata, name, tool_call_id, ...others } = jsonObjectOf(entry)
  const isTime =
    typeof timestamp === 'string' &&
    DATE_TIME.test(timestamp) &&
    !Number.isNaN(Date.parse(timestamp))
  return {
    ...others,
    role: textOf(role) ?? 'user',
    content: inWords(content ?? ''),
    ...(isTime ? { timestamp } : {}),
    ...(name === undefined ? {} : { name: inWords(name) }),
    ...(tool_call_id === undefined ? {} : { tool_call_id: inWords(tool_call_id) }),
    ...metadataOf(metadata, isTime ? undefined : timestamp),
  }
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/

const inWords = (value: JsonValue): string =>
  typeof value === 'string' ? value : JSON.stringify(value)

function metadataOf(
  metadata: JsonValue | undefined,
  timestamp: JsonValue | undefined,
): { metadata?: JsonObject } {
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)
  const own = isObject ? metadata : metadata === undefined ? {} : { value: metadata }
  const all = timestamp === undefined ? own : { ...own, timestamp }
  return Object.keys(all).length === 0 && metadata === undefined
    ? {}
    : { metadata: all as JsonObject }
}

function constraintsOf(request: HandoffRequest, nowMs: number): HandoffConstraints {
  const { capabilitiesRequired, priority, timeoutMs, budget } = request
  const deadlineMs = deadlineOf(budget, nowMs)
  return {
    priority: priority === null ? 2 : Math.min(3, Math.max(0, priority)),
    ...(capabilitiesRequired.length === 0
      ? {}
      : { requirements: { mcp: [], capabilities: [...new Set(capabilitiesRequired)] } }),
    ...(timeoutMs === null ? {} : { expiresAt: instant(nowMs + timeoutMs) }),
    ...(deadlineMs === undefined ? {} : { deadline: instant(deadlineMs) }),
    ...((budget?.tokenBudgetRemaining ?? 0) > 0
      ? { tokenBudget: budget?.tokenBudgetRemaining ?? 1 }
      : {}),
  }
}

function deadlineOf(budget: BudgetEnvelope | null, nowMs: number): number | undefined {
  if (budget === null) return undefined
  const { deadlineEpochMs, wallTimeRemainingMs = 0 } = budget
  return wallTimeRemainingMs > 0
    ? Math.min(deadlineEpochMs, nowMs + wallTimeRemainingMs)
    : deadlineEpochMs
}

/** The last instant that a message can name. */
const INSTANT_MAX = Date.UTC(9999, 11, 31)

const instant = (ms: number): string =>
  new Date(Math.min(INSTANT_MAX, Math.trunc(ms))).toISOString()

function delegationOf(budget: BudgetEnvelope | null): Pick<AgentState, 'delegation'> {
  const { currentDepth = 0, maxDelegationDepth = 0 } = budget ?? {}
  return maxDelegationDepth > 0
    ? { delegation: { depth: currentDepth, maxDepth: maxDelegationDepth } }
    : {}
}

/** The request that a handoff is for an agent of SW4RM, whichever protocol it came from; its context is the very bytes where it came from this one. */
export function fromHandoff(message: HandoffMessage): HandoffRequest {
  const own = cameInBy(SW4RM, message)
  const kept = objectOf(message['x-sw4rm'])
  const { reason } = message.currentState
  const snapshot = own ? message.contextSnapshot : undefined
  return handoffRequest({
    requestId: own ? (message.externalRef?.id ?? message.handoffId) : message.handoffId,
    fromAgent: message.fromAgent.agentId,
    toAgent: message.toAgent.agentType,
    reason: own && typeof reason === 'string' ? reason : message.taskDescription,
    contextSnapshot:
      snapshot === undefined ? serializeContext(contextOf(message)) : snapshotBytes(snapshot),
    preserveHistory: kept['preserve_history'] !== false,
    capabilitiesRequired: message.requirements?.capabilities ?? [],
    metadata: objectOf(kept['metadata']),
    timeoutMs: typeof kept['timeout_ms'] === 'number' ? kept['timeout_ms'] : null,
    priority: own ? numberOf(kept['priority']) : (message.priority ?? 2),
    budget: budgetOf(message),
  })
}

const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}

const numberOf = (value: JsonValue | undefined): number | null =>
  typeof value === 'number' ? value : null

/**
 * The context of a handoff that had none: its conversation, its state, and in the metadata what else the next agent must know to go on
 * with the same task: where it comes from, what was done and is left, what it has cost and may still cost.
 */
export const contextOf = (message: HandoffMessage): HandoffContext =>
  contextFrom({
    conversation_history: message.conversationHistoryVerbatim,
    tool_state: message.currentState,
    metadata: {
      agent_id: message.fromAgent.agentId,
      task_id: message.taskId,
      handoff_id: message.handoffId,
      ...(message.parentHandoffId === null ? {} : { parent_handoff_id: message.parentHandoffId }),
      traceparent: message.traceparent,
      ...(message.tracestate === undefined ? {} : { tracestate: message.tracestate }),
      cost_spent_usd: message.costTracking.costSpentSoFarUSD,
      cost_remaining_usd: message.costTracking.costBudgetRemainingUSD,
      ...(message.completedSubtasks.length === 0
        ? {}
        : { completed_subtasks: message.completedSubtasks }),
      ...(message.conversationHistorySummary === ''
        ? {}
        : { conversation_summary: message.conversationHistorySummary }),
      ...(message.remainingSubtasks.length === 0
        ? {}
        : { remaining_subtasks: message.remainingSubtasks }),
      ...(message.dataSubjects === undefined ? {} : { data_subjects: message.dataSubjects }),
      ...(message.dataClassification === undefined
        ? {}
        : { data_classification: message.dataClassification }),
      ...(message.constraints.length === 0 ? {} : { constraints: message.constraints }),
    },
  })

function budgetOf({ deadline, tokenBudget, delegation }: HandoffMessage): BudgetEnvelope | null {
  if (deadline === undefined) return null
  return {
    deadlineEpochMs: Date.parse(deadline),
    ...(tokenBudget === undefined ? {} : { tokenBudgetRemaining: tokenBudget }),
    ...(delegation === undefined
      ? {}
      : { currentDepth: delegation.depth, maxDelegationDepth: delegation.maxDepth }),
  }
}
