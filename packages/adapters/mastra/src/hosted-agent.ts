// An agent of Mastra as an agent of Baton: it streams into the handoff's stream, its tokens cost the task, and an abort reaches the model.
import { defineConversationAgent } from '@baton/sdk'
import type { Agent as BatonAgent, ConversationAgentOptions, ConversationTurn } from '@baton/sdk'
import type { MastraDBMessage } from '@mastra/core/agent'
import { fromMastra, toMastra } from './messages.ts'

/** What of an `Agent` is called, whatever its tools and its output. */
interface StreamingAgent {
  stream(
    messages: never,
    options: never,
  ): PromiseLike<{
    readonly fullStream: unknown
    readonly error: Error | undefined
    readonly totalUsage: PromiseLike<{
      readonly inputTokens?: number | undefined
      readonly outputTokens?: number | undefined
    }>
    readonly response: PromiseLike<{
      readonly modelId?: string | undefined
      readonly dbMessages?: readonly MastraDBMessage[] | undefined
    }>
  }>
}

export interface HostedAgentOptions extends ConversationAgentOptions {
  /** An `Agent`, or what makes one for each execution, with tools that hand over by `turn.handOver` or need its context. */
  readonly agent: StreamingAgent | ((turn: ConversationTurn) => StreamingAgent)
  /** How often the model is asked at most; what Mastra takes by default. */
  readonly maxSteps?: number
}

/** What ends an execution whose answer would wait for somebody. */
const WAITING: ReadonlySet<string> = new Set(['tool-call-approval', 'tool-call-suspended'])

/** Throws BATON_AGENT_INVALID as `defineAgent`. What the model throws is tried again; a tool that is suspended or waits for an approval fails with BATON_AGENT_INTERRUPTED. */
export function hostMastraAgent({ agent, maxSteps, ...options }: HostedAgentOptions): BatonAgent {
  return defineConversationAgent(options, async (turn) => {
    const own = typeof agent === 'function' ? agent(turn) : agent
    const { signal } = turn.context
    const streamed = await own.stream(
      toMastra(turn.messages) as never,
      { abortSignal: signal, ...(maxSteps === undefined ? {} : { maxSteps }) } as never,
    )
    let interrupted = false
    for await (const { type, payload } of streamed.fullStream as AsyncIterable<Chunk>) {
      if (type === 'text-delta') turn.say(payload.text ?? '')
      if (type === 'error' && payload.error !== undefined) throw payload.error
      if (WAITING.has(type)) interrupted = true
    }
    signal.throwIfAborted()
    if (streamed.error !== undefined) throw streamed.error
    const [usage, response] = await Promise.all([streamed.totalUsage, streamed.response])
    return {
      messages: fromMastra(response.dbMessages ?? []),
      usage: {
        prompt: usage.inputTokens ?? 0,
        completion: usage.outputTokens ?? 0,
        model: response.modelId,
      },
      interrupted,
    }
  })
}

/** What is read of Mastra's chunks. */
interface Chunk {
  readonly type: string
  readonly payload: { readonly text?: string; readonly error?: Error }
}
