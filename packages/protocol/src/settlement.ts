// What an agent outside answers for one execution.
import type { AgentState } from './agent-state.ts'
import { createDocumentCheck } from './document-check.ts'
import type { ToolCall, Turn } from './generated/handoff.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { joinSchema, settlementSchema } from './settlement-schema.ts'
import { UUID_PATTERN } from './uuid.ts'

export type { ToolCall, Turn } from './generated/handoff.ts'
export { joinSchema, MODEL_PATTERN, settlementSchema } from './settlement-schema.ts'

interface Work {
  readonly result?: JsonValue
  readonly subtask?: {
    readonly subtaskId: string
    readonly description: string
    readonly result: JsonValue
  }
  /** What was said in this execution, oldest first: it goes on after the turns of the message. */
  readonly conversation?: readonly Turn[]
  /** Tools that were called in this execution. */
  readonly toolCalls?: readonly ToolCall[]
  /**
   * People whose data came in, and the data; they join those of the message. The answer is theirs too, also where nothing is
   * handed on: erasing one of them erases what it says. Where it names nobody, it belongs to the people of the message.
   */
  readonly personalData?: NonNullable<AgentState['personalData']>
  readonly state?: JsonObject
  readonly costUSD?: number
  readonly tokens?: { readonly prompt: number; readonly completion: number }
  /** The language model that was used; it stands in the audit record. */
  readonly model?: string
  /** How many chunks its stream has in all; none by default. */
  readonly chunks?: number
  readonly next?: readonly NextHandoff[]
  readonly join?: JoinHandoff
}

/**
 * Work passed on to another agent. Context, remaining subtasks, constraints, priority, deadline, expiry, the shape of the answer, the reference outside
 * and `x-` fields carry over from the received message where they are left out; version range, requirements, approval and token budget are asked for anew.
 * Whose data it is, its classification and its residency always carry over, and may only become stricter; the depth of delegation is counted.
 */
export interface NextHandoff {
  readonly to: string
  /** Of several: the name of its branch; its agent type by default. */
  readonly branch?: string
  /** Of several: what its branch may cost, in US dollars; an equal part of what is left by default. */
  readonly budgetUSD?: number
  /** Semantic version range the receiver must satisfy. */
  readonly agentVersion?: string
  readonly taskDescription: string
  readonly remainingSubtasks?: HandoffMessage['remainingSubtasks']
  readonly constraints?: readonly string[]
  readonly relevantContext?: HandoffMessage['relevantContext']
  /** 0 only where the received message has it; 1 where it has not. */
  readonly priority?: 0 | 1 | 2 | 3
  /** Holds it until a person has approved; nothing of it executes before (R13). */
  readonly requiresApproval?: boolean
  /** RFC 3339; what is left out carries over. Nothing is accepted after the earlier of both, and nothing executes after the deadline (S12, R16). */
  readonly deadline?: string
  readonly expiresAt?: string
  /** What the receiver must have (S18); required of this receiver only, so nothing carries over. */
  readonly requirements?: NonNullable<HandoffMessage['requirements']>
  /** Tokens that this receiver may use. */
  readonly tokenBudget?: number
  /** What shape of answer is wanted, and where its schema is. */
  readonly replySchema?: NonNullable<HandoffMessage['replySchema']>
  readonly replySchemaRef?: string
  /** As sensitive as before, or more (BATON_LABEL_LOWERED). */
  readonly dataClassification?: NonNullable<HandoffMessage['dataClassification']>
  /** The same place or one within it, and no transfer where there was none (BATON_LABEL_LOWERED). */
  readonly residency?: NonNullable<HandoffMessage['residency']>
  readonly externalRef?: NonNullable<HandoffMessage['externalRef']>
  /** Private fields; those of the message that are not named here carry over. */
  readonly extensions?: { readonly [name: `x-${string}`]: JsonValue }
  /** How the conversation is compressed: for a window of so many tokens, which the receiver registered by default. */
  readonly receiverContextWindowTokens?: number
  /** The part of that window that the message may fill; 0.8 by default. */
  readonly compressionThreshold?: number
  /** How many of the latest turns stay word for word; 5 by default. */
  readonly verbatimTurns?: number
}

/**
 * What waits for the branches that `next` begins. It gets what came out of each in `currentState.branches`, by the names of
 * the branches, and the part of the budget that they left over.
 */
export interface JoinHandoff extends Omit<NextHandoff, 'branch'> {
  /** How many branches must have completed: all by default. The others are canceled then. */
  readonly waitFor?: 'all' | 'any' | number
  /**
   * What becomes of it when a branch ends without a result: `wait` until a person has taken it up again or canceled it,
   * `skip` it and go on without, or `fail` the task. `wait` by default.
   */
  readonly onFailure?: 'wait' | 'skip' | 'fail'
}

/** How an execution ended, in the words of the HTTP interface; beside it stands which execution it was. */
export type Settlement =
  | ({ readonly outcome: 'complete' } & Work)
  | ({
      readonly outcome: 'partial'
      readonly remaining: HandoffMessage['remainingSubtasks']
    } & Work)
  | { readonly outcome: 'fail'; readonly code: string; readonly retry?: boolean }
  | { readonly outcome: 'reject'; readonly code: string }
  | { readonly outcome: 'blocked'; readonly unmet: readonly string[] }

/** The members that say which execution is settled. */
export interface SettledExecution {
  readonly handoffId: string
  readonly fencingToken: number
}

/** Reads what a sender's branches shall be joined by. */
export const readJoin = createDocumentCheck<JoinHandoff>(joinSchema)

/** Reads the answer to a push: it may name the execution, and need not. */
export const readSettlement = createDocumentCheck<Settlement & Partial<SettledExecution>>(
  settlementSchema(
    {
      handoffId: { type: 'string', pattern: UUID_PATTERN },
      fencingToken: { type: 'integer', minimum: 1 },
    },
    [],
  ),
)
