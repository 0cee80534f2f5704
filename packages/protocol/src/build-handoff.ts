// Makes a handoff message out of what an agent knows when its execution ends (E02).
import { randomUUID } from 'node:crypto'
import type { AgentCost, AgentState, HandoffConstraints } from './agent-state.ts'
import { checkCompleteness } from './checks/completeness.ts'
import { checkConsistency } from './checks/consistency.ts'
import { compressContext } from './compress-context.ts'
import type { Compression, CompressionOptions } from './compress-context.ts'
import { ProtocolError } from './detail.ts'
import type { Detail } from './detail.ts'
import type { Turn } from './generated/handoff.ts'
import { completeState } from './given-state.ts'
import type { GivenState } from './given-state.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { microUSD, usdFromMicro } from './money.ts'
import { checkSchema } from './schema-check.ts'
import { copyStrict } from './strict-value.ts'

type Condense = Pick<CompressionOptions, 'summarise' | 'written'>

export interface BuiltHandoff {
  readonly message: HandoffMessage
  /** Whether and how far the conversation was compressed. */
  readonly compression: Compression
  /** Deprecated members that it has: each will be gone in the next major version. */
  readonly warnings: readonly Detail[]
}

/**
 * Builds the unsigned message: deducts the agent's own cost from the budget (E20), compresses the
 * conversation when the message would fill more than the threshold of the receiver's context
 * window (E03), and writes the lowest schema version that carries the fields in use. Constraints
 * may be given as the bare list. Throws ProtocolError BATON_HANDOFF_INVALID, with every detail, when every
 * receiver would refuse the result for its schema, subtask ids, version range or depth, or because nothing is completed and it is no first
 * handoff; an exhausted budget is the receiver's to refuse.
 */
export function buildHandoffMessage(
  agentState: GivenState,
  targetAgentType: string,
  constraints: HandoffConstraints | readonly string[] = [],
): HandoffMessage {
  const { message } = buildHandoff(completeState(agentState), targetAgentType, constraints)
  const incomplete = checkCompleteness(message, undefined)
  if (incomplete.length > 0) throw invalid(incomplete)
  return message
}

/** The same, and says what the compression did; `condense` says who writes the summary, or what was written ahead. */
export function buildHandoff(
  agentState: AgentState,
  targetAgentType: string,
  constraints: HandoffConstraints | readonly string[] = [],
  condense: Condense = {},
): BuiltHandoff {
  const asked: HandoffConstraints = isList(constraints) ? { list: constraints } : constraints
  const draft = {
    ...coreFields(agentState, targetAgentType, asked),
    ...newerFields(agentState, asked),
  }
  const compression = compress(agentState, asked, { draft, condense })
  const whole = { ...draft, ...pinnedFor(asked, compression) }
  const { message, warnings } = checked({
    ...whole,
    schemaVersion: asked.schemaVersion ?? lowestVersion(whole),
    conversationHistorySummary: compression.summary,
    conversationHistoryVerbatim: compression.verbatim,
  })
  return { message, compression, warnings }
}

/** The same message for a receiver with another window: what does not fit there of its conversation is condensed further. */
export function fitHandoff(message: HandoffMessage, asked: HandoffConstraints): HandoffMessage {
  const { conversationHistorySummary, conversationHistoryVerbatim, ...others } = message
  const { pinnedFacts: _, ...draft } = others
  const conversation = {
    conversationHistorySummary,
    conversationHistory: conversationHistoryVerbatim,
  }
  const compression = compress(conversation, asked, { draft, condense: {} })
  if (!compression.compressed) return message
  const pinned = pinnedFor(asked, compression)
  const isOlder = ['2.0', '2.1'].includes(message.schemaVersion)
  return {
    ...draft,
    ...pinned,
    schemaVersion: isOlder && pinned.pinnedFacts !== undefined ? '2.2' : message.schemaVersion,
    conversationHistorySummary: compression.summary,
    conversationHistoryVerbatim: [...compression.verbatim],
  }
}

function isList(
  constraints: HandoffConstraints | readonly string[],
): constraints is readonly string[] {
  return Array.isArray(constraints)
}

function coreFields(state: AgentState, agentType: string, asked: HandoffConstraints) {
  const { agentId, agentVersion, executionId = randomUUID() } = state.agent
  return {
    handoffId: state.handoffId ?? randomUUID(),
    taskId: state.taskId,
    parentHandoffId: state.parentHandoffId ?? null,
    fromAgent: { agentId, agentVersion, executionId },
    toAgent: { agentType, agentVersion: asked.agentVersion },
    timestamp: state.timestamp ?? new Date().toISOString(),
    taskDescription: state.taskDescription,
    completedSubtasks: state.completedSubtasks,
    remainingSubtasks: state.remainingSubtasks,
    currentState: state.currentState,
    relevantContext: state.relevantContext ?? [],
    constraints: asked.list ?? [],
    costTracking: deduct(state.cost),
    toolCallHistory: state.toolCallHistory ?? [],
    traceparent: state.traceparent,
    ...state.extensions,
  }
}

/** The fields that need schema version 2.1. */
function newerFields(state: AgentState, asked: HandoffConstraints) {
  return {
    receiverList: asked.receiverList,
    dataSubjects: state.personalData?.dataSubjects,
    personalDataPayload: state.personalData?.payload,
    dataClassification: state.dataClassification,
    residency: state.residency,
    priority: asked.priority,
    deadline: asked.deadline,
    tokenBudget: asked.tokenBudget,
    replySchema: asked.replySchema,
    replySchemaRef: asked.replySchemaRef,
    requirements: asked.requirements,
    requiresApproval: asked.requiresApproval,
    expiresAt: asked.expiresAt,
    stream: state.stream,
    tracestate: state.tracestate,
    contextSnapshot: state.contextSnapshot,
    externalRef: state.externalRef,
    delegation: state.delegation,
  }
}

const NEWER_FIELDS = Object.keys(newerFields({} as AgentState, {}))

/** What the receiver looks for (E23); a sender that asks for an older version goes without. */
const pinnedFor = ({ schemaVersion = '2.2' }: HandoffConstraints, { pinned }: Compression) =>
  schemaVersion === '2.2' && pinned !== undefined ? { pinnedFacts: pinned } : {}

function lowestVersion(draft: Readonly<Record<string, unknown>>): '2.0' | '2.1' | '2.2' {
  if (draft['pinnedFacts'] !== undefined) return '2.2'
  return NEWER_FIELDS.some((field) => draft[field] !== undefined) ? '2.1' : '2.0'
}

/** The sender deducts what it cost, in whole micro-USD, so that the sum never drifts. */
function deduct({ spentSoFarUSD, budgetRemainingUSD, ownCostUSD, tokenSpent }: AgentCost) {
  const own = microUSD(ownCostUSD)
  if (!(own >= 0)) throw invalid([NEGATIVE_COST])
  return {
    costSpentSoFarUSD: usdFromMicro(microUSD(spentSoFarUSD) + own),
    costBudgetRemainingUSD: usdFromMicro(microUSD(budgetRemainingUSD) - own),
    tokenSpent,
  }
}

const NEGATIVE_COST: Detail = {
  pointer: '/cost/ownCostUSD',
  rule: 'minimum',
  message: 'an agent cannot cost less than nothing',
  fix: 'Give what the agent spent, zero or more US dollars.',
  expected: '>= 0',
}

interface Drafted {
  readonly draft: object
  readonly condense: Condense
}

function compress(
  state: Pick<AgentState, 'conversationHistory' | 'conversationHistorySummary'>,
  asked: HandoffConstraints,
  { draft, condense }: Drafted,
): Compression {
  const turns = state.conversationHistory ?? []
  const summary = state.conversationHistorySummary ?? ''
  const { receiverContextWindowTokens: windowTokens, compressionThreshold, verbatimTurns } = asked
  const asIs = { compressed: false, summary, verbatim: turns, turnsSummarised: 0 }
  if (windowTokens === undefined) return asIs
  const { turns: plainTurns, ...rest } = plainCopy({ ...draft, turns }, UNCOMPRESSED) as JsonObject
  // A conversation that is none is left for the schema to refuse.
  if (!isConversation(plainTurns) || typeof summary !== 'string') return asIs
  return compressContext(
    { turns: plainTurns, summary },
    {
      windowTokens,
      rest: JSON.stringify(rest),
      ...(compressionThreshold === undefined ? {} : { threshold: compressionThreshold }),
      ...(verbatimTurns === undefined ? {} : { verbatimTurns }),
      ...condense,
    },
  )
}

/** What is compressed afterwards may be larger than what is sent. */
const UNCOMPRESSED: Limits = { ...DEFAULT_LIMITS, itemsMax: 1_000_000, stringMax: 16_777_216 }

function isConversation(turns: unknown): turns is readonly Turn[] {
  const isTurn = (turn: Partial<Turn> | null) =>
    typeof turn?.role === 'string' && typeof turn.content === 'string'
  return Array.isArray(turns) && turns.every(isTurn)
}

/** A plain copy that satisfies the schema, and what every receiver checks beyond it, without the members that are undefined. */
function checked(draft: object): Pick<BuiltHandoff, 'message' | 'warnings'> {
  const schema = checkSchema(plainCopy(draft, DEFAULT_LIMITS))
  if (!schema.ok) throw invalid(schema.details)
  const inconsistent = checkConsistency(schema.message, {})
  if (inconsistent.length > 0) throw invalid(inconsistent)
  return schema
}

function plainCopy(value: object, limits: Limits): JsonValue {
  const copy = copyStrict(value, limits)
  if (!copy.ok) throw invalid([copy.detail])
  return copy.value
}

function invalid(details: readonly Detail[]): ProtocolError {
  const [first, ...rest] = details
  return new ProtocolError('BATON_HANDOFF_INVALID', [first ?? NEGATIVE_COST, ...rest])
}
