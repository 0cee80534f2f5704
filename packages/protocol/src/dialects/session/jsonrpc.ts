// The JSON-RPC that session peers speak: one method, a message of text parts, and their error codes (S22).
import { randomUUID } from 'node:crypto'
import type { Detail } from '../../detail.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { parseMessage } from '../../parse-message.ts'
import { isObject } from './read-members.ts'

export const RPC_ERRORS = {
  PARSE: -32700,
  REQUEST: -32600,
  METHOD: -32601,
  PARAMS: -32602,
  FAILED: -32000,
  /** The context is busy; to be tried again. */
  BUSY: -32001,
} as const
export type RpcCode = (typeof RPC_ERRORS)[keyof typeof RPC_ERRORS]

export type RpcId = string | number | null

export interface RpcMessage {
  readonly id: RpcId
  readonly role: 'user' | 'agent'
  /** All text parts, a line break between two. */
  readonly text: string
  /** A fresh one where the peer names none. */
  readonly contextId: string
  readonly messageId: string | null
}

export interface RpcRefusal {
  readonly id: RpcId
  readonly code: RpcCode
  readonly message: string
  /** What else is said of it; of a busy context that it may be tried again. */
  readonly data?: JsonObject
}

export type ReadRpc =
  | { readonly ok: true; readonly message: RpcMessage }
  | { readonly ok: false; readonly refusal: RpcRefusal }

const METHODS: readonly JsonValue[] = ['SendMessage', 'message/send']
const ROLE_OF: ReadonlyMap<JsonValue, 'user' | 'agent'> = new Map([
  ['user', 'user'],
  ['agent', 'agent'],
  ['ROLE_USER', 'user'],
  ['ROLE_AGENT', 'agent'],
])
const PARTS_MAX = 1_000
const NAME_MAX = 256

/** A body as it stands here: a message, or what is answered to it. `stringMax` bounds a text. */
export function readRpc(bytes: Uint8Array, bytesMax: number): ReadRpc {
  const limits = { bytesMax, depthMax: 64, itemsMax: 10_000, stringMax: bytesMax }
  const parsed = parseMessage(bytes, limits)
  if (!parsed.ok) return notJson(parsed.details)
  const { value } = parsed
  if (!isObject(value)) return refused(null, RPC_ERRORS.REQUEST, 'Invalid Request: not an object')
  const id = value['id'] ?? null
  if (id !== null && typeof id !== 'string' && typeof id !== 'number')
    return refused(null, RPC_ERRORS.REQUEST, 'Invalid Request: id must be a string or a number')
  if (value['jsonrpc'] !== '2.0' || typeof value['method'] !== 'string')
    return refused(id, RPC_ERRORS.REQUEST, 'Invalid Request: jsonrpc must be "2.0", with a method')
  if (!METHODS.includes(value['method']))
    return refused(id, RPC_ERRORS.METHOD, 'Method not found: use SendMessage or message/send')
  return readParams(id, value['params'])
}

const refused = (id: RpcId, code: RpcCode, message: string): ReadRpc => ({
  ok: false,
  refusal: { id, code, message },
})

// The words are those of running peers; what is wrong, where and how to mend it stands beside them.
function notJson([detail]: readonly Detail[]): ReadRpc {
  const message = 'Parse error: not one strict JSON value'
  const { pointer = '', message: why = '', fix = 'Send one JSON value.' } = detail ?? {}
  const data = { code: 'BATON_JSON_INVALID', detail: why, fix, pointer }
  return { ok: false, refusal: { id: null, code: RPC_ERRORS.PARSE, message, data } }
}

function readParams(id: RpcId, params: JsonValue | undefined): ReadRpc {
  const wrong = (message: string) => refused(id, RPC_ERRORS.PARAMS, `Invalid params: ${message}`)
  if (!isObject(params)) return wrong('params must be an object')
  if (Object.hasOwn(params, 'contextId'))
    return wrong('contextId belongs inside message, not beside it')
  const { message } = params
  if (!isObject(message)) return wrong('message must be an object')
  const role = ROLE_OF.get(message['role'] ?? 'user')
  if (role === undefined) return wrong('role must be user or agent')
  const { contextId = null, messageId = null } = message
  if (!isName(contextId)) return wrong('contextId must be a text of 1 to 256 characters')
  if (!isName(messageId)) return wrong('messageId must be a text of 1 to 256 characters')
  const text = textOf(message['parts'])
  if (text === undefined) return wrong('parts must be a list with at least one text')
  return {
    ok: true,
    message: { id, role, text, contextId: contextId ?? randomUUID(), messageId },
  }
}

const isName = (value: JsonValue): value is string | null =>
  value === null ||
  (typeof value === 'string' && value !== '' && value.length <= NAME_MAX && !/\p{Cc}/u.test(value))

function textOf(parts: JsonValue | undefined): string | undefined {
  if (!Array.isArray(parts) || parts.length > PARTS_MAX) return undefined
  const texts = (parts as readonly JsonValue[]).flatMap((part) => {
    const text = isObject(part) ? part['text'] : undefined
    return typeof text === 'string' ? [text] : []
  })
  const text = texts.join('\n')
  return text.trim() === '' ? undefined : text
}

export interface RpcAnswer {
  readonly id: RpcId
  readonly contextId: string
  readonly texts: readonly string[]
  /** An extension: the same for whatever says the same thing again. */
  readonly messageId: string
}

export const rpcAnswer = ({ id, contextId, texts, messageId }: RpcAnswer): JsonObject => ({
  jsonrpc: '2.0',
  id,
  result: {
    kind: 'message',
    message: { role: 'agent', parts: texts.map((text) => ({ text })), contextId, messageId },
  },
})

export const rpcError = ({ id, code, message, data }: RpcRefusal): JsonObject => {
  const isBusy = code === RPC_ERRORS.BUSY
  const more = isBusy || data !== undefined ? { data: { retryable: isBusy, ...data } } : {}
  return { jsonrpc: '2.0', id, error: { code, message, ...more } }
}

export interface RpcSending {
  /** Of the message; the same for every attempt to send it. */
  readonly messageId: string
  readonly role: 'user' | 'agent'
  readonly contextId: string
  readonly text: string
}

/** A request as session peers expect it. */
export const rpcSend = ({ messageId, role, contextId, text }: RpcSending): JsonObject => ({
  jsonrpc: '2.0',
  id: messageId,
  method: 'SendMessage',
  params: { message: { role, parts: [{ text }], contextId, messageId } },
})

export type RpcReply =
  /** Empty where the peer took it and said nothing. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'busy' }
  | { readonly kind: 'refused'; readonly code: number }
  /** Not what a peer of this protocol answers. */
  | { readonly kind: 'unreadable' }

/** What a peer answers to a request. */
export function readRpcReply(bytes: Uint8Array, bytesMax: number): RpcReply {
  const limits = { bytesMax, depthMax: 64, itemsMax: 10_000, stringMax: bytesMax }
  const parsed = parseMessage(bytes, limits)
  if (!parsed.ok || !isObject(parsed.value)) return { kind: 'unreadable' }
  const { error, result } = parsed.value
  if (isObject(error)) {
    if (error['code'] === RPC_ERRORS.BUSY) return { kind: 'busy' }
    return typeof error['code'] === 'number'
      ? { kind: 'refused', code: error['code'] }
      : { kind: 'unreadable' }
  }
  // Some answer with the message itself, others with it in a member.
  if (!isObject(result)) return { kind: 'unreadable' }
  const answered = result['message'] ?? result
  const text = isObject(answered) ? textOf(answered['parts']) : undefined
  return { kind: 'text', text: text ?? '' }
}
