// Finds JSON objects in what an agent wrote around them: prose, code fences, other braces. In linear time.
import type { JsonObject } from '../../json.ts'
import { parseMessage } from '../../parse-message.ts'
import { isObject } from './read-members.ts'

/** A text is gone over so many times at most; what only more would find is not found. */
const PASSES_MAX = 8
/** Of the bytes of a reply that are looked at. */
const TEXT_MAX = 1_048_576

/** The objects that stand in a text by themselves, not inside each other, in their order. */
export function objectsInText(text: string): readonly JsonObject[] {
  if (text.length > TEXT_MAX) return []
  const found: JsonObject[] = []
  let budget = text.length * PASSES_MAX
  let at = text.indexOf('{')
  while (at >= 0 && budget > 0) {
    const { end, read } = objectFrom(text, at)
    budget -= read
    const object = end === undefined ? undefined : parseObject(text.slice(at, end))
    if (object !== undefined) found.push(object)
    // Around an object that is none, one may still stand inside its braces.
    at = text.indexOf('{', object === undefined || end === undefined ? at + 1 : end)
  }
  return found
}

function parseObject(text: string): JsonObject | undefined {
  const parsed = parseMessage(Buffer.from(text))
  return parsed.ok && isObject(parsed.value) ? parsed.value : undefined
}

/** Whatever JSON has outside of its strings and brackets. */
const OTHER = /[\s,:0-9+\-.eEtrufalsn]/

/** Where what opens at `start` closes, as far as it may be JSON; and how many characters that took. */
function objectFrom(text: string, start: number): { end?: number; read: number } {
  let depth = 0
  let at = start
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '"') {
      at = endOfString(text, at)
      continue
    }
    at += 1
    if (char === '{' || char === '[') depth += 1
    else if (char === '}' || char === ']') depth -= 1
    else if (!OTHER.test(char)) break
    if (depth === 0) return { end: at, read: at - start }
  }
  return { read: at - start }
}

function endOfString(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}
