// A tool of the AI SDK with which a model hands its work to an agent of Baton: durable before the tool answers.
import { answerOf } from '@baton/sdk'
import type { HandOver, HandOverAnswer, HandOverRequest } from '@baton/sdk'
import { jsonSchema, tool } from 'ai'
import type { Tool } from 'ai'
import { fromModelMessages } from './messages.ts'

export interface HandOverToolOptions {
  /** Of `createHandOver`, or what an agent hosted by Baton is given. */
  readonly handOver: HandOver
  /** The agent type that takes over. */
  readonly to: string
  /** When the model shall hand over, in words for it. */
  readonly description?: string
  /**
   * What makes it the same handoff after a crash. The id of the tool call by default: it is the same where your program goes on from messages that it
   * saved, and another one where the model is asked anew; then give an id of your own request.
   */
  readonly key?: string | ((call: { readonly toolCallId: string; readonly task: string }) => string)
  /** More of what the receiver finds in `currentState`. */
  readonly state?: HandOverRequest['state']
  readonly constraints?: HandOverRequest['constraints']
}

const INPUT = jsonSchema<{ task: string }>({
  type: 'object',
  properties: { task: { type: 'string', description: 'What the other agent shall do.' } },
  required: ['task'],
  additionalProperties: false,
})

/**
 * The conversation before the call goes along. The answer says how the task stood when it ended or the wait was over; in an agent that Baton hosts, that it
 * goes on when that agent's execution commits.
 */
export function handOverTool(options: HandOverToolOptions): Tool<{ task: string }, HandOverAnswer> {
  const { handOver, to, key, state, constraints } = options
  const description =
    options.description ?? `Hand the work over to ${to}, and get what comes of it.`
  return tool({
    description,
    inputSchema: INPUT,
    execute: async ({ task }, { toolCallId, messages, abortSignal }) => {
      const named = typeof key === 'function' ? key({ toolCallId, task }) : (key ?? toolCallId)
      const handed = await handOver({
        key: named,
        to,
        task,
        messages: fromModelMessages(messages),
        signal: abortSignal,
        ...(state === undefined ? {} : { state }),
        ...(constraints === undefined ? {} : { constraints }),
      })
      return answerOf(handed)
    },
  })
}
