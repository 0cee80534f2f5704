// An agent of the OpenAI Agents SDK as an agent of Baton: it streams into the handoff's stream, its tokens cost the task, and an abort reaches the model.
import { defineConversationAgent, jsonOf } from '@baton/sdk'
import type { Agent as BatonAgent, ConversationAgentOptions, ConversationTurn } from '@baton/sdk'
import { Runner } from '@openai/agents'
import { fromItems, toItems } from './items.ts'

/** Any `Agent`: its output and its context are its own affair. */
type AnyAgent = Parameters<Runner['run']>[0]

export interface HostedAgentOptions extends ConversationAgentOptions {
  /** An `Agent`, or what makes one for each execution, with handoffs by `turn.handOver` or tools that need its context. */
  readonly agent: AnyAgent | ((turn: ConversationTurn) => AnyAgent)
  /** By default one whose traces go nowhere: that of the framework sends them, with what was said, to OpenAI. */
  readonly runner?: Runner
  /** How often the model is asked at most; 10 by default. */
  readonly maxTurns?: number
}

/** Throws BATON_AGENT_INVALID as `defineAgent`. What the model throws is tried again; a tool that waits for an approval fails with BATON_AGENT_INTERRUPTED. */
export function hostOpenAIAgent(options: HostedAgentOptions): BatonAgent {
  const { agent, runner = new Runner({ tracingDisabled: true }), maxTurns, ...defined } = options
  return defineConversationAgent(defined, async (turn) => {
    const own = typeof agent === 'function' ? agent(turn) : agent
    const { signal } = turn.context
    const streamed = await runner.run(own, toItems(turn.messages), {
      stream: true,
      signal,
      ...(maxTurns === undefined ? {} : { maxTurns }),
    })
    for await (const text of streamed.toTextStream()) turn.say(text)
    await streamed.completed
    signal.throwIfAborted()
    const { usage } = streamed.runContext
    const { model } = streamed.lastAgent ?? own
    const interrupted = streamed.interruptions.length > 0
    const output: unknown = interrupted ? undefined : streamed.finalOutput
    return {
      messages: fromItems(streamed.output),
      usage: {
        prompt: usage.inputTokens,
        completion: usage.outputTokens,
        model: typeof model === 'string' && model !== '' ? model : undefined,
      },
      interrupted,
      ...(output === undefined ? {} : { result: jsonOf(output, 'the output of the agent') }),
    }
  })
}
