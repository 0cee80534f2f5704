// What agent frameworks keep of a conversation and what a handoff carries of it are one thing: messages become turns and tool calls, and turns messages, without loss.
import { hash } from 'node:crypto'
import { canonicalBytes, DEFAULT_LIMITS } from '@baton/protocol'
import type { JsonObject, JsonValue } from '@baton/protocol'
import type { ToolCall, Turn } from '@baton/protocol/settlement'
import { permanent } from '@baton/runtime'

/** What a framework keeps that no other one reads, by the name of the framework: it travels, and comes back to that framework alone. */
type Own = Readonly<Record<string, JsonValue>>

interface WithOwn {
  readonly own?: Own
}

/** One part of what somebody said. */
export type MessagePart = WithOwn &
  (
    | { readonly type: 'text'; readonly text: string }
    | { readonly type: 'reasoning'; readonly text: string }
    | {
        readonly type: 'file'
        readonly mediaType?: string
        readonly filename?: string
        /** Base64. */
        readonly data?: string
        readonly url?: string
      }
    | {
        readonly type: 'tool-call'
        readonly callId: string
        readonly tool: string
        readonly input: JsonValue
      }
    | {
        readonly type: 'tool-result'
        readonly callId: string
        readonly tool: string
        readonly output: JsonValue
        readonly failed?: boolean
      }
    /** What only its framework understands. */
    | { readonly type: 'other'; readonly own: Own }
  )

/** One message of a conversation, as agent frameworks keep it. */
export interface ChatMessage extends WithOwn {
  /** system, user, assistant, tool, or another role. */
  readonly role: string
  readonly parts: readonly MessagePart[]
  readonly name?: string
  /** RFC 3339. */
  readonly timestamp?: string
}

/** What `buildHandoffMessage` takes of a conversation. */
export interface ConversationTurns {
  readonly conversationHistory: readonly Turn[]
  readonly toolCallHistory: readonly ToolCall[]
}

/**
 * The turns and tool calls of a conversation. A call without a time of its own was made at `at`. Throws BATON_CONVERSATION_INVALID
 * for what a message cannot carry: a file or a text beyond the limits of a message, or a value that is no JSON.
 */
export function turnsOf(
  messages: readonly ChatMessage[],
  { at = new Date().toISOString() }: { readonly at?: string } = {},
): ConversationTurns {
  return {
    conversationHistory: messages.map(turnOf),
    toolCallHistory: messages.flatMap(({ parts, timestamp = at }) =>
      parts
        .filter((part) => part.type === 'tool-call')
        .map(({ tool, input }) => ({ tool, calledAt: timestamp, inputHash: inputHash(input) })),
    ),
  }
}

/** The messages that turns were made of; turns of senders without a framework are one text each. */
export const messagesOf = (turns: readonly Turn[]): readonly ChatMessage[] => turns.map(messageOf)

/** All that is said in a message, as one text. */
export const textOf = ({ parts }: ChatMessage): string =>
  parts
    .filter((part) => part.type === 'text')
    .map(({ text }) => text)
    .join('')

/**
 * Any value as JSON, for tool inputs and outputs that a framework types as unknown. What JSON has no word for (functions, symbols,
 * cycles, numbers that are none) throws BATON_CONVERSATION_INVALID; bytes become base64, and members that are undefined are left out.
 */
export function jsonOf(value: unknown, what: string): JsonValue {
  try {
    const text = JSON.stringify(value ?? null, plainly) as string | undefined
    if (text !== undefined) return JSON.parse(text) as JsonValue
  } catch {
    // Said below, without the value.
  }
  throw invalid(`${what} is no JSON`, 'Give it as objects, arrays, strings, finite numbers.')
}

/** Bytes are texts in base64. */
function plainly(this: unknown, key: string, value: unknown): unknown {
  const given: unknown = (this as Readonly<Record<string, unknown>>)[key]
  if (given instanceof Uint8Array || given instanceof ArrayBuffer)
    return Buffer.from(given as Uint8Array).toString('base64')
  const isWrong =
    typeof value === 'function' ||
    typeof value === 'symbol' ||
    typeof value === 'bigint' ||
    (typeof value === 'number' && !Number.isFinite(value))
  if (isWrong) throw new TypeError('no JSON')
  return value
}

/** Parts stand in the turn's metadata; their texts stand in its content, one after the other, so that nothing is said twice. */
interface StoredPart {
  readonly type: string
  /** How long its text is in the content. */
  readonly chars: number
  readonly [member: string]: JsonValue
}

function turnOf(message: ChatMessage, index: number): Turn {
  const { role, parts, name, timestamp, own } = message
  const texts = parts.map(contentOf)
  const content = texts.join('')
  const [only] = parts
  const stored = parts.map((part, at) => storedPart(part, texts[at]?.length ?? 0))
  const isPlain = parts.length === 1 && only?.type === 'text' && only.own === undefined
  const metadata: JsonObject = {
    ...(isPlain ? {} : { parts: stored }),
    ...(own === undefined ? {} : { own }),
  }
  const answers = parts.length === 1 && only?.type === 'tool-result' ? only : undefined
  const turn: Turn = {
    role,
    content,
    ...(timestamp === undefined ? {} : { timestamp }),
    ...nameOf(name, answers?.tool),
    ...(answers === undefined ? {} : { tool_call_id: answers.callId }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
  }
  refuseTooLong(turn, `message ${index}`)
  return turn
}

const nameOf = (...names: readonly (string | undefined)[]) => {
  const name = names.find((one) => one !== undefined)
  return name === undefined ? {} : { name }
}

/** What a reader without the framework sees of it. */
function contentOf(part: MessagePart): string {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text
    case 'tool-call':
      return JSON.stringify(part.input)
    case 'tool-result':
      return typeof part.output === 'string' ? part.output : JSON.stringify(part.output)
    case 'file':
    case 'other':
      return ''
  }
}

function storedPart(part: MessagePart, chars: number): StoredPart {
  const own = part.own === undefined ? {} : { own: part.own }
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { type: part.type, chars, ...own }
    case 'tool-call':
      return { type: part.type, chars, callId: part.callId, tool: part.tool, ...own }
    case 'tool-result': {
      const json = typeof part.output === 'string' ? {} : { json: true }
      const failed = part.failed === true ? { failed: true } : {}
      return {
        type: part.type,
        chars,
        callId: part.callId,
        tool: part.tool,
        ...json,
        ...failed,
        ...own,
      }
    }
    case 'file': {
      const { mediaType, filename, data, url } = part
      const given = Object.entries({ mediaType, filename, data, url })
      const said = given.filter(([, value]) => value !== undefined)
      return { type: part.type, chars, ...(Object.fromEntries(said) as JsonObject), ...own }
    }
    case 'other':
      return { type: part.type, chars, ...own }
  }
}

function messageOf(turn: Turn): ChatMessage {
  const { role, content, name, timestamp, metadata } = turn
  const parts = partsOf(turn)
  const [only] = parts
  // The name of a turn that answers a call is its tool's.
  const isTools = only?.type === 'tool-result' && only.tool === name
  const own = ownOf(metadata)
  return {
    role,
    parts: parts.length === 0 && content !== '' ? [{ type: 'text', text: content }] : parts,
    ...(name === undefined || isTools ? {} : { name }),
    ...(timestamp === undefined ? {} : { timestamp }),
    ...own,
  }
}

const ownOf = (holder: JsonObject | undefined): WithOwn => {
  const own = holder?.['own']
  return isObject(own) ? { own } : {}
}

function partsOf({ role, content, name, tool_call_id: callId, metadata }: Turn): MessagePart[] {
  const stored = metadata?.['parts']
  const parts = Array.isArray(stored) ? readParts(stored, content) : undefined
  if (parts !== undefined) return parts
  if (role === 'tool' && callId !== undefined)
    return [{ type: 'tool-result', callId, tool: name ?? 'tool', output: content }]
  return [{ type: 'text', text: content }]
}

/** Undefined where they are not what stands in the content: then somebody else changed it, and what is said counts. */
function readParts(stored: readonly JsonValue[], content: string): MessagePart[] | undefined {
  let from = 0
  const parts: MessagePart[] = []
  for (const one of stored) {
    if (!isObject(one)) return undefined
    const chars = one['chars']
    if (typeof chars !== 'number' || !Number.isSafeInteger(chars) || chars < 0) return undefined
    const part = readPart(one, content.slice(from, from + chars))
    if (part === undefined) return undefined
    parts.push(part)
    from += chars
  }
  return from === content.length ? parts : undefined
}

function readPart(stored: JsonObject, text: string): MessagePart | undefined {
  const own = ownOf(stored)
  const { type, callId, tool } = stored
  switch (type) {
    case 'text':
    case 'reasoning':
      return { type, text, ...own }
    case 'tool-call': {
      const input = parsed(text)
      if (typeof callId !== 'string' || typeof tool !== 'string' || input === undefined)
        return undefined
      return { type, callId, tool, input, ...own }
    }
    case 'tool-result': {
      const output = stored['json'] === true ? parsed(text) : text
      if (typeof callId !== 'string' || typeof tool !== 'string' || output === undefined)
        return undefined
      const failed = stored['failed'] === true ? { failed: true } : {}
      return { type, callId, tool, output, ...failed, ...own }
    }
    case 'file': {
      const names = ['mediaType', 'filename', 'data', 'url']
      const said = names.filter((name) => typeof stored[name] === 'string')
      return { type, ...Object.fromEntries(said.map((name) => [name, stored[name]])), ...own }
    }
    case 'other':
      return own.own === undefined ? undefined : { type, own: own.own }
    default:
      return undefined
  }
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** As the message says it: SHA-256 of the RFC 8785 form. */
const inputHash = (input: JsonValue): string => `sha256:${hash('sha256', canonicalBytes(input))}`

function refuseTooLong(value: unknown, place: string): void {
  if (typeof value === 'string' && value.length > DEFAULT_LIMITS.stringMax) {
    throw invalid(
      `${place} holds ${value.length} characters in one piece, and a handoff carries at most ${DEFAULT_LIMITS.stringMax}`,
      'Put a large file where the receiver can fetch it, and hand over its address.',
    )
  }
  if (typeof value !== 'object' || value === null) return
  for (const one of Object.values(value)) refuseTooLong(one, place)
}

const invalid = (what: string, fix: string) =>
  permanent('BATON_CONVERSATION_INVALID', what, { fix })
