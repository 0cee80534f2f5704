// A JSON value as Python holds it: whole numbers apart from floats, members in their order, strings as they came.
import type { JsonObject, JsonValue } from '../../json.ts'
import { Sw4rmError } from './sw4rm-error.ts'

/** `bigint` is Python's int, `number` its float, a map its dict: what one of them wrote is written again alike. */
export type PythonValue =
  | null
  | boolean
  | string
  | bigint
  | number
  | readonly PythonValue[]
  | PythonDict
export type PythonDict = ReadonlyMap<string, PythonValue>

export const isDict = (value: unknown): value is PythonDict => value instanceof Map

export const isList = (value: PythonValue | undefined): value is readonly PythonValue[] =>
  Array.isArray(value)

/** How deep values may be nested; Python itself gives up near a thousand. */
export const DEPTH_MAX = 128

/**
 * The value that Python would have for a JavaScript one: whole numbers become ints, all others floats. Bigints and maps are
 * taken as they are. Throws where the peer's `json.dumps` would, in its words.
 */
export function pythonValueOf(value: unknown, depth = 0): PythonValue {
  if (depth > DEPTH_MAX) throw unserialisable('Circular reference detected')
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return value
    case 'number':
      return Number.isInteger(value) && !Object.is(value, -0) ? BigInt(value) : value
    case 'object':
      return value === null ? null : containerOf(value, depth)
    default:
      throw unserialisable(`Object of type ${typeof value} is not JSON serializable`)
  }
}

function containerOf(value: object, depth: number): PythonValue {
  if (Array.isArray(value)) return value.map((item: unknown) => pythonValueOf(item, depth + 1))
  if (value instanceof Map) return dictOf([...value] as [string, unknown][], depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null)
    return dictOf(Object.entries(value), depth)
  throw unserialisable(
    `Object of type ${value.constructor?.name ?? 'object'} is not JSON serializable`,
  )
}

const dictOf = (entries: readonly (readonly [string, unknown])[], depth: number): PythonDict =>
  new Map(
    entries
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, pythonValueOf(item, depth + 1)]),
  )

const unserialisable = (why: string) => new Sw4rmError(`Failed to serialize HandoffContext: ${why}`)

/**
 * The same value for a program or a message, which may change it: a float that is whole becomes an integer, an int beyond 2^53
 * and a float that is no number become text, half a surrogate pair becomes U+FFFD. Throws for a key that no message may have.
 */
export function jsonOf(value: PythonValue): JsonValue {
  if (typeof value === 'bigint') return jsonInteger(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'string') return value.toWellFormed()
  if (isDict(value)) return jsonObjectOf(value)
  return isList(value) ? value.map(jsonOf) : value
}

const jsonInteger = (value: bigint): JsonValue =>
  Number.isSafeInteger(Number(value)) ? Number(value) : String(value)

/** The members of a dict by name. */
export function jsonObjectOf(dict: PythonDict): JsonObject {
  if (dict.has('__proto__'))
    throw new Sw4rmError('Failed to read HandoffContext: the key __proto__ is not allowed')
  return Object.fromEntries([...dict].map(([key, item]) => [key.toWellFormed(), jsonOf(item)]))
}
