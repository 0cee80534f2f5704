// A HandoffContext: what a receiving agent needs to go on. Read strictly or as running peers do, written byte for byte as they do.
import type { JsonObject } from '../../json.ts'
import { brokenRule } from './context-schema.ts'
import { readPythonJson } from './python-json-reader.ts'
import { writePythonJson } from './python-json-writer.ts'
import type { WriteOptions } from './python-json-writer.ts'
import { decodeUtf8 } from './python-utf8.ts'
import { isDict, isList, jsonObjectOf, jsonOf, pythonValueOf } from './python-value.ts'
import type { PythonDict, PythonValue } from './python-value.ts'
import { Sw4rmError } from './sw4rm-error.ts'

/** Its three parts as Python holds them. Lenient reading takes any value for each, as running peers do. */
export interface HandoffContext {
  readonly conversation_history: PythonValue
  readonly tool_state: PythonValue
  readonly metadata: PythonValue
}

/** A context of plain values; what is left out is empty. */
export interface ContextParts {
  readonly conversation_history?: readonly object[]
  readonly tool_state?: object
  readonly metadata?: object
}

/** `strict` holds a context to the published schema; `lenient` reads what running peers read. */
export type ContextMode = 'strict' | 'lenient'

/** The peer's `from_dict`, defaults included. Throws for what has no JSON. */
export function contextFrom(parts: ContextParts): HandoffContext {
  const { conversation_history = [], tool_state = {}, metadata = {} } = parts
  return {
    conversation_history: pythonValueOf(conversation_history),
    tool_state: pythonValueOf(tool_state),
    metadata: pythonValueOf(metadata),
  }
}

/** The peer's `to_dict`: plain values in the order in which they are written. */
export const contextObject = (context: HandoffContext): JsonObject => jsonObjectOf(dictOf(context))

const dictOf = ({ conversation_history, tool_state, metadata }: HandoffContext): PythonDict =>
  new Map([
    ['conversation_history', conversation_history],
    ['tool_state', tool_state],
    ['metadata', metadata],
  ])

/** The bytes that the peer's `serialize_context` gives. Throws where it raises, and for NaN and Infinity, which are no JSON. */
export const serializeContext = (context: HandoffContext, options?: WriteOptions): Uint8Array =>
  Buffer.from(writePythonJson(dictOf(context), options), 'utf8')

/** Reads a context of at most `bytesMax` bytes. Throws a Sw4rmError that begins as the peer's ValueError does. */
export function deserializeContext(
  bytes: Uint8Array,
  { mode = 'strict', bytesMax = CONTEXT_BYTES_MAX }: ReadOptions = {},
): HandoffContext {
  if (bytes.length > bytesMax) throw unreadable(`${bytes.length} bytes; ${bytesMax} are allowed`)
  const decoded = decodeUtf8(bytes)
  if (!decoded.ok) throw unreadable(decoded.why)
  const read = readPythonJson(decoded.text)
  if (!read.ok) throw unreadable(read.why)
  return mode === 'strict' ? strictly(read.value) : leniently(read.value)
}

export interface ReadOptions {
  readonly mode?: ContextMode
  readonly bytesMax?: number
}

/** How large a context may be once it is unpacked: as large as a message. */
export const CONTEXT_BYTES_MAX = 1_048_576

const unreadable = (why: string) => new Sw4rmError(`Failed to deserialize HandoffContext: ${why}`)

function strictly(value: PythonValue): HandoffContext {
  const nonFinite = findNonFinite(value)
  if (nonFinite !== undefined) throw unreadable(`${nonFinite} is not JSON`)
  const broken = brokenRule(jsonOf(value))
  if (broken !== undefined) throw unreadable(broken)
  return leniently(value)
}

/** Unknown members on the top level are dropped, and missing ones are empty. */
function leniently(value: PythonValue): HandoffContext {
  if (!isDict(value)) throw unreadable(`'${pythonType(value)}' object has no attribute 'get'`)
  return {
    conversation_history:
      value.get('conversation_history') ?? missing(value, 'conversation_history', []),
    tool_state: value.get('tool_state') ?? missing(value, 'tool_state', new Map()),
    metadata: value.get('metadata') ?? missing(value, 'metadata', new Map()),
  }
}

const missing = (dict: PythonDict, key: string, empty: PythonValue): PythonValue =>
  dict.has(key) ? null : empty

function pythonType(value: PythonValue): string {
  if (value === null) return 'NoneType'
  if (isList(value)) return 'list'
  const types: Readonly<Record<string, string>> = {
    string: 'str',
    boolean: 'bool',
    bigint: 'int',
    number: 'float',
  }
  return types[typeof value] ?? 'dict'
}

function findNonFinite(value: PythonValue): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : value
  if (!isDict(value) && !isList(value)) return undefined
  for (const item of value.values()) {
    const found = findNonFinite(item)
    if (found !== undefined) return found
  }
  return undefined
}
