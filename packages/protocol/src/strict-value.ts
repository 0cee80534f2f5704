// Takes a plain copy of an in-memory value, or says where it is not strict JSON within the limits.
import { boundedPointer } from './detail.ts'
import type { Detail } from './detail.ts'
import { pointerTo } from './json.ts'
import type { JsonValue } from './json.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'

export type StrictCopy =
  | { readonly ok: true; readonly value: JsonValue; readonly integerKeys: boolean }
  | { readonly ok: false; readonly detail: Detail }

/**
 * Copies a value with its keys in RFC 8785 order. Nothing of the original is kept, so a getter or
 * a proxy cannot show one value to a check and another to its user. Never throws.
 */
export function copyStrict(value: unknown, limits: Limits = DEFAULT_LIMITS): StrictCopy {
  const state: CopyState = { limits, integerKeys: false, path: [] }
  try {
    return { ok: true, value: copyValue(value, 0, state), integerKeys: state.integerKeys }
  } catch (error) {
    const refusal = error instanceof NotStrict ? error : new NotStrict('readable', UNREADABLE)
    return { ok: false, detail: detailOf(refusal, state.path) }
  }
}

interface CopyState {
  readonly limits: Limits
  integerKeys: boolean
  /** The member names on the way to the value at hand; those beyond its depth are stale. */
  readonly path: (string | number)[]
}

const UNREADABLE = 'the value could not be read'
const FIX_PLAIN = 'Send plain JSON data: objects, arrays, strings, finite numbers, booleans, null.'
const FIX_SIZE = 'Shorten, split or flatten it, or send a reference to the data.'

/** Ends the walk; `depth` says how much of the path counts. */
class NotStrict extends Error {
  readonly rule: string
  readonly depth: number
  readonly fix: string
  constructor(rule: string, message: string, at: { depth?: number; fix?: string } = {}) {
    super(message)
    this.rule = rule
    this.depth = at.depth ?? 0
    this.fix = at.fix ?? FIX_PLAIN
  }
}

function detailOf({ rule, message, depth, fix }: NotStrict, path: (string | number)[]): Detail {
  const pointer = boundedPointer(path.slice(0, depth).reduce<string>(pointerTo, ''))
  return { pointer, rule, message, fix }
}

function copyValue(value: unknown, depth: number, state: CopyState): JsonValue {
  switch (typeof value) {
    case 'string':
      return checkString(value, depth, state.limits)
    case 'number':
      if (!Number.isFinite(value)) throw new NotStrict('number', `${value} is not JSON`, { depth })
      return value
    case 'boolean':
      return value
    case 'object':
      if (value === null) return null
      if (depth >= state.limits.depthMax) throw tooDeep(depth, state.limits)
      return Array.isArray(value) ? copyArray(value, depth, state) : copyObject(value, depth, state)
    default:
      throw new NotStrict('type', `a value of type ${typeof value} is not JSON`, { depth })
  }
}

function tooDeep(depth: number, { depthMax }: Limits): NotStrict {
  return new NotStrict('depthMax', `Nested deeper than ${depthMax}`, { depth, fix: FIX_SIZE })
}

function checkString(value: string, depth: number, { stringMax }: Limits): string {
  if (value.length > stringMax)
    throw new NotStrict('stringMax', `a string of more than ${stringMax} characters`, {
      depth,
      fix: FIX_SIZE,
    })
  if (!value.isWellFormed())
    throw new NotStrict('surrogate', 'half of a surrogate pair', {
      depth,
      fix: 'Cut strings between characters, not inside one.',
    })
  return value
}

function checkCount(count: number, depth: number, { itemsMax }: Limits): void {
  if (count <= itemsMax) return
  throw new NotStrict('itemsMax', `More than ${itemsMax} members`, { depth, fix: FIX_SIZE })
}

function copyArray(value: readonly unknown[], depth: number, state: CopyState): JsonValue {
  const { length } = value
  checkCount(length, depth, state.limits)
  const copy: JsonValue[] = []
  for (let index = 0; index < length; index += 1) {
    state.path[depth] = index
    copy.push(copyValue(value[index], depth + 1, state))
  }
  return copy
}

function copyObject(value: object, depth: number, state: CopyState): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null)
    throw new NotStrict('type', 'an instance of a class is not JSON', { depth })
  const keys = Object.keys(value).sort()
  checkCount(keys.length, depth, state.limits)
  const copy: Record<string, JsonValue> = {}
  for (const key of keys) {
    const item = (value as Record<string, unknown>)[key]
    if (item === undefined) continue
    state.path[depth] = key
    checkKey(key, depth + 1, state)
    copy[key] = copyValue(item, depth + 1, state)
  }
  return copy
}

function checkKey(key: string, depth: number, state: CopyState): void {
  checkString(key, depth, state.limits)
  if (key === '__proto__')
    throw new NotStrict('proto', 'the key __proto__ is not allowed', {
      depth,
      fix: 'Rename the key.',
    })
  if (isIntegerKey(key)) state.integerKeys = true
}

/** Keys that JavaScript objects move to the front, out of RFC 8785 order. */
function isIntegerKey(key: string): boolean {
  const first = key.charCodeAt(0)
  return first >= 48 && first <= 57 && String(Number(key) >>> 0) === key
}
