// Generated from the schemas by generate-types.ts; do not edit.
import type { JsonObject, JsonValue } from '../json.ts'

/**
 * UUID version 4 in lower case.
 */
export type Uuid = string
/**
 * An identifier chosen by people: not empty, no control characters.
 */
export type Name = string
/**
 * A semantic version 2.0.0.
 */
export type Version = string
/**
 * A semantic version range, such as >=1.5.0.
 */
export type VersionRange = string
/**
 * RFC 3339 date and time with seconds and a zone, at most nine fraction digits.
 */
export type DateTime = string
/**
 * Each fact in plain form (lower case, any white space as one space, without .;!? at its end) as the first 8 hex digits of its SHA-256.
 */
export type FactDigests = string[]

/**
 * A handoff between two agents, version 2.2: everything of 2.1, and the facts that its compression had to keep.
 */
export interface HandoffMessage {
  /**
   * Version of this schema: major 2, any minor.
   */
  schemaVersion: string
  handoffId: Uuid
  taskId: Uuid
  /**
   * The handoff that brought the task to the sender; null on the first one.
   */
  parentHandoffId: Uuid | null
  fromAgent: AgentIdentity
  toAgent: AgentTarget
  timestamp: DateTime
  /**
   * What the receiver shall do; the literal INITIAL marks a first handoff without work done.
   */
  taskDescription: string
  /**
   * What is done.
   */
  completedSubtasks: CompletedSubtask[]
  /**
   * What is left.
   */
  remainingSubtasks: RemainingSubtask[]
  /**
   * The working state; which keys must be here is registered by the receiving agent type.
   */
  currentState: JsonObject
  /**
   * Source material the receiver needs.
   */
  relevantContext: ContextExcerpt[]
  /**
   * Rules for the receiver, by convention key:value.
   */
  constraints: string[]
  costTracking: CostTracking
  /**
   * Condensed older conversation; may be empty.
   */
  conversationHistorySummary: string
  /**
   * The most recent turns, word for word.
   */
  conversationHistoryVerbatim: Turn[]
  /**
   * Tool calls made so far.
   */
  toolCallHistory: ToolCall[]
  /**
   * W3C trace context, version 00, ids not zero.
   */
  traceparent: string
  /**
   * HMAC-SHA-256 over the RFC 8785 form of the message without this field.
   */
  signature?: string
  signatureKeyId?: Name
  /**
   * All receivers of a fan-out; each gets a full copy.
   */
  receiverList?: Receiver[]
  /**
   * Opaque ids of the people whose data travels; never an e-mail address.
   */
  dataSubjects?: string[]
  /**
   * Personal data kept apart from the message, keyed by the JSON pointer of the place it belongs to. With several data subjects, each entry is an object whose member subject names the one it belongs to.
   */
  personalDataPayload?: JsonObject
  /**
   * How sensitive the content is.
   */
  dataClassification?: 'public' | 'internal' | 'confidential' | 'restricted'
  residency?: Residency
  /**
   * 0 critical, 1 high, 2 medium, 3 low.
   */
  priority?: number
  deadline?: DateTime
  /**
   * Tokens the receiver may use.
   */
  tokenBudget?: number
  /**
   * What shape of answer is wanted.
   */
  replySchema?: 'prose' | 'structured' | 'json'
  /**
   * Where the schema of the answer is.
   */
  replySchemaRef?: string
  requirements?: Requirements
  /**
   * True when a person must approve before anything executes.
   */
  requiresApproval?: boolean
  expiresAt?: DateTime
  stream?: StreamChunk
  /**
   * W3C tracestate that belongs to traceparent.
   */
  tracestate?: string
  contextSnapshot?: ContextSnapshot
  externalRef?: ExternalReference
  delegation?: Delegation
  pinnedFacts?: PinnedFacts
}
/**
 * The sending agent.
 */
export interface AgentIdentity {
  agentId: Name
  agentVersion: Version
  executionId: Uuid
}
/**
 * The receiving agent type.
 */
export interface AgentTarget {
  agentType: Name
  agentVersion?: VersionRange
}
/**
 * A piece of work that is finished.
 */
export interface CompletedSubtask {
  subtaskId: Name
  /**
   * What was done.
   */
  description: string
  /**
   * What came out of it; any JSON.
   */
  result?: JsonValue
  completedAt: DateTime
}
/**
 * A piece of work that is still to be done.
 */
export interface RemainingSubtask {
  subtaskId: Name
  /**
   * What is left to do.
   */
  description: string
}
/**
 * A piece of source material the receiver needs.
 */
export interface ContextExcerpt {
  /**
   * Where the excerpt comes from.
   */
  source: string
  /**
   * The text itself.
   */
  excerpt: string
  /**
   * How much it matters, from 0 to 1.
   */
  relevanceScore?: number
}
/**
 * The running cost of the task, carried along and deducted on every hop.
 */
export interface CostTracking {
  /**
   * US dollars the task has cost so far, the sender's own cost included.
   */
  costSpentSoFarUSD: number
  /**
   * US dollars left after the sender's own cost. Zero and less are legal here, so that an exhausted budget is told from a broken message.
   */
  costBudgetRemainingUSD: number
  tokenSpent: TokenCount
}
/**
 * Tokens the sending agent used.
 */
export interface TokenCount {
  /**
   * Tokens read by the model.
   */
  prompt: number
  /**
   * Tokens written by the model.
   */
  completion: number
}
/**
 * One turn of the conversation.
 */
export interface Turn {
  /**
   * Who spoke: user, assistant, system, tool, or another role.
   */
  role: string
  /**
   * What was said.
   */
  content: string
  timestamp?: DateTime
  /**
   * Name of the speaker or of the tool.
   */
  name?: string
  /**
   * The tool call this turn answers.
   */
  tool_call_id?: string
  /**
   * Anything else the framework keeps with a turn.
   */
  metadata?: JsonObject
}
/**
 * A tool call made on the way.
 */
export interface ToolCall {
  /**
   * Name of the tool.
   */
  tool: string
  calledAt: DateTime
  /**
   * SHA-256 of the input, so that the input itself need not travel.
   */
  inputHash: string
  /**
   * Size of the answer in tokens.
   */
  outputTokens?: number
}
/**
 * One receiver of a fan-out.
 */
export interface Receiver {
  agentType: Name
  agentVersion?: VersionRange
  executionId?: Uuid
}
/**
 * Where the data may be processed.
 */
export interface Residency {
  /**
   * ISO 3166-1 alpha-2 code in capitals, or EU, where the data must stay.
   */
  jurisdiction: string
  /**
   * The legal ground for processing elsewhere.
   */
  transferMechanism: 'none' | 'adequacy' | 'scc' | 'bcr' | 'derogation'
}
/**
 * What the receiver must have before it starts.
 */
export interface Requirements {
  /**
   * MCP servers that must be reachable.
   */
  mcp?: Name[]
  /**
   * Capabilities the receiver must have.
   */
  capabilities?: Name[]
}
/**
 * Place of this message in a streamed handoff.
 */
export interface StreamChunk {
  streamId: Uuid
  /**
   * Position in the stream, from 0.
   */
  sequence: number
  /**
   * True on the last chunk.
   */
  final: boolean
  /**
   * True once the receiver may start.
   */
  minimumViable: boolean
  /**
   * How many chunks there are, once known.
   */
  totalChunks?: number
}
/**
 * Opaque context of another protocol, forwarded byte for byte.
 */
export interface ContextSnapshot {
  /**
   * How bytes is encoded.
   */
  encoding: 'base64' | 'gzip+base64'
  /**
   * Media type of the decoded bytes.
   */
  mediaType: string
  /**
   * The opaque bytes.
   */
  bytes: string
  /**
   * SHA-256 of the decoded bytes in hex.
   */
  sha256: string
}
/**
 * What the handoff is called outside.
 */
export interface ExternalReference {
  protocol: Name
  /**
   * Its identity there.
   */
  id: string
}
/**
 * How deep the chain is and may become.
 */
export interface Delegation {
  /**
   * How many handoffs lie before this one.
   */
  depth: number
  /**
   * How many there may be.
   */
  maxDepth: number
}
/**
 * What the sender's compression of the conversation had to keep, so that the receiver can look whether it was kept.
 */
export interface PinnedFacts {
  decisions?: FactDigests
  constraints?: FactDigests
  warnings?: FactDigests
  values?: FactDigests
}
