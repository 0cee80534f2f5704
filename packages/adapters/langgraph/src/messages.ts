// LangChain's messages become the conversation of a handoff, and come back from it as they were.
import { mapStoredMessagesToChatMessages } from '@langchain/core/messages'
import type { BaseMessage, StoredMessage } from '@langchain/core/messages'
import { jsonOf } from '@baton/sdk'
import type { ChatMessage, JsonObject, JsonValue, MessagePart } from '@baton/sdk'

/** What is LangChain's alone travels under this name. */
const OWN = 'langgraph'

/** What LangChain calls who spoke; every other role is a `generic` message. */
const ROLES: Readonly<Record<string, string>> = {
  human: 'user',
  ai: 'assistant',
  system: 'system',
  tool: 'tool',
}
const TYPES: Readonly<Record<string, string>> = {
  user: 'human',
  assistant: 'ai',
  system: 'system',
  tool: 'tool',
}

/** Messages as a handoff carries them. Throws BATON_CONVERSATION_INVALID for what is no JSON. */
export const fromLangChain = (messages: readonly BaseMessage[]): readonly ChatMessage[] =>
  messages.map(fromMessage)

function fromMessage(message: BaseMessage): ChatMessage {
  const { type, data } = jsonOf(message.toDict(), 'a message') as { type: string; data: JsonObject }
  const {
    content = '',
    tool_calls: calls,
    tool_call_id: _callId,
    name,
    role: given,
    ...others
  } = data
  const role = ROLES[type] ?? (typeof given === 'string' ? given : type)
  const said = type === 'tool' ? [fromResult(data)] : contentParts(content)
  const called = Array.isArray(calls) ? (calls as readonly JsonObject[]).map(fromCall) : []
  const kind = ROLES[type] === undefined && type !== 'generic' ? { type } : {}
  const list = Array.isArray(content) && type !== 'tool' ? { list: true } : {}
  const own = withoutEmpty({ ...others, ...kind, ...list })
  return {
    role,
    parts: [...said, ...called],
    ...(typeof name === 'string' && type !== 'tool' ? { name } : {}),
    ...keep(own),
  }
}

/** LangChain gives each message an empty one of these: they say nothing. */
const withoutEmpty = (own: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(own).filter(
      ([, value]) => typeof value !== 'object' || value === null || Object.keys(value).length > 0,
    ),
  )

const keep = (own: JsonObject): { own?: JsonObject } =>
  Object.keys(own).length === 0 ? {} : { own: { [OWN]: own } }

function contentParts(content: JsonValue): MessagePart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return (content as readonly JsonObject[]).map(fromBlock)
}

function fromCall({ id, name, args = {}, ...rest }: JsonObject): MessagePart {
  const given = typeof id === 'string' ? {} : { id: null }
  return {
    type: 'tool-call',
    callId: typeof id === 'string' ? id : '',
    tool: name as string,
    input: args,
    ...keep({ ...rest, ...given }),
  }
}

function fromResult({ content = '', tool_call_id: callId, name, status }: JsonObject): MessagePart {
  return {
    type: 'tool-result',
    callId: callId as string,
    tool: typeof name === 'string' ? name : 'tool',
    output: content,
    ...(status === 'error' ? { failed: true } : {}),
    ...keep(typeof name === 'string' ? {} : { unnamed: true }),
  }
}

const DATA_URL = /^data:([^;,]+);base64,([A-Za-z0-9+/=]*)$/

function fromBlock(block: JsonObject): MessagePart {
  const { type, text, reasoning, ...rest } = block
  if (type === 'text' && typeof text === 'string') return { type, text, ...keep(rest) }
  if (type === 'reasoning' && typeof reasoning === 'string')
    return { type, text: reasoning, ...keep(rest) }
  const file = type === 'image_url' ? fromImage(block) : fromStandard(block)
  return file ?? { type: 'other', own: { [OWN]: block } }
}

/** In the form of OpenAI, which many models of LangChain take. */
function fromImage({ type, image_url: image, ...rest }: JsonObject): MessagePart | undefined {
  const { url, ...detail } =
    typeof image === 'string' ? { url: image } : ((image ?? {}) as JsonObject)
  if (typeof url !== 'string') return undefined
  const form = typeof image === 'string' ? { bare: true } : { detail }
  const own = keep({ ...rest, kind: type ?? null, ...form })
  const [, mediaType, data] = DATA_URL.exec(url) ?? []
  return mediaType === undefined || data === undefined
    ? { type: 'file', url, ...own }
    : { type: 'file', mediaType, data, ...own }
}

function fromStandard({ type, data, url, mimeType, ...rest }: JsonObject): MessagePart | undefined {
  const held = typeof data === 'string' ? { data } : typeof url === 'string' ? { url } : undefined
  if (typeof type !== 'string' || !FILES.has(type) || held === undefined || 'text' in rest)
    return undefined
  const mediaType = typeof mimeType === 'string' ? { mediaType: mimeType } : {}
  return { type: 'file', ...mediaType, ...held, ...keep({ ...rest, kind: type }) }
}

/** LangChain's standard blocks that hold bytes or an address. */
const FILES: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'file'])

/** The messages of a handoff as LangChain takes them. What only another framework reads is marked as left out. */
export const toLangChain = (messages: readonly ChatMessage[]): BaseMessage[] =>
  mapStoredMessagesToChatMessages(messages.flatMap(toStored) as unknown as StoredMessage[])

function toStored(message: ChatMessage): readonly JsonObject[] {
  const { role, parts, name } = message
  const { list, type: kind, ...rest } = ownOf(message)
  const common = {
    additional_kwargs: {},
    response_metadata: {},
    ...rest,
    ...(name === undefined ? {} : { name }),
  }
  const results = parts.filter((part) => part.type === 'tool-result')
  if (role === 'tool' && results.length > 0)
    return results.map((result) => ({ type: 'tool', data: { ...common, ...toResult(result) } }))
  const calls = parts.filter((part) => part.type === 'tool-call')
  const said = parts.filter((part) => part.type !== 'tool-call' || role !== 'assistant')
  const data = { ...common, content: toContent(said, list) }
  if (role === 'assistant') {
    const tool_calls = calls.map(toCall)
    return [{ type: 'ai', data: { invalid_tool_calls: [], ...data, tool_calls } }]
  }
  const type = TYPES[role] ?? (role === 'developer' ? 'system' : undefined)
  if (type !== undefined && type !== 'tool') return [{ type, data }]
  // A sender's own word for it makes nobody a user, an assistant or a system.
  const isOther = typeof kind === 'string' && !Object.hasOwn(ROLES, kind)
  return [{ type: isOther ? kind : 'generic', data: { ...data, role } }]
}

const ownOf = ({ own }: { readonly own?: ChatMessage['own'] }): JsonObject =>
  (own?.[OWN] ?? {}) as JsonObject

function toContent(parts: readonly MessagePart[], list: JsonValue | undefined): JsonValue {
  const [only] = parts
  if (list !== true && parts.length === 0) return ''
  if (list !== true && parts.length === 1 && only?.type === 'text') return only.text
  return parts.map(toBlock)
}

function toCall(part: Extract<MessagePart, { type: 'tool-call' }>): JsonObject {
  const { callId, tool: name, input } = part
  const { id = callId, ...rest } = ownOf(part)
  // LangChain's calls take an object; a text that a model wrote and that is no JSON stays readable.
  const args =
    typeof input === 'object' && input !== null && !Array.isArray(input) ? input : { input }
  return { type: 'tool_call', ...rest, ...(id === null ? {} : { id }), name, args }
}

function toResult(part: Extract<MessagePart, { type: 'tool-result' }>): JsonObject {
  const { callId, tool, output, failed } = part
  const { unnamed } = ownOf(part)
  const content =
    typeof output === 'string' || Array.isArray(output) ? output : JSON.stringify(output)
  return {
    content,
    tool_call_id: callId,
    ...(unnamed === true ? {} : { name: tool }),
    ...(failed === true ? { status: 'error' } : {}),
  }
}

function toBlock(part: MessagePart): JsonObject {
  const own = ownOf(part)
  if (part.type === 'text') return { ...own, type: 'text', text: part.text }
  if (part.type === 'reasoning') return { ...own, type: 'reasoning', reasoning: part.text }
  if (part.type === 'file') return toFile(part, own)
  if (part.type === 'other' && OWN in part.own) return own
  return { type: 'text', text: wordsOf(part) }
}

function toFile(part: Extract<MessagePart, { type: 'file' }>, own: JsonObject): JsonObject {
  const { kind, bare, detail, ...rest } = own
  const { mediaType, data, url } = part
  if (kind === 'image_url') {
    const address = url ?? `data:${mediaType ?? 'image/png'};base64,${data ?? ''}`
    const image = bare === true ? address : { ...(detail as JsonObject | undefined), url: address }
    return { ...rest, type: kind, image_url: image }
  }
  const type =
    typeof kind === 'string' ? kind : mediaType?.startsWith('image/') === true ? 'image' : 'file'
  return {
    ...rest,
    type,
    ...(mediaType === undefined ? {} : { mimeType: mediaType }),
    ...(url === undefined ? { data: data ?? '' } : { url }),
  }
}

/** A part in words, where only words are taken. */
function wordsOf(part: MessagePart): string {
  if (part.type === 'tool-result')
    return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
  return `[left out: a part of kind ${part.type} that only ${Object.keys(part.own ?? {})[0] ?? 'its framework'} reads]`
}
