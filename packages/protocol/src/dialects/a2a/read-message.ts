// A message of A2A, in its JSON, as what it asks of an agent. No clock, no I/O.
import { isUtf8 } from 'node:buffer'
import type { JsonObject, JsonValue } from '../../json.ts'
import { readOptions } from './options.ts'
import type { HandoffOptions } from './options.ts'
import { HANDOFF_EXTENSION } from './words.ts'

/** What a message asks. */
export interface AskedA2a {
  readonly messageId: string
  /** Those of the caller; empty where it names none. */
  readonly contextId: string
  readonly taskId: string
  /** All its text, a line between two parts. */
  readonly text: string
  /** The members of its data parts together; of two with one name the later. */
  readonly data: JsonObject
  /** Its parts as they came; undefined where they are one plain text. */
  readonly parts: readonly JsonObject[] | undefined
  readonly options: HandoffOptions
  /** The canonical handoff that it carries instead: a body of POST /v2/handoffs. */
  readonly handoff: JsonObject | undefined
}

export interface A2aRefusal {
  readonly kind: 'malformed' | 'content'
  readonly pointer: string
  readonly problem: string
  readonly fix: string
}

export type ReadA2a =
  | { readonly ok: true; readonly asked: AskedA2a }
  | { readonly ok: false; readonly refusal: A2aRefusal }

const PARTS_MAX = 100
const ID_MAX = 256
/** A `contextId` or `messageId` of a caller: printable, so that it can stand in a list. */
const ID = /^[^\p{Cc}\p{Cs}]{1,256}$/u

/** Reads `params.message`. The pointers of a refusal are into the message. */
export function readA2aMessage(message: JsonObject): ReadA2a {
  const { role, parts } = message
  if (role !== 'ROLE_USER')
    return malformed('/role', 'is not ROLE_USER', 'Only callers send messages here.')
  for (const name of ['messageId', 'contextId', 'taskId'] as const) {
    const id = message[name] ?? ''
    const isFine = typeof id === 'string' && (id === '' ? name !== 'messageId' : ID.test(id))
    if (!isFine)
      return malformed(
        `/${name}`,
        'is no id',
        `Give 1 to ${ID_MAX} characters without control characters.`,
      )
  }
  if (!Array.isArray(parts) || parts.length === 0 || parts.length > PARTS_MAX)
    return malformed('/parts', `are not 1 to ${PARTS_MAX}`, 'Send at least one part.')
  const read = readParts(parts as readonly JsonValue[])
  if (!read.ok) return read
  const options = readOptions(message)
  if (!options.ok) return malformed(options.pointer, options.problem, options.fix)
  const handoff = handoffIn(message, read.data)
  const { texts, data } = read
  const isPlain = parts.length === 1 && texts.length === 1 && isBare(parts[0] as JsonObject)
  return {
    ok: true,
    asked: {
      messageId: textOf(message['messageId']),
      contextId: textOf(message['contextId']),
      taskId: textOf(message['taskId']),
      text: texts.join('\n'),
      data: Object.assign({}, ...data.map(memberOf)) as JsonObject,
      parts: isPlain ? undefined : (parts as readonly JsonObject[]),
      options: options.value,
      handoff,
    },
  }
}

const textOf = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

const isBare = (part: JsonObject): boolean => Object.keys(part).every((name) => name === 'text')

type ReadParts =
  | { readonly ok: true; readonly texts: string[]; readonly data: JsonValue[] }
  | Extract<ReadA2a, { ok: false }>

function readParts(parts: readonly JsonValue[]): ReadParts {
  const texts: string[] = []
  const data: JsonValue[] = []
  for (const [index, part] of parts.entries()) {
    const at = `/parts/${index}`
    if (!isObject(part))
      return malformed(at, 'is no part', 'Send an object with text, data, url or raw.')
    const content = CONTENTS.filter((name) => part[name] !== undefined)
    const [name] = content
    if (name === undefined || content.length > 1)
      return malformed(at, 'has not one content', 'Give one of text, data, url and raw.')
    const type = textOf(part['mediaType']).split(';', 1)[0]?.trim().toLowerCase() ?? ''
    const value = part[name] ?? null
    if (name === 'data') {
      if (type !== '' && !JSON_TYPE.test(type)) return otherType(at, type)
      data.push(value)
    } else if (typeof value !== 'string') {
      return malformed(`${at}/${name}`, 'is no text', 'Send a text.')
    } else if (name === 'text') {
      if (type !== '' && !TEXT_TYPE.test(type)) return otherType(at, type)
      texts.push(value)
    } else if (name === 'raw') {
      const text = decode(value, type)
      if (text === undefined) return otherType(at, type)
      texts.push(text)
    }
  }
  return { ok: true, texts, data }
}

const CONTENTS = ['text', 'data', 'url', 'raw'] as const
const TEXT_TYPE = /^text\/[\w.+-]+$|^application\/([\w.-]+\+)?json$/
const JSON_TYPE = /^application\/([\w.-]+\+)?json$/

/** Bytes are taken where they are text; anything else is better named by its URL. */
function decode(raw: string, type: string): string | undefined {
  const bytes = Buffer.from(raw, 'base64')
  return TEXT_TYPE.test(type) && isUtf8(bytes) ? bytes.toString('utf8') : undefined
}

const memberOf = (value: JsonValue): JsonObject => (isObject(value) ? value : { data: value })

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A whole handoff is one only where its sender says so, so that no data is taken for one. */
function handoffIn(message: JsonObject, data: readonly JsonValue[]): JsonObject | undefined {
  const declared: readonly JsonValue[] = Array.isArray(message['extensions'])
    ? (message['extensions'] as readonly JsonValue[])
    : []
  if (!declared.includes(HANDOFF_EXTENSION)) return undefined
  return data
    .filter(isObject)
    .find((one) => isObject(one['agentState']) || isObject(one['message']))
}

const malformed = (pointer: string, problem: string, fix: string) => ({
  ok: false as const,
  refusal: { kind: 'malformed' as const, pointer, problem, fix },
})

const otherType = (pointer: string, type: string) => ({
  ok: false as const,
  refusal: {
    kind: 'content' as const,
    pointer: `${pointer}/mediaType`,
    problem: `${/^[\w.+/-]{1,100}$/.test(type) ? type : 'the media type'} is not taken`,
    fix: 'Send text, JSON data, or the URL of what has another media type.',
  },
})
