// The AI SDK's messages become the conversation of a handoff, and come back from it: the same messages, with bytes as base64.
import { jsonOf } from '@baton/sdk'
import type { ChatMessage, JsonObject, JsonValue, MessagePart } from '@baton/sdk'
import type {
  AssistantModelMessage,
  ModelMessage,
  ToolModelMessage,
  ToolResultPart,
  UserModelMessage,
} from 'ai'

/** What is the AI SDK's alone travels under this name. */
const OWN = 'ai-sdk'

type Part = Exclude<ModelMessage['content'], string>[number]
type Output = ToolResultPart['output']

/** Messages as a handoff carries them. Throws BATON_CONVERSATION_INVALID for tool inputs and outputs that are no JSON. */
export const fromModelMessages = (messages: readonly ModelMessage[]): readonly ChatMessage[] =>
  messages.map((message) => {
    const { role, content, providerOptions } = message
    const isList = Array.isArray(content)
    const own = plainObject({ ...(isList ? { list: true } : {}), providerOptions })
    const parts = isList
      ? (content as readonly Part[]).map(fromPart)
      : [{ type: 'text', text: content } as const]
    return { role, parts, ...own }
  })

/** Undefined members are left out, and nothing stays of an object without any other. */
function plainObject(value: object): { own?: JsonObject } {
  const plain = jsonOf(value, 'what a message keeps for its provider') as JsonObject
  return Object.keys(plain).length === 0 ? {} : { own: { [OWN]: plain } }
}

function fromPart(part: Part): MessagePart {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const { type, text, ...rest } = part
      return { type, text, ...plainObject(rest) }
    }
    case 'tool-call': {
      const { type, toolCallId: callId, toolName: tool, input, ...rest } = part
      return {
        type,
        callId,
        tool,
        input: jsonOf(input, `the input of ${tool}`),
        ...plainObject(rest),
      }
    }
    case 'tool-result':
      return fromResult(part)
    case 'file':
    case 'image':
    case 'reasoning-file':
      return fromFile(part)
    default:
      return { type: 'other', own: { [OWN]: jsonOf(part, part.type) } }
  }
}

function fromResult({
  type,
  toolCallId: callId,
  toolName: tool,
  output,
  ...rest
}: ToolResultPart): MessagePart {
  const { type: form, ...kept } = output
  const failed = form.startsWith('error-') || form === 'execution-denied' ? { failed: true } : {}
  if ('value' in kept && form !== 'content') {
    const { value, ...options } = kept
    const own = plainObject({ ...rest, form, options: noneIfEmpty(options) })
    return { type, callId, tool, output: jsonOf(value, `the output of ${tool}`), ...failed, ...own }
  }
  const whole = jsonOf(kept, `the output of ${tool}`)
  return { type, callId, tool, output: whole, ...failed, ...plainObject({ ...rest, form }) }
}

const noneIfEmpty = (value: object): object | undefined =>
  Object.keys(value).length === 0 ? undefined : value

type ModelFile = Extract<Part, { type: 'file' | 'image' | 'reasoning-file' }>

function fromFile(part: ModelFile): MessagePart {
  const { type: kind, mediaType, ...others } = part
  const {
    data: given,
    image,
    filename,
    ...rest
  } = others as {
    data?: unknown
    image?: unknown
    filename?: string
  }
  const held = jsonOf(kind === 'image' ? image : given, 'a file')
  const bare = typeof held === 'string'
  const { type: form = bare ? (isAddress(held) ? 'url' : 'data') : 'reference', ...tagged } = (
    bare ? {} : held
  ) as { type?: string; data?: string; url?: string; [other: string]: unknown }
  const where =
    form === 'url'
      ? { url: bare ? held : tagged.url }
      : form === 'data'
        ? { data: bare ? held : tagged.data }
        : {}
  const kept = form === 'url' || form === 'data' ? undefined : tagged
  const isBare = bare || (form === 'reference' && !('reference' in tagged))
  return {
    type: 'file',
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(filename === undefined ? {} : { filename }),
    ...(where as { url?: string; data?: string }),
    ...plainObject({ ...rest, kind, form, bare: isBare || undefined, kept }),
  }
}

const isAddress = (text: string): boolean => /^(?:https?|data|file|gs|s3):/.test(text)

/** The messages of a handoff as the AI SDK takes them. What only another framework reads is marked as left out. */
export const toModelMessages = (messages: readonly ChatMessage[]): ModelMessage[] =>
  messages.map(toMessage)

function toMessage({ role, parts, own }: ChatMessage): ModelMessage {
  const { list, ...rest } = ownOf(own)
  const options = rest as Pick<UserModelMessage, 'providerOptions'>
  const [only] = parts
  const isText = parts.length === 1 && only?.type === 'text' && list !== true
  // Who says it and what is said are never what a sender's own members say.
  if (role === 'system' || role === 'developer')
    return { ...options, role: 'system', content: allText(parts) }
  if (role === 'tool' && parts.every((part) => part.type === 'tool-result' || isOurs(part))) {
    const content = parts.map(toPart) as ToolModelMessage['content']
    return { ...options, role, content }
  }
  if (role === 'assistant') {
    const content = isText ? only.text : (parts.map(toPart) as AssistantModelMessage['content'])
    return { ...options, role, content }
  }
  const content = isText ? only.text : (parts.map(toUserPart) as UserModelMessage['content'])
  return { ...options, role: 'user', content }
}

const ownOf = (own: ChatMessage['own']): JsonObject => (own?.[OWN] ?? {}) as JsonObject

const isOurs = (part: MessagePart): boolean => part.own?.[OWN] !== undefined

const allText = (parts: readonly MessagePart[]): string =>
  parts.map((part) => (part.type === 'text' ? part.text : markOf(part))).join('')

const markOf = ({ type, own = {} }: MessagePart): string =>
  `[left out: a part of kind ${type} that only ${Object.keys(own)[0] ?? 'its framework'} reads]`

/** Users say nothing but texts and files. */
const toUserPart = (part: MessagePart): Part =>
  part.type === 'text' || part.type === 'file'
    ? toPart(part)
    : { type: 'text', text: toldAsText(part) }

function toldAsText(part: MessagePart): string {
  if (part.type === 'reasoning') return part.text
  if (part.type === 'tool-result')
    return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
  return markOf(part)
}

function toPart(part: MessagePart): Part {
  const own = ownOf(part.own)
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { ...own, type: part.type, text: part.text }
    case 'tool-call':
      return {
        ...own,
        type: part.type,
        toolCallId: part.callId,
        toolName: part.tool,
        input: part.input,
      }
    case 'tool-result': {
      const { form, options, ...rest } = own
      const output = toOutput(part, form, options)
      return { ...rest, type: part.type, toolCallId: part.callId, toolName: part.tool, output }
    }
    case 'file':
      return toFile(part, own)
    case 'other':
      return part.own[OWN] === undefined
        ? { type: 'text', text: markOf(part) }
        : (withAddresses(part.own[OWN]) as unknown as Part)
  }
}

type Result = Extract<MessagePart, { type: 'tool-result' }>

function toOutput(
  { output, failed }: Result,
  form: JsonValue | undefined,
  options: JsonValue | undefined,
): Output {
  if (form === 'content' || form === 'execution-denied')
    return { ...(withAddresses(output) as object), type: form } as Output
  const kind = typeof output === 'string' ? 'text' : 'json'
  const type = form ?? (failed === true ? `error-${kind}` : kind)
  return { ...(options as object | undefined), type, value: output } as Output
}

/** The AI SDK wants an address as a URL only where it is tagged as one. */
function withAddresses(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(withAddresses)
  if (typeof value !== 'object' || value === null) return value
  const { type, url } = value as JsonObject
  const members = Object.entries(value).map(([name, one]) => [name, withAddresses(one)] as const)
  const plain = Object.fromEntries(members)
  return type === 'url' && typeof url === 'string' ? { ...plain, url: new URL(url) } : plain
}

type File = Extract<MessagePart, { type: 'file' }>

/** A file of another framework may have an address that is none: it stays readable as what it is. */
function toFile(part: File, own: JsonObject): Part {
  const { kind = 'file', form: _form, bare: _bare, kept: _kept, ...rest } = own
  if (part.url !== undefined && !URL.canParse(part.url))
    return { type: 'text', text: `[a file at ${part.url}]` }
  const held = heldBy(part, own)
  const mediaType = part.mediaType ?? (kind === 'image' ? undefined : 'application/octet-stream')
  return {
    ...rest,
    type: kind,
    ...(mediaType === undefined ? {} : { mediaType }),
    ...(part.filename === undefined ? {} : { filename: part.filename }),
    [kind === 'image' ? 'image' : 'data']: held,
  } as unknown as Part
}

/** Tagged with its form, unless the AI SDK was given it without. */
function heldBy({ url, data = '' }: File, { form, bare, kept }: JsonObject): unknown {
  const isAt = (form ?? (url === undefined ? 'data' : 'url')) === 'url'
  const inner = kept as object | undefined
  if (isAt) return bare === true ? new URL(url ?? '') : { type: 'url', url: new URL(url ?? '') }
  if (form === undefined || form === 'data') return bare === true ? data : { type: 'data', data }
  return bare === true ? inner : { type: form, ...inner }
}
