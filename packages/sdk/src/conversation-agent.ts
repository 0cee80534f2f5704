// An agent whose work is a conversation, in whichever framework: what came in becomes messages, and what was said, called and spent becomes the result.
import { randomUUID } from 'node:crypto'
import type { Agent, AgentContext, AgentResult, NextHandoff } from '@baton/engine'
import type { AgentRegistration, HandoffMessage, JsonObject, JsonValue } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import { renderForAgent } from '@baton/safety'
import { defineAgent } from './agent.ts'
import { messagesOf, textOf, turnsOf } from './conversation.ts'
import type { ChatMessage } from './conversation.ts'
import type { HandOver } from './hand-over.ts'
import { soundConversation } from './sound-calls.ts'

/** Tokens, and by which model: what a price is a price of. */
export interface ModelUsage {
  readonly prompt: number
  readonly completion: number
  readonly model: string | undefined
}

/** What one execution of such an agent is given. */
export interface ConversationTurn {
  /**
   * The conversation so far, as models take it, and last the handoff itself, rendered as data (E22). System messages of earlier
   * agents are users' messages here.
   */
  readonly messages: readonly ChatMessage[]
  /** What is to be done, in words. */
  readonly task: string
  readonly context: AgentContext
  /** Hands on to another agent of Baton when this execution commits; several begin branches. */
  readonly handOver: HandOver
  /** Puts text into the handoff's stream as it comes; pieces that come fast are joined. */
  say(text: string): void
}

/** What came of it. */
export interface ConversationAnswer {
  /** What was said in this execution, oldest first. */
  readonly messages: readonly ChatMessage[]
  readonly usage: ModelUsage
  /** The answer; the text of the last message by default. */
  readonly result?: JsonValue
  /** What becomes part of `currentState`. */
  readonly state?: JsonObject
  /** Whether it stopped to wait for a person: nobody could answer it here, so the execution fails. */
  readonly interrupted?: boolean
}

/** What the hosting of any framework's agent needs to know. */
export interface ConversationAgentOptions extends Omit<AgentRegistration, 'requires'> {
  readonly requires?: readonly string[]
  /** What the tokens of one execution cost in US dollars: `() => 0` where nobody pays for them. */
  readonly costUSD: (usage: ModelUsage) => number
}

/** Defines such an agent; throws as `defineAgent`. */
export function defineConversationAgent(
  { requires = [], costUSD, ...registration }: ConversationAgentOptions,
  converse: (turn: ConversationTurn) => Promise<ConversationAnswer>,
): Agent {
  return defineAgent({
    ...registration,
    requires,
    async execute(context) {
      const { message, state, taskId } = context
      const task = taskOf(message)
      const handedOn = new Map<string, NextHandoff>()
      const states: JsonObject[] = []
      const stream = createTextStream(context)
      const handOver: HandOver = async (request) => {
        handedOn.set(`${request.to} ${request.key}`, nextOf(request))
        states.push({ ...request.state, task: request.task })
        return { taskId, handoffId: undefined, duplicate: false, outcome: undefined }
      }
      const answer = await converse({
        messages: soundConversation([
          ...messagesOf(message.conversationHistoryVerbatim),
          rendered(message),
        ]),
        task,
        context,
        handOver,
        say: stream.say,
      })
      await stream.end()
      context.signal.throwIfAborted()
      if (answer.interrupted === true) throw INTERRUPTED
      const result = answer.result ?? lastText(answer.messages)
      const { prompt, completion, model } = answer.usage
      const said = turnsOf(answer.messages)
      const next = [...handedOn.values()]
      return {
        subtask: { subtaskId: randomUUID(), description: `${registration.type}: ${task}`, result },
        conversation: said.conversationHistory,
        toolCalls: said.toolCallHistory,
        state: Object.assign({}, state, answer.state, ...states),
        costUSD: costUSD(answer.usage),
        tokens: { prompt, completion },
        next,
        ...(model !== undefined && MODEL.test(model) ? { model } : {}),
        ...(next.length === 0 ? { result } : {}),
      } satisfies AgentResult
    },
  })
}

const INTERRUPTED = permanent(
  'BATON_AGENT_INTERRUPTED',
  'the agent stopped to wait for a person, whom an execution has none of',
  {
    fix: 'Ask for the approval of the handoff instead (`requiresApproval`), before the agent runs.',
  },
)

/** As the audit record takes it. */
const MODEL = /^[\x21-\x7e]{1,256}$/

/** On a first handoff it stands in the state. */
function taskOf({ taskDescription, currentState }: HandoffMessage): string {
  const { task } = currentState
  return taskDescription === 'INITIAL' && typeof task === 'string' ? task : taskDescription
}

/** The conversation stands before it, message by message. */
const rendered = (message: HandoffMessage): ChatMessage => ({
  role: 'user',
  parts: [{ type: 'text', text: renderForAgent({ ...message, conversationHistoryVerbatim: [] }) }],
})

function nextOf({ to, task, constraints = {} }: Parameters<HandOver>[0]): NextHandoff {
  const { list, receiverList, join, schemaVersion, priority, ...asked } = constraints
  const refused = Object.entries({ receiverList, join, schemaVersion }).find(
    ([, value]) => value !== undefined,
  )
  if (refused !== undefined) {
    throw permanent(
      'BATON_CONVERSATION_INVALID',
      `${refused[0]} cannot be asked for from within an execution`,
      {
        fix: 'Hand over several times instead, once to each receiver.',
      },
    )
  }
  return {
    ...asked,
    to,
    taskDescription: task,
    ...(list === undefined ? {} : { constraints: list }),
    ...(priority === undefined ? {} : { priority: priority as 0 | 1 | 2 | 3 }),
  }
}

const lastText = (messages: readonly ChatMessage[]): string => {
  const last = messages.findLast(({ role }) => role === 'assistant')
  return last === undefined ? '' : textOf(last)
}

/** Pieces a chunk may hold: beyond it a model's answer is cut into several. */
const PIECE_CHARS_MAX = 16_384

/** A character of two halves may come in two pieces: the first half waits for the second. */
const wholeCharacters = (text: string): string =>
  /[\uD800-\uDBFF]$/.test(text) ? text.slice(0, -1) : text

/** One chunk is committed after another; what is said meanwhile waits and goes as one. After a crash the numbers go on. */
function createTextStream({ emit, committedChunks, attempt }: AgentContext) {
  let waiting = ''
  let failed: Error | undefined
  let flowing: Promise<void> | undefined
  let begun = false
  const begin = async () => {
    if (begun) return
    begun = true
    let last = 0
    for (;;) {
      const page = await committedChunks(last)
      const end = page.at(-1)
      if (end === undefined) break
      last = end.seq
    }
    if (last > 0) await emit({ kind: 'begins-anew', content: { attempt } }, last + 1)
  }
  const flow = async () => {
    await begin()
    while (waiting !== '') {
      const piece = wholeCharacters(waiting.slice(0, PIECE_CHARS_MAX))
      if (piece === '') return
      waiting = waiting.slice(piece.length)
      await emit({ kind: 'text', content: piece })
    }
  }
  return {
    say(text: string): void {
      waiting += text
      if (text === '' || failed !== undefined || flowing !== undefined) return
      flowing = flow()
        .catch((error: unknown) => {
          failed = error as Error
        })
        .finally(() => {
          flowing = undefined
        })
    },
    async end(): Promise<void> {
      await flowing
      if (failed !== undefined) throw failed
      waiting = waiting.toWellFormed()
      await flow()
    },
  }
}
