// Reads one JSON string or number out of a text, strictly and in linear time.
import type { Limits } from './limits.ts'

/** Where a reader stands in its text. */
export interface Cursor {
  readonly text: string
  readonly limits: Limits
  position: number
}

/** Ends the parse; `rule` names what was broken. */
export class ScalarError extends Error {
  readonly rule: string
  constructor(rule: string, message: string) {
    super(message)
    this.rule = rule
  }
}

// A quote, a backslash, or a character below the space, which may not stand unescaped.
const STRING_END = /["\\]|[^ -\uffff]/g
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y

/** Reads the string that starts at the cursor's quote. */
export function readString(cursor: Cursor): string {
  const { text, limits } = cursor
  const start = cursor.position
  let escaped = false
  cursor.position += 1
  for (;;) {
    STRING_END.lastIndex = cursor.position
    const end = STRING_END.exec(text)?.index ?? text.length
    cursor.position = end
    const found = text[end]
    if (found === '"') break
    if (found !== '\\')
      throw new ScalarError('syntax', END_MESSAGES[found === undefined ? 'open' : 'raw'])
    ESCAPE.lastIndex = end
    const escape = ESCAPE.exec(text)?.[0]
    if (escape === undefined)
      throw new ScalarError('syntax', 'an escape sequence that JSON does not know')
    cursor.position = end + escape.length
    escaped = true
  }
  cursor.position += 1
  const raw = text.slice(start, cursor.position)
  const value = escaped ? (JSON.parse(raw) as string) : raw.slice(1, -1)
  if (value.length > limits.stringMax)
    throw new ScalarError('stringMax', `a string of more than ${limits.stringMax} characters`)
  if (escaped && !value.isWellFormed())
    throw new ScalarError('surrogate', 'half of a surrogate pair')
  return value
}

const END_MESSAGES = {
  open: 'the string does not end',
  raw: 'a control character stands unescaped in a string',
}

/**
 * Reads the number at the cursor. Refuses what a double cannot hold: too large, or an integer that
 * would change its value; nothing of a message is altered silently.
 */
export function readNumber(cursor: Cursor): number {
  NUMBER.lastIndex = cursor.position
  const raw = NUMBER.exec(cursor.text)?.[0]
  if (raw === undefined)
    throw new ScalarError(
      'syntax',
      cursor.position < cursor.text.length ? 'not a JSON value' : 'the text ends too early',
    )
  const value = Number(raw)
  if (!Number.isFinite(value))
    throw new ScalarError('numberRange', 'the number is too large for a double')
  if (losesDigits(raw, value))
    throw new ScalarError('numberRange', 'the integer cannot be held exactly by a double')
  cursor.position += raw.length
  return value
}

/** Whether an integer would come out as another one; what a double itself prints is kept. */
function losesDigits(raw: string, value: number): boolean {
  if (!/^-?[0-9]{16,}$/.test(raw) || String(value) === raw) return false
  return BigInt(raw) !== BigInt(value)
}
