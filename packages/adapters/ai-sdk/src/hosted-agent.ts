// An agent of the AI SDK as an agent of Baton: it streams into the handoff's stream, its tokens cost the task, and an abort reaches the model.
import { defineConversationAgent } from '@baton/sdk'
import type { Agent, ConversationAgentOptions, ConversationTurn } from '@baton/sdk'
import type { LanguageModelUsage, ModelMessage } from 'ai'
import { fromModelMessages, toModelMessages } from './messages.ts'

/** What of an agent of the AI SDK is called, whichever its tools: a `ToolLoopAgent`, or one of your own. */
interface StreamingAgent {
  stream(options: {
    readonly messages: ModelMessage[]
    readonly abortSignal: AbortSignal
  }): PromiseLike<{
    readonly stream: AsyncIterable<{ readonly type: string }>
    readonly usage: PromiseLike<LanguageModelUsage>
    readonly response: PromiseLike<{ readonly modelId: string }>
    readonly responseMessages: PromiseLike<readonly ModelMessage[]>
  }>
}

export interface HostedAgentOptions extends ConversationAgentOptions {
  /** An agent, or what makes one for each execution, with tools that hand over by `turn.handOver` or need its context. */
  readonly agent: StreamingAgent | ((turn: ConversationTurn) => StreamingAgent)
}

/** Throws BATON_AGENT_INVALID as `defineAgent`. What the model throws is tried again. */
export function hostAiSdkAgent({ agent, ...options }: HostedAgentOptions): Agent {
  return defineConversationAgent(options, async (turn) => {
    const own = typeof agent === 'function' ? agent(turn) : agent
    const { signal } = turn.context
    const streamed = await own.stream({
      messages: toModelMessages(turn.messages),
      abortSignal: signal,
    })
    for await (const part of streamed.stream) {
      if (part.type === 'text-delta' && 'text' in part) turn.say(String(part.text))
      if (part.type === 'error' && 'error' in part) throw part.error
    }
    signal.throwIfAborted()
    const [usage, response, messages] = await Promise.all([
      streamed.usage,
      streamed.response,
      streamed.responseMessages,
    ])
    return {
      messages: fromModelMessages(messages),
      usage: {
        prompt: usage.inputTokens ?? 0,
        completion: usage.outputTokens ?? 0,
        model: response.modelId,
      },
    }
  })
}
