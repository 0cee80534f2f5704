// A graph of LangGraph as an agent of Baton: it goes on from its checkpoint after a crash, streams, costs the task its tokens, and stops with its handoff.
import { randomUUID } from 'node:crypto'
import { defineConversationAgent, jsonOf } from '@baton/sdk'
import type { Agent, ConversationAgentOptions, ConversationTurn, JsonValue } from '@baton/sdk'
import { AIMessageChunk, isBaseMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { isInterrupted } from '@langchain/langgraph'
import { handedOverIn } from './handed-over.ts'
import { fromLangChain, toLangChain } from './messages.ts'

type State = Readonly<Record<string, unknown>>

/** What of a compiled graph is called, whatever its state. */
interface StreamingGraph {
  readonly checkpointer?: unknown
  stream(input: never, options: never): PromiseLike<AsyncIterable<unknown>>
  getState(
    config: never,
  ): PromiseLike<{ readonly values: unknown; readonly next: readonly string[] }>
}

export interface HostedGraphOptions extends ConversationAgentOptions {
  /** A compiled graph, or what makes one for each execution, with nodes that hand over by `turn.handOver` or need its context. */
  readonly graph: StreamingGraph | ((turn: ConversationTurn) => StreamingGraph)
  /** The state that it starts from; `{ messages }` by default. */
  readonly input?: (turn: ConversationTurn, messages: readonly BaseMessage[]) => State
  /** Its answer; the text of the last AI message by default. */
  readonly result?: (state: State) => unknown
}

/**
 * Throws BATON_AGENT_INVALID as `defineAgent`. With a checkpointer that outlives the process, an attempt after a crash goes on where the last one was: the thread
 * is the handoff. What a node throws is tried again; a graph that waits for a person fails with BATON_AGENT_INTERRUPTED.
 */
export function hostLangGraph({ graph, input, result, ...options }: HostedGraphOptions): Agent {
  return defineConversationAgent(options, async (turn) => {
    const own = typeof graph === 'function' ? graph(turn) : graph
    const { signal, handoffId } = turn.context
    const given = toLangChain(turn.messages).map(withId)
    const config = {
      configurable: { thread_id: handoffId },
      signal,
      streamMode: ['messages', 'values'],
    }
    const standing = await standingOf(own, config)
    let state: State = standing?.values ?? {}
    if (standing?.isOver !== true) {
      const start = standing === undefined ? (input?.(turn, given) ?? { messages: given }) : null
      for await (const one of await own.stream(start as never, config as never)) {
        const [mode, chunk] = one as readonly ['messages' | 'values', unknown]
        if (mode === 'values') state = chunk as State
        else sayIfSaid(chunk, turn)
      }
    }
    signal.throwIfAborted()
    const said = messagesIn(state).filter(({ id }) => !isGiven(id))
    // Also what a node of an earlier attempt handed over, whose checkpoint this one went on from.
    for (const request of handedOverIn(said)) await turn.handOver(request)
    return {
      messages: fromLangChain(said),
      usage: usageOf(said),
      interrupted: isInterrupted(state),
      ...(result === undefined ? {} : { result: jsonOf(result(state), 'the result of the graph') }),
    }
  })
}

/** By their ids what came in is told from what was said, also from a checkpoint. */
const GIVEN = 'baton-given-'
const isGiven = (id: string | undefined): boolean => id?.startsWith(GIVEN) === true

function withId(message: BaseMessage): BaseMessage {
  message.id = `${GIVEN}${randomUUID()}`
  return message
}

interface Standing {
  readonly values: State
  /** Nothing of it is left to run. */
  readonly isOver: boolean
}

/** What a checkpoint of an earlier attempt holds. */
async function standingOf(graph: StreamingGraph, config: object): Promise<Standing | undefined> {
  if (typeof graph.checkpointer !== 'object' || graph.checkpointer === null) return undefined
  const { values, next } = await graph.getState(config as never)
  if (typeof values !== 'object' || values === null || Object.keys(values).length === 0)
    return undefined
  return { values: values as State, isOver: next.length === 0 }
}

/** A message and where it comes from; models say it piece by piece. */
function sayIfSaid(chunk: unknown, { say }: ConversationTurn): void {
  const [message] = chunk as readonly unknown[]
  if (AIMessageChunk.isInstance(message)) say(message.text)
}

const messagesIn = ({ messages }: State): readonly BaseMessage[] =>
  Array.isArray(messages) ? messages.filter((one): one is BaseMessage => isBaseMessage(one)) : []

/** What a chat model says of its answer. */
interface Answered {
  readonly usage_metadata?: { readonly input_tokens: number; readonly output_tokens: number }
  readonly response_metadata?: { readonly model_name?: string }
}

function usageOf(messages: readonly BaseMessage[]) {
  let [prompt, completion] = [0, 0]
  let model: JsonValue | undefined
  for (const message of messages) {
    if (message.type !== 'ai') continue
    const { usage_metadata: usage, response_metadata: response } = message as unknown as Answered
    prompt += usage?.input_tokens ?? 0
    completion += usage?.output_tokens ?? 0
    model = response?.model_name ?? model
  }
  return { prompt, completion, model: typeof model === 'string' ? model : undefined }
}
