// A strict JSON parser in one pass: says where an error is, and refuses what JSON.parse lets pass.
import { boundedPointer } from './detail.ts'
import type { Detail } from './detail.ts'
import { pointerTo } from './json.ts'
import type { JsonValue } from './json.ts'
import type { Limits } from './limits.ts'
import { readNumber, readString, ScalarError } from './json-scalars.ts'

export type StrictlyParsed =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly details: readonly Detail[] }

/**
 * Parses any JSON text that keeps the rules of parseMessage, whatever its spelling. The nesting is
 * bounded by the limits, so the recursion is too.
 */
export function parseStrict(text: string, limits: Limits): StrictlyParsed {
  const parser: Parser = { text, limits, position: 0, path: [] }
  try {
    if (text.startsWith(BYTE_ORDER_MARK))
      throw new ScalarError('byteOrderMark', 'the text starts with a byte order mark')
    const value = parseValue(parser, 0)
    skipSpace(parser)
    if (parser.position < text.length)
      throw new ScalarError('syntax', 'text after the end of the value')
    return { ok: true, value }
  } catch (error) {
    return { ok: false, details: [detailOf(error, parser)] }
  }
}

const BYTE_ORDER_MARK = '\ufeff'

interface Parser {
  readonly text: string
  readonly limits: Limits
  position: number
  readonly path: (string | number)[]
}

function detailOf(error: unknown, { text, position, path }: Parser): Detail {
  const { rule, message } =
    error instanceof ScalarError ? error : new ScalarError('syntax', 'the text could not be read')
  const before = text.slice(0, position)
  const line = before.split('\n').length
  const column = position - before.lastIndexOf('\n')
  return {
    pointer: boundedPointer(path.reduce<string>(pointerTo, '')),
    rule,
    message: `${message} (line ${line}, column ${column})`,
    fix: FIXES[rule] ?? 'Send one JSON value, as RFC 8259 defines it.',
  }
}

const FIXES: Readonly<Record<string, string>> = {
  byteOrderMark: 'Send UTF-8 without a byte order mark.',
  duplicateKey: 'Give each member of an object its own name.',
  proto: 'Rename the key.',
  surrogate: 'Cut strings between characters, not inside one.',
  numberRange: 'Send the number as a string.',
  depthMax: 'Flatten the value.',
  itemsMax: 'Send fewer members, or a reference to the data.',
  stringMax: 'Shorten the string, split it, or send a reference to the data.',
}

function parseValue(parser: Parser, depth: number): JsonValue {
  skipSpace(parser)
  const { text, position } = parser
  switch (text[position]) {
    case '{':
      return parseObject(parser, depth)
    case '[':
      return parseArray(parser, depth)
    case '"':
      return readString(parser)
    case 't':
      return parseLiteral(parser, 'true', true)
    case 'f':
      return parseLiteral(parser, 'false', false)
    case 'n':
      return parseLiteral(parser, 'null', null)
    default:
      return readNumber(parser)
  }
}

function parseLiteral(parser: Parser, word: string, value: JsonValue): JsonValue {
  if (!parser.text.startsWith(word, parser.position))
    throw new ScalarError('syntax', 'not a JSON value')
  parser.position += word.length
  return value
}

function parseObject(parser: Parser, depth: number): JsonValue {
  enter(parser, depth)
  const members: Record<string, JsonValue> = {}
  let count = 0
  while (!closes(parser, '}', count)) {
    const key = parseKey(parser)
    parser.path.push(key)
    checkMember(members, key)
    count += 1
    if (count > parser.limits.itemsMax) refuseItems(parser)
    members[key] = parseValue(parser, depth + 1)
    parser.path.pop()
  }
  return members
}

function parseKey(parser: Parser): string {
  skipSpace(parser)
  if (parser.text[parser.position] !== '"')
    throw new ScalarError('syntax', 'a member name in quotes is missing')
  const key = readString(parser)
  skipSpace(parser)
  if (parser.text[parser.position] !== ':') throw new ScalarError('syntax', 'a colon is missing')
  parser.position += 1
  return key
}

function checkMember(members: object, key: string): void {
  if (key === '__proto__') throw new ScalarError('proto', 'the key __proto__ is not allowed')
  if (Object.hasOwn(members, key))
    throw new ScalarError(
      'duplicateKey',
      `The key ${JSON.stringify(key.slice(0, 64))} occurs twice`,
    )
}

function parseArray(parser: Parser, depth: number): JsonValue {
  enter(parser, depth)
  const items: JsonValue[] = []
  while (!closes(parser, ']', items.length)) {
    if (items.length >= parser.limits.itemsMax) refuseItems(parser)
    parser.path.push(items.length)
    items.push(parseValue(parser, depth + 1))
    parser.path.pop()
  }
  return items
}

function enter(parser: Parser, depth: number): void {
  if (depth >= parser.limits.depthMax)
    throw new ScalarError('depthMax', `the value is nested deeper than ${parser.limits.depthMax}`)
  parser.position += 1
}

/** Steps over the closing bracket, or over the comma before the next member. */
function closes(parser: Parser, bracket: string, count: number): boolean {
  skipSpace(parser)
  const found = parser.text[parser.position]
  if (found === bracket) {
    parser.position += 1
    return true
  }
  if (count === 0) return false
  if (found !== ',') throw new ScalarError('syntax', `a comma or ${bracket} is missing`)
  parser.position += 1
  return false
}

function refuseItems({ limits }: Parser): never {
  throw new ScalarError('itemsMax', `more than ${limits.itemsMax} members`)
}

function skipSpace(parser: Parser): void {
  const { text } = parser
  let { position } = parser
  for (;;) {
    const code = text.charCodeAt(position)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) break
    position += 1
  }
  parser.position = position
}
