// Turns bytes from anywhere into a JSON value, or into details; never throws, always linear.
import { isUtf8 } from 'node:buffer'
import { canonicalJson } from './canonical-json.ts'
import type { Detail } from './detail.ts'
import type { JsonValue } from './json.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { parseStrict } from './strict-parser.ts'

export type Parsed =
  | {
      readonly ok: true
      readonly value: JsonValue
      /** True when the bytes are the RFC 8785 form of the value. */
      readonly canonical: boolean
    }
  | { readonly ok: false; readonly details: readonly Detail[] }

/**
 * Parses strictly: valid UTF-8, no duplicate keys, no lone surrogates, no `__proto__`, within the
 * limits. Canonical bytes, which is what Baton itself sends, take a fast path: they equal what
 * JSON.stringify makes of their value, which rules out duplicate keys and every other spelling.
 * Everything else is read by the strict parser, which accepts any spelling, can say where an error
 * is, and costs several times as much.
 */
export function parseMessage(bytes: Uint8Array, limits: Limits = DEFAULT_LIMITS): Parsed {
  const tooLong = checkSize(bytes, limits)
  if (tooLong !== undefined) return { ok: false, details: [tooLong] }
  if (!isUtf8(bytes)) return { ok: false, details: [NOT_UTF8] }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  const value = parseCanonical(text, limits)
  if (value !== undefined) return { ok: true, value, canonical: true }
  const strict = parseStrict(text, limits)
  if (!strict.ok) return strict
  return { ...strict, canonical: canonicalJson(strict.value, limits) === text }
}

/** The size check of I6; a message that is too long is not even hashed. */
export function checkSize(bytes: Uint8Array, { bytesMax }: Limits): Detail | undefined {
  if (bytes.length <= bytesMax) return undefined
  return {
    pointer: '',
    rule: 'bytesMax',
    message: `the message takes ${bytes.length} bytes; ${bytesMax} are allowed`,
    fix: 'Compress the conversation, or send references to large data.',
  }
}

const NOT_UTF8: Detail = {
  pointer: '',
  rule: 'utf8',
  message: 'the message is not valid UTF-8',
  fix: 'Encode the JSON text as UTF-8 without errors.',
}

/** The value of text that is surely canonical; the rest goes to the strict parser. */
function parseCanonical(text: string, limits: Limits): JsonValue | undefined {
  // An escaped surrogate or a __proto__ member may be legal text; the strict parser tells.
  if (text.includes('\\ud') || text.includes('"__proto__"')) return undefined
  try {
    const value = JSON.parse(text) as JsonValue
    if (!isOrdered(value, limits, 0)) return undefined
    return JSON.stringify(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether keys stand in RFC 8785 order everywhere and the limits hold. */
function isOrdered(value: JsonValue, limits: Limits, depth: number): boolean {
  if (typeof value === 'string') return value.length <= limits.stringMax
  if (typeof value !== 'object' || value === null) return true
  if (depth >= limits.depthMax) return false
  return Array.isArray(value)
    ? isOrderedArray(value, limits, depth)
    : isOrderedObject(value as Readonly<Record<string, JsonValue>>, limits, depth)
}

function isOrderedArray(items: readonly JsonValue[], limits: Limits, depth: number): boolean {
  return (
    items.length <= limits.itemsMax && items.every((item) => isOrdered(item, limits, depth + 1))
  )
}

function isOrderedObject(
  members: Readonly<Record<string, JsonValue>>,
  limits: Limits,
  depth: number,
): boolean {
  const keys = Object.keys(members)
  if (keys.length > limits.itemsMax) return false
  let previous: string | undefined
  for (const key of keys) {
    if (previous !== undefined && previous >= key) return false
    if (key.length > limits.stringMax) return false
    if (!isOrdered(members[key] as JsonValue, limits, depth + 1)) return false
    previous = key
  }
  return true
}
