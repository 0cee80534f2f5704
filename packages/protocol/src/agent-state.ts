// What a sending agent says about its execution, and what it asks of the receiver.
import type {
  CompletedSubtask,
  ContextExcerpt,
  ContextSnapshot,
  Delegation,
  ExternalReference,
  HandoffMessage as Handoff22,
  Receiver,
  RemainingSubtask,
  Requirements,
  Residency,
  StreamChunk,
  TokenCount,
  ToolCall,
  Turn,
} from './generated/handoff.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { JoinHandoff } from './settlement.ts'

/** What an agent knows at the end of its execution; all the builder needs besides the target. */
export interface AgentState {
  /** UUID version 4; the same on every hop of the task. */
  readonly taskId: string
  /** Defaults to a fresh UUID; give it, and `timestamp`, to make the builder a pure function. */
  readonly handoffId?: string
  /** The handoff that brought the task here; null or absent on the first one. */
  readonly parentHandoffId?: string | null
  /** RFC 3339; defaults to now. */
  readonly timestamp?: string
  /** The agent that ran; the execution id defaults to a fresh UUID. */
  readonly agent: {
    readonly agentId: string
    readonly agentVersion: string
    readonly executionId?: string
  }
  /** What the receiver shall do; `INITIAL` on a first handoff without work done. */
  readonly taskDescription: string
  readonly completedSubtasks: readonly CompletedSubtask[]
  readonly remainingSubtasks: readonly RemainingSubtask[]
  readonly currentState: JsonObject
  readonly relevantContext?: readonly ContextExcerpt[]
  /** The whole conversation, oldest turn first; the builder compresses it when it is too long. */
  readonly conversationHistory?: readonly Turn[]
  /** The summary that this agent was itself given. */
  readonly conversationHistorySummary?: string
  readonly toolCallHistory?: readonly ToolCall[]
  readonly cost: AgentCost
  /** W3C traceparent of the span that sends. */
  readonly traceparent: string
  readonly tracestate?: string
  /** Data about people: opaque subject ids, and the data keyed by JSON pointer (E26). */
  readonly personalData?: {
    readonly dataSubjects: readonly string[]
    readonly payload: JsonObject
  }
  readonly dataClassification?: NonNullable<Handoff22['dataClassification']>
  readonly residency?: Residency
  readonly stream?: StreamChunk
  readonly contextSnapshot?: ContextSnapshot
  readonly externalRef?: ExternalReference
  readonly delegation?: Delegation
  /** Private fields that travel with the message. */
  readonly extensions?: { readonly [name: `x-${string}`]: JsonValue }
}

/** The budget as the agent received it, and what the agent itself cost (E20). */
export interface AgentCost {
  /** US dollars spent by the task before this agent ran. */
  readonly spentSoFarUSD: number
  /** US dollars left before this agent ran. */
  readonly budgetRemainingUSD: number
  /** US dollars this agent cost; the builder deducts them. */
  readonly ownCostUSD: number
  /** Tokens this agent used. */
  readonly tokenSpent: TokenCount
}

/** What the sender asks of the receiver and of the delivery. */
export interface HandoffConstraints {
  /** The message's `constraints`, by convention `key:value`. */
  readonly list?: readonly string[]
  /** Which versions of the target agent type may receive it. */
  readonly agentVersion?: string
  /** 0 critical, 1 high, 2 medium, 3 low. */
  readonly priority?: number
  /** RFC 3339: when the work must be done. */
  readonly deadline?: string
  /** RFC 3339: when an unaccepted handoff expires. */
  readonly expiresAt?: string
  readonly requiresApproval?: boolean
  readonly tokenBudget?: number
  readonly replySchema?: NonNullable<Handoff22['replySchema']>
  readonly replySchemaRef?: string
  readonly requirements?: Requirements
  /** All receivers of a fan-out, its target among them: each gets a full copy as a branch of its own (E28). */
  readonly receiverList?: readonly Receiver[]
  /** What waits for those branches; the task ends with the last of them by default. */
  readonly join?: JoinHandoff
  /** Defaults to the lowest version that carries the fields in use. */
  readonly schemaVersion?: '2.0' | '2.1' | '2.2'
  /** Size of the receiver's context window; without it nothing is compressed. */
  readonly receiverContextWindowTokens?: number
  /** The part of that window the message may fill; 0.8 by default. */
  readonly compressionThreshold?: number
  /** How many of the latest turns stay word for word; 5 by default. */
  readonly verbatimTurns?: number
}
