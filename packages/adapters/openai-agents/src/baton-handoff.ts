// A handoff of the OpenAI Agents SDK whose agent is one of Baton: the conversation, as the input filter leaves it, goes there durably and its answer comes back.
import { hash } from 'node:crypto'
import { completedResult } from '@baton/sdk'
import type { HandedOver, HandOver, HandOverRequest } from '@baton/sdk'
import { Agent, handoff, Usage } from '@openai/agents'
import type {
  AgentInputItem,
  Handoff,
  Model,
  ModelRequest,
  ModelResponse,
  RunContext,
  StreamEvent,
} from '@openai/agents'
import { fromItems } from './items.ts'

/** What is known of a call when its key is made. */
export interface HandoffCall {
  /** Undefined where the input filter took the call out. */
  readonly callId: string | undefined
  readonly task: string
  /** What your program gave `run` as its context. */
  readonly context: unknown
}

export interface BatonHandoffOptions {
  /** Of `createHandOver`, or what an agent hosted by Baton is given. */
  readonly handOver: HandOver
  /** The agent type that takes over; the model’s tool is called `transfer_to_` and this name. */
  readonly to: string
  /** When the model shall hand over, in words for it. */
  readonly description?: string
  /**
   * What makes it the same handoff after a crash. The id of the tool call by default, which is the same where your program goes on from a saved
   * `RunState`; where the model is asked anew it is another one: then give an id of your own request.
   */
  readonly key?: string | ((call: HandoffCall) => string)
  /** As of `handoff()`: what it leaves of the conversation is what is sent. */
  readonly inputFilter?: NonNullable<Handoff['inputFilter']>
  /** What the run has cost until then, by its tokens: it is charged to the task. Nothing by default. */
  readonly costUSD?: (usage: Usage) => number
  readonly state?: HandOverRequest['state']
  readonly constraints?: HandOverRequest['constraints']
}

const INPUT = {
  type: 'object',
  properties: { task: { type: 'string', description: 'What the other agent shall do.' } },
  required: ['task'],
  additionalProperties: false,
} satisfies Handoff['inputJsonSchema']

const TASK = 'Go on with this conversation.'

/**
 * For the `handoffs` of an `Agent`. The run ends with what came of the task; it fails with BATON_TASK_NOT_COMPLETED where the task did, and with
 * BATON_TASK_UNFINISHED where nobody answered in time: another run under the same key goes on waiting.
 */
export function batonHandoff(options: BatonHandoffOptions): Handoff {
  const { to, description = `Takes over what is for ${to}.`, inputFilter } = options
  const agentOf = (invoked: Invoked) => {
    const model = createHandOverModel(options, invoked)
    return new Agent({ name: to, handoffDescription: description, model })
  }
  const shown = { task: TASK, usage: new Usage(), context: undefined, tool: undefined }
  const made = handoff(agentOf(shown), inputFilter === undefined ? {} : { inputFilter })
  made.inputJsonSchema = INPUT
  made.strictJsonSchema = true
  // Each invocation has a model of its own: it knows which run it is of.
  made.onInvokeHandoff = async ({ usage, context }: RunContext, args) =>
    agentOf({ task: taskIn(args), usage, context, tool: made.toolName })
  return made
}

interface Invoked {
  readonly task: string
  readonly usage: Usage
  readonly context: unknown
  /** What the model calls the handoff. */
  readonly tool: string | undefined
}

function taskIn(args: string): string {
  try {
    const { task } = JSON.parse(args) as { readonly task?: unknown }
    return typeof task === 'string' && task !== '' ? task : TASK
  } catch {
    return TASK
  }
}

/** What the framework takes for the model of the agent that is handed to: asking it is handing over. */
function createHandOverModel(options: BatonHandoffOptions, invoked: Invoked): Model {
  const { handOver, to, state, constraints, costUSD = () => 0 } = options
  const { task, usage } = invoked
  const { inputTokens: prompt, outputTokens: completion } = usage
  async function getResponse({ input, signal }: ModelRequest): Promise<ModelResponse> {
    const handed = await handOver({
      key: keyOf(options, { input, invoked }),
      to,
      task,
      messages: fromItems(input),
      spent: { costUSD: costUSD(usage), tokens: { prompt, completion } },
      signal,
      ...(state === undefined ? {} : { state }),
      ...(constraints === undefined ? {} : { constraints }),
    })
    return {
      usage: new Usage(),
      responseId: handed.handoffId ?? handed.taskId,
      output: [
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: wordsOf(handed, to) }],
        },
      ],
    }
  }
  return {
    getResponse,
    async *getStreamedResponse(request): AsyncIterable<StreamEvent> {
      yield { type: 'response_started' }
      const { responseId = '', output } = await getResponse(request)
      for (const item of output)
        if ('content' in item && Array.isArray(item.content))
          for (const part of item.content)
            if (part.type === 'output_text') yield { type: 'output_text_delta', delta: part.text }
      const none = { requests: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0 }
      yield { type: 'response_done', response: { id: responseId, usage: none, output } as never }
    },
  }
}

interface Asked {
  readonly input: ModelRequest['input']
  readonly invoked: Invoked
}

function keyOf({ key }: BatonHandoffOptions, { input, invoked }: Asked): string {
  const { task, context, tool } = invoked
  const callId = callIn(input, tool)
  if (typeof key === 'function') return key({ callId, task, context })
  return key ?? callId ?? hash('sha256', JSON.stringify([task, input]))
}

/** The call that handed over is the last one of its tool. */
function callIn(
  input: string | readonly AgentInputItem[],
  tool: string | undefined,
): string | undefined {
  if (typeof input === 'string') return undefined
  const call = input.findLast((item) => item.type === 'function_call' && item.name === tool)
  return call?.type === 'function_call' ? call.callId : undefined
}

function wordsOf(handed: HandedOver, to: string): string {
  if (handed.outcome === undefined) return `Handed over to ${to}.`
  const result = completedResult(handed)
  return typeof result === 'string' ? result : JSON.stringify(result)
}
