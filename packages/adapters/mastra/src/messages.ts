// Mastra's messages become the conversation of a handoff, and come back from it as they were.
import { randomUUID } from 'node:crypto'
import type { MastraDBMessage } from '@mastra/core/agent'
import { jsonOf } from '@baton/sdk'
import type { ChatMessage, JsonObject, JsonValue, MessagePart } from '@baton/sdk'

/** What is Mastra's alone travels under this name. */
const OWN = 'mastra'

/**
 * Messages as a handoff carries them. `content.content`, `content.toolInvocations` and `content.reasoning`, in which Mastra repeats what stands in the parts, are left out.
 * Throws BATON_CONVERSATION_INVALID for what is no JSON.
 */
export const fromMastra = (messages: readonly MastraDBMessage[]): readonly ChatMessage[] =>
  messages.map(fromMessage)

function fromMessage({ role, content, createdAt, ...rest }: MastraDBMessage): ChatMessage {
  const { parts, format: _, content: __, toolInvocations: ___, reasoning: ____, ...more } = content
  const kept = jsonOf(
    { ...rest, more: noneIfEmpty(more) },
    'what Mastra keeps with a message',
  ) as JsonObject
  return {
    role,
    parts: (jsonOf(parts, 'a message') as readonly JsonObject[]).flatMap(fromPart),
    timestamp: createdAt.toISOString(),
    own: { [OWN]: kept },
  }
}

const noneIfEmpty = (value: object): object | undefined =>
  Object.keys(value).length === 0 ? undefined : value

const keep = (own: JsonObject): { own?: JsonObject } =>
  Object.keys(own).length === 0 ? {} : { own: { [OWN]: own } }

function fromPart(part: JsonObject): readonly MessagePart[] {
  const { type, text, reasoning, toolInvocation, mimeType, data, ...rest } = part
  if (type === 'text' && typeof text === 'string') return [{ type, text, ...keep(rest) }]
  if (type === 'reasoning' && typeof reasoning === 'string')
    return [{ type, text: reasoning, ...keep(rest) }]
  if (type === 'tool-invocation') return fromInvocation(toolInvocation as JsonObject, rest)
  if (type === 'file' && typeof mimeType === 'string' && typeof data === 'string') {
    const held = URL.canParse(data) ? { url: data } : { data }
    return [{ type, mediaType: mimeType, ...held, ...keep(rest) }]
  }
  return [{ type: 'other', own: { [OWN]: part } }]
}

/** A call, and its result behind it where there is one. */
function fromInvocation(invocation: JsonObject, rest: JsonObject): readonly MessagePart[] {
  const { toolCallId, toolName, args = null, result, ...more } = invocation
  const { state, errorText, isError } = more
  const call = { callId: toolCallId as string, tool: toolName as string }
  const called: MessagePart = {
    type: 'tool-call',
    ...call,
    input: args,
    own: { [OWN]: { rest, more } },
  }
  if (result === undefined && state !== 'output-error' && state !== 'output-denied') return [called]
  const failed = isError === true || state === 'output-error' || state === 'output-denied'
  const output = result ?? errorText ?? null
  return [called, { type: 'tool-result', ...call, output, ...(failed ? { failed } : {}) }]
}

/** The messages of a handoff as Mastra takes them. What only another framework reads is marked as left out. */
export function toMastra(messages: readonly ChatMessage[]): MastraDBMessage[] {
  const results = new Map(
    messages.flatMap(({ parts }) => parts.filter(isResult)).map((one) => [one.callId, one]),
  )
  const calls = new Set(
    messages.flatMap(({ parts }) => parts.filter(isCall)).map(({ callId }) => callId),
  )
  const isTold = (part: MessagePart) => part.type === 'tool-result' && calls.has(part.callId)
  // Mastra sorts by time: a message without one comes right after the one before it.
  let last = Date.now() - messages.length
  const made: MastraDBMessage[] = []
  for (const message of messages) {
    const said = message.parts.filter((part) => !isTold(part))
    if (message.role === 'tool' && said.length === 0) continue
    const { more, ...own } = ownOf(message)
    const createdAt =
      message.timestamp === undefined ? new Date(last + 1) : new Date(message.timestamp)
    last = createdAt.getTime()
    const parts = said.map((part) => toPart(part, results))
    const content = { ...(more as JsonObject | undefined), format: 2, parts }
    made.push({
      id: randomUUID(),
      ...own,
      role: roleOf(message.role),
      createdAt,
      content,
    } as unknown as MastraDBMessage)
  }
  return made
}

type Call = Extract<MessagePart, { type: 'tool-call' }>
type Result = Extract<MessagePart, { type: 'tool-result' }>

const isCall = (part: MessagePart): part is Call => part.type === 'tool-call'
const isResult = (part: MessagePart): part is Result => part.type === 'tool-result'

const roleOf = (role: string): string => {
  if (role === 'developer') return 'system'
  return ['system', 'assistant', 'signal'].includes(role) ? role : 'user'
}

const ownOf = ({ own }: { readonly own?: ChatMessage['own'] }): JsonObject =>
  (own?.[OWN] ?? {}) as JsonObject

function toPart(part: MessagePart, results: ReadonlyMap<string, Result>): JsonObject {
  const own = ownOf(part)
  switch (part.type) {
    case 'text':
      return { ...own, type: 'text', text: part.text }
    case 'reasoning':
      return {
        details: [{ type: 'text', text: part.text }],
        ...own,
        type: 'reasoning',
        reasoning: part.text,
      }
    case 'tool-call':
      return toInvocation(part, results.get(part.callId))
    case 'file': {
      const { mediaType = 'application/octet-stream', url, data = '' } = part
      return { ...own, type: 'file', mimeType: mediaType, data: url ?? data }
    }
    case 'tool-result':
      return { type: 'text', text: wordsOf(part.output) }
    case 'other':
      return OWN in part.own ? own : { type: 'text', text: markOf(part) }
  }
}

const wordsOf = (output: JsonValue): string =>
  typeof output === 'string' ? output : JSON.stringify(output)

const markOf = ({ type, own = {} }: MessagePart): string =>
  `[left out: a part of kind ${type} that only ${Object.keys(own)[0] ?? 'its framework'} reads]`

function toInvocation(call: Call, result: Result | undefined): JsonObject {
  const { rest, more } = ownOf(call) as { rest?: JsonObject; more?: JsonObject }
  const { callId: toolCallId, tool: toolName, input: args } = call
  // A message that was interrupted says so itself; what another agent answered since counts as the result.
  const saysFailure = more?.['state'] === 'output-error' || more?.['state'] === 'output-denied'
  const answered =
    result === undefined || saysFailure
      ? {}
      : {
          state: 'result',
          result: result.output,
          ...(result.failed === true ? { isError: true } : {}),
        }
  const toolInvocation = { state: 'call', ...more, ...answered, toolCallId, toolName, args }
  return { ...rest, type: 'tool-invocation', toolInvocation }
}
