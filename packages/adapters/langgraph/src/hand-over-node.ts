// A node of LangGraph that hands the thread's work to an agent of Baton: sent durably, waited for in the node or, over restarts, at an interrupt.
import { completedResult } from '@baton/sdk'
import type {
  HandedOver,
  HandOver,
  HandOverRequest,
  JsonValue,
  Sender,
  TaskOutcome,
} from '@baton/sdk'
import { AIMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { Command, interrupt } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { handedOverMessage } from './handed-over.ts'
import { fromLangChain } from './messages.ts'

/** A state with messages, as MessagesAnnotation has them; whatever else it has is the program's own. */
interface WithMessages {
  readonly messages?: readonly BaseMessage[]
}

export interface HandOverNodeOptions<State extends WithMessages> {
  /** Of `createHandOver`, or what a graph hosted by Baton is given. */
  readonly handOver: HandOver
  /** The agent type that takes over. */
  readonly to: string
  /** What it shall do, in words; "Go on with this conversation." by default. */
  readonly task?: string | ((state: State) => string)
  /**
   * What makes it the same handoff after a crash. By default the thread and the checkpoint that the node started from: a graph with a checkpointer that goes on
   * after a crash starts the node from the same one. Without a checkpointer give an id of your own request.
   */
  readonly key?: string | ((state: State, config: LangGraphRunnableConfig) => string)
  /**
   * Where the outcome is waited for: in the node, for as long as `handOver` waits, by default; at an `interrupt`, whose program resumes the thread with
   * `resumeHandedOver`, days later or from another process; or nowhere.
   */
  readonly wait?: 'node' | 'interrupt' | 'no'
  /** The update of the state that the result makes; an AI message with it by default. */
  readonly update?: (result: JsonValue, state: State) => Record<string, unknown>
  /** Where the graph goes on: then the node answers a `Command`. */
  readonly goto?: string
  /** What of the state goes into `currentState`; nothing by default. */
  readonly state?: (state: State) => HandOverRequest['state']
  readonly constraints?: HandOverRequest['constraints']
}

/** What an interrupt of such a node says. */
interface Waiting {
  readonly baton: { readonly taskId: string; readonly to: string }
}

const TASK = 'Go on with this conversation.'

/** Throws in the node what `handOver` throws, and BATON_TASK_NOT_COMPLETED or BATON_TASK_UNFINISHED where there is no result. */
export function handOverNode<State extends WithMessages>(options: HandOverNodeOptions<State>) {
  const { handOver, to, task = TASK, wait = 'node', goto, constraints } = options
  return async (
    state: State,
    config: LangGraphRunnableConfig,
  ): Promise<Record<string, unknown> | Command> => {
    const own = options.state?.(state)
    const request = {
      key: keyOf(options, state, config),
      to,
      task: typeof task === 'function' ? task(state) : task,
      messages: fromLangChain(state.messages ?? []),
      signal: config.signal,
      ...(wait === 'node' ? {} : { waitMs: 0 }),
      ...(own === undefined ? {} : { state: own }),
      ...(constraints === undefined ? {} : { constraints }),
    }
    const handed = await handOver(request)
    const isHosted = handed.handoffId === undefined
    const outcome = wait === 'interrupt' && !isHosted ? answered(handed, to) : handed.outcome
    const update = isHosted
      ? { messages: [handedOverMessage(request)] }
      : outcome === undefined
        ? {}
        : (options.update ?? asMessage)(completedResult({ ...handed, outcome }), state)
    return goto === undefined ? update : new Command({ update, goto })
  }
}

/** The first time it stops the graph here; when it is resumed, it answers the outcome. */
const answered = ({ taskId }: HandedOver, to: string): TaskOutcome =>
  interrupt<Waiting, TaskOutcome>({ baton: { taskId, to } })

const asMessage = (result: JsonValue) => ({
  messages: [new AIMessage(typeof result === 'string' ? result : JSON.stringify(result))],
})

function keyOf<State extends WithMessages>(
  { key }: HandOverNodeOptions<State>,
  state: State,
  config: LangGraphRunnableConfig,
): string {
  if (typeof key === 'function') return key(state, config)
  const { thread_id: thread = '', checkpoint_ns: place = '' } = (config.configurable ?? {}) as Place
  return key ?? `${thread}/${place}`
}

interface Place {
  readonly thread_id?: string
  /** The node, and the checkpoint that it started from as a UUID. */
  readonly checkpoint_ns?: string
}

/** What of a compiled graph is needed to find what it waits for. */
interface Resumable {
  getState(config: LangGraphRunnableConfig): Promise<{
    readonly tasks: readonly {
      readonly interrupts: readonly { readonly id?: string; readonly value?: unknown }[]
    }[]
  }>
}

/** It goes nowhere and changes nothing by itself, so every graph takes it. */
type Resuming = Command<Record<string, TaskOutcome>, Record<string, never>, never>

export interface ResumeOptions {
  readonly sender: Pick<Sender, 'outcome'>
  /** How long each outcome is waited for; 60 s by default. */
  readonly waitMs?: number
  readonly signal?: AbortSignal
}

/**
 * Waits for everything that a thread has handed over with `wait: 'interrupt'`, and answers the `Command` that resumes it; undefined where it waits for nothing
 * of Baton, or where something goes on longer than `waitMs`.
 */
export async function resumeHandedOver(
  graph: Resumable,
  config: LangGraphRunnableConfig,
  { sender, waitMs, signal }: ResumeOptions,
): Promise<Resuming | undefined> {
  const { tasks } = await graph.getState(config)
  const waiting = tasks
    .flatMap(({ interrupts }) => interrupts)
    .flatMap(({ id, value }) =>
      id !== undefined && isWaiting(value) ? [[id, value.baton.taskId] as const] : [],
    )
  const outcomes = await Promise.all(
    waiting.map(
      async ([id, taskId]) => [id, await sender.outcome(taskId, { waitMs, signal })] as const,
    ),
  )
  if (outcomes.length === 0 || outcomes.some(([, { ended }]) => !ended)) return undefined
  return new Command({ resume: Object.fromEntries(outcomes) })
}

const isWaiting = (value: unknown): value is Waiting =>
  typeof value === 'object' && value !== null && 'baton' in value
