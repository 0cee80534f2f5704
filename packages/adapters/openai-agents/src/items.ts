// The items of the OpenAI Agents SDK become the conversation of a handoff, and come back from it as they were.
import type { AgentInputItem } from '@openai/agents'
import { jsonOf } from '@baton/sdk'
import type { ChatMessage, JsonObject, JsonValue, MessagePart } from '@baton/sdk'

/** What is the OpenAI Agents SDK's alone travels under this name. */
const OWN = 'openai-agents'

/** Items as a handoff carries them; a text alone is what a user said. Throws BATON_CONVERSATION_INVALID for what is no JSON. */
export const fromItems = (items: string | readonly AgentInputItem[]): readonly ChatMessage[] =>
  typeof items === 'string' ? [textOf('user', items)] : items.map(fromItem)

const textOf = (role: string, text: string): ChatMessage => ({
  role,
  parts: [{ type: 'text', text }],
})

function fromItem(given: AgentInputItem): ChatMessage {
  const item = jsonOf(given, 'an item') as JsonObject
  if (given.type === 'function_call') return { role: 'assistant', parts: [fromCall(item)] }
  if (given.type === 'function_call_result') return { role: 'tool', parts: [fromResult(item)] }
  const { role, content, ...rest } = item
  if (given.type === 'reasoning') {
    const parts = (content as readonly JsonObject[]).map(
      ({ text, type: _type, ...own }): MessagePart => ({
        type: 'reasoning',
        text: text as string,
        ...keep(own),
      }),
    )
    return { role: 'assistant', parts, ...keep({ ...rest, item: 'reasoning' }) }
  }
  if (typeof role !== 'string' || !(typeof content === 'string' || Array.isArray(content)))
    return { role: 'assistant', parts: [{ type: 'other', own: { [OWN]: item } }] }
  if (typeof content === 'string') return { ...textOf(role, content), ...keep(rest) }
  const parts = (content as readonly JsonObject[]).map(fromContent)
  return { role, parts, ...keep({ ...rest, list: true }) }
}

const keep = (own: JsonObject): { own?: JsonObject } =>
  Object.keys(own).length === 0 ? {} : { own: { [OWN]: own } }

function fromCall({ callId, name, arguments: text, ...rest }: JsonObject): MessagePart {
  const said = text as string
  const input = parsed(said)
  // Arguments are a text of the model's: what reading and writing it again would change is kept as it was.
  const raw = JSON.stringify(input) === said ? {} : { arguments: said }
  return {
    type: 'tool-call',
    callId: callId as string,
    tool: name as string,
    input,
    ...keep({ ...rest, ...raw }),
  }
}

function parsed(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return text
  }
}

function fromResult({ callId, name, output = null, ...rest }: JsonObject): MessagePart {
  const call = { type: 'tool-result', callId: callId as string, tool: name as string } as const
  if (typeof output === 'string') return { ...call, output, ...keep({ ...rest, form: 'string' }) }
  const { type, text, ...more } = output as JsonObject
  const isText = type === 'text' && typeof text === 'string' && Object.keys(more).length === 0
  return {
    ...call,
    output: isText ? text : output,
    ...keep({ ...rest, form: isText ? 'text' : 'content' }),
  }
}

const DATA_URL = /^data:([^;,]+);base64,([A-Za-z0-9+/=]*)$/

function fromContent(content: JsonObject): MessagePart {
  const { type, text, refusal, image, file, audio, ...rest } = content
  if ((type === 'input_text' || type === 'output_text') && typeof text === 'string')
    return { type: 'text', text, ...keep(rest) }
  if (type === 'refusal' && typeof refusal === 'string')
    return { type: 'text', text: refusal, ...keep({ ...rest, kind: type }) }
  const held = image ?? file ?? audio
  if (typeof type !== 'string' || typeof held !== 'string')
    return { type: 'other', own: { [OWN]: content } }
  const { filename, ...others } = rest
  const named = typeof filename === 'string' ? { filename } : {}
  const [, mediaType, data] = DATA_URL.exec(held) ?? []
  const own = keep({ ...others, kind: type, ...(data === undefined ? {} : { inline: true }) })
  if (mediaType !== undefined && data !== undefined)
    return { type: 'file', mediaType, data, ...named, ...own }
  return URL.canParse(held)
    ? { type: 'file', url: held, ...named, ...own }
    : {
        type: 'file',
        mediaType: MEDIA_TYPES[type] ?? 'application/octet-stream',
        data: held,
        ...named,
        ...own,
      }
}

/** Where base64 alone says of what kind it is. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  input_image: 'image/png',
  image: 'image/png',
  audio: 'audio/wav',
}

/** The messages of a handoff as the OpenAI Agents SDK takes them. What only another framework reads is marked as left out. */
export const toItems = (messages: readonly ChatMessage[]): AgentInputItem[] =>
  messages.flatMap((message) => toItemsOf(message) as AgentInputItem[])

function toItemsOf(message: ChatMessage): readonly JsonObject[] {
  const { role, parts } = message
  // What it is and who says it are never what a sender's own members say.
  const { item, list, role: _, type, ...others } = ownOf(message)
  const rest = type === 'message' ? { type, ...others } : others
  if (item === 'reasoning') {
    const content = parts.map((part) => ({
      ...ownOf(part),
      type: 'input_text',
      text: wordsOf(part),
    }))
    return [{ ...rest, type: 'reasoning', content }]
  }
  if (role === 'system' || role === 'developer')
    return [{ ...rest, role: 'system', content: parts.map(wordsOf).join('') }]
  if (role !== 'assistant' && role !== 'tool') return [toUserMessage(parts, { list, rest })]
  const [first] = parts
  if (parts.length === 0 || (parts.every(isSaid) && first !== undefined))
    return [toAssistantMessage(parts, rest)]
  return runsOf(parts).flatMap((run) =>
    isSaid(run[0]) ? [toAssistantMessage(run, {})] : run.map(toOwnItem),
  )
}

const ownOf = ({ own }: { readonly own?: ChatMessage['own'] }): JsonObject =>
  (own?.[OWN] ?? {}) as JsonObject

/** Whether it is part of a message; calls, results and the framework's own items stand by themselves. */
const isSaid = (part: MessagePart | undefined): boolean =>
  part?.type === 'text' || part?.type === 'file' || (part?.type === 'other' && isContent(part))

const isContent = (part: MessagePart): boolean => {
  const { type } = ownOf(part)
  return typeof type === 'string' && Object.hasOwn(MEMBERS, type)
}

/** What is said together stays together. */
function runsOf(parts: readonly MessagePart[]): readonly (readonly MessagePart[])[] {
  const runs: MessagePart[][] = []
  for (const part of parts) {
    const last = runs.at(-1)
    if (last !== undefined && isSaid(last[0]) && isSaid(part)) last.push(part)
    else runs.push([part])
  }
  return runs
}

interface UserOwn {
  readonly list: JsonValue | undefined
  readonly rest: JsonObject
}

function toUserMessage(parts: readonly MessagePart[], { list, rest }: UserOwn): JsonObject {
  const [only] = parts
  const isText = parts.length === 1 && only?.type === 'text' && list !== true
  return {
    ...rest,
    role: 'user',
    content: isText ? only.text : parts.map((part) => toContent(part, 'input_text')),
  }
}

const toAssistantMessage = (parts: readonly MessagePart[], rest: JsonObject): JsonObject => ({
  status: 'completed',
  ...rest,
  role: 'assistant',
  content: parts.map((part) => toContent(part, 'output_text')),
})

function toContent(part: MessagePart, textType: 'input_text' | 'output_text'): JsonObject {
  const { kind, inline: _inline, ...own } = ownOf(part)
  if (part.type === 'text')
    return kind === 'refusal'
      ? { ...own, type: kind, refusal: part.text }
      : { ...own, type: textType, text: part.text }
  if (part.type === 'other' && isContent(part)) return ownOf(part)
  if (part.type === 'file' && (textType === 'input_text' || kind !== undefined)) return toFile(part)
  // Assistants give no files here, but for those that this framework knows of its own.
  return { type: textType, text: wordsOf(part) }
}

function toFile(part: Extract<MessagePart, { type: 'file' }>): JsonObject {
  const { kind, inline, ...own } = ownOf(part)
  const { url, data = '', mediaType = 'application/octet-stream', filename } = part
  const isBare = kind !== undefined && inline !== true
  const held = url ?? (isBare ? data : `data:${mediaType};base64,${data}`)
  const usual = mediaType.startsWith('image/') ? 'input_image' : 'input_file'
  const type = typeof kind === 'string' ? kind : usual
  return {
    ...own,
    type,
    [MEMBERS[type] ?? 'file']: held,
    ...(filename === undefined ? {} : { filename }),
  }
}

/** Where each kind of content holds what it holds. */
const MEMBERS: Readonly<Record<string, string>> = {
  input_image: 'image',
  image: 'image',
  input_file: 'file',
  audio: 'audio',
}

function toOwnItem(part: MessagePart): JsonObject {
  const own = ownOf(part)
  if (part.type === 'tool-call') {
    const { callId, tool: name, input } = part
    return { arguments: JSON.stringify(input), ...own, type: 'function_call', callId, name }
  }
  if (part.type === 'tool-result') {
    const { callId, tool: name, output } = part
    const { form, ...rest } = own
    return {
      status: 'completed',
      ...rest,
      type: 'function_call_result',
      callId,
      name,
      output: toOutput(output, form),
    }
  }
  return part.type === 'other' && OWN in part.own && !speaks(own)
    ? own
    : toAssistantMessage([{ type: 'text', text: wordsOf(part) }], {})
}

/** An item that would speak as whoever its sender says, or approve a call of a tool: some go to the model as they are. */
function speaks({ role, type, providerData }: JsonObject): boolean {
  const given = (typeof providerData === 'object' ? (providerData ?? {}) : {}) as JsonObject
  const kinds = [type, given['type']]
  return role !== undefined || given['role'] !== undefined || kinds.includes(APPROVAL)
}

const APPROVAL = 'mcp_approval_response'

function toOutput(output: JsonValue, form: JsonValue | undefined): JsonValue {
  if (form === 'content') return output
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  return form === 'text' ? { type: 'text', text } : text
}

/** A part in words, where only words are taken. */
function wordsOf(part: MessagePart): string {
  if (part.type === 'text' || part.type === 'reasoning') return part.text
  if (part.type === 'tool-result')
    return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
  return `[left out: a part of kind ${part.type} that only ${Object.keys(part.own ?? {})[0] ?? 'its framework'} reads]`
}
