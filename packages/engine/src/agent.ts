// What an agent is to Baton: a type, a version, the state it needs, and one function.
import type {
  AgentRegistration,
  AgentState,
  HandoffMessage,
  JsonObject,
  JsonValue,
} from '@baton/protocol'
import type { JoinHandoff, NextHandoff, ToolCall, Turn } from '@baton/protocol/settlement'
import { BatonError } from '@baton/runtime'
import type { NotificationHooks } from './answer-notifications.ts'
import type { Chunk, CommittedChunk } from './decide/chunks.ts'

/** What one execution is given. Everything from other agents is data, never instructions (E22). */
export interface AgentContext {
  readonly message: HandoffMessage
  /** `message.currentState`; the keys the agent registered are present. */
  readonly state: JsonObject
  /**
   * Aborted when the lease is lost, the deadline passes, the handoff is canceled or the process drains.
   * After a cancellation the reason is a `HandoffCanceled`: a result before its `graceUntil` still counts.
   */
  readonly signal: AbortSignal
  readonly handoffId: string
  readonly taskId: string
  /** 1 for the first try; at most the handoff's attemptsMax. */
  readonly attempt: number
  /** The fencing token: rises whenever the handoff is claimed again. */
  readonly fencingToken: number
  readonly traceparent: string
  /** Stable over retries and take-overs: send it with every call that has an effect elsewhere (I4). */
  idempotencyKey(step: string): string
  /** The handoff's context for a prompt's user turn, fenced as data (E22). */
  renderContext(): string
  /**
   * Yields a part of the result to whoever reads the handoff's stream; resolves with its number once it is durable. Numbers
   * go on over all attempts: an attempt that begins anew emits the same chunks again, from 1, which are recognised; one that goes on gives
   * the number after the last committed chunk. Other bytes under a committed number fail the execution (BATON_CHUNK_CONFLICT).
   */
  emit(chunk: Chunk, seq?: number): Promise<number>
  /** What this and earlier attempts have committed after that number, in order: a page at a time, empty at the end. */
  committedChunks(after?: number): Promise<readonly CommittedChunk[]>
  /**
   * What came out of a branch that this handoff joins, whole: also where `state.branches` has no room for it, and says `cut`
   * instead. Undefined where nothing did.
   */
  branchResult(name: string): Promise<JsonValue | undefined>
}

/** The reason of `context.signal` after a cancellation: a result still counts until `graceUntil`. */
export class HandoffCanceled extends BatonError {
  /** By the database's clock. */
  readonly graceUntil: Date

  constructor(graceUntil: Date) {
    const until = graceUntil.toISOString()
    super('permanent', 'BATON_HANDOFF_CANCELED', `canceled; a result counts until ${until}`, {
      fix: 'Stop, or answer before then: what was done by that time is kept.',
    })
    this.graceUntil = graceUntil
  }
}

/** What one execution answers. Baton commits all of it in one transaction (I5). */
export interface AgentResult {
  readonly subtask: {
    readonly subtaskId: string
    readonly description: string
    readonly result: JsonValue
  }
  /** What was said in this execution, oldest first: it goes on after the turns of the message. */
  readonly conversation?: readonly Turn[]
  /** Tools that were called in this execution: they go on after those of the message. */
  readonly toolCalls?: readonly ToolCall[]
  /**
   * People whose data came in, and the data; they join those of the message. The answer is theirs too, also where nothing is
   * handed on: erasing one of them erases what it says. Where it names nobody, it belongs to the people of the message.
   */
  readonly personalData?: NonNullable<AgentState['personalData']>
  /** The next `currentState`. */
  readonly state: JsonObject
  readonly costUSD: number
  readonly tokens: { readonly prompt: number; readonly completion: number }
  /** The language model that was used; it stands in the audit record. One word of printable characters. */
  readonly model?: string
  /** How many chunks its stream has in all; up to the last that this execution emitted by default. */
  readonly chunks?: number
  /** Empty ends the task, or the branch. Several begin a branch each, and run at the same time. */
  readonly next: readonly NextHandoff[]
  /** What waits for those branches; without it the task has ended when all of them have. */
  readonly join?: JoinHandoff
  /** The task's outcome, where this was its last step. */
  readonly result?: JsonValue
  /**
   * What is left to do where only a part was done: the handoff ends PARTIAL, and what is left goes on with `next`, or
   * with a handoff to this agent type where `next` is empty, so that nothing is lost (S14).
   */
  readonly remaining?: HandoffMessage['remainingSubtasks']
}

/**
 * Throw `transient` to be tried again, `permanent` to roll the task back at once. The hooks answer for
 * what this agent type itself has sent on.
 */
export interface Agent extends AgentRegistration, NotificationHooks {
  execute(context: AgentContext): Promise<AgentResult>
  /** Ends what it holds, when the worker that hosts it has stopped. */
  close?(): void
}
