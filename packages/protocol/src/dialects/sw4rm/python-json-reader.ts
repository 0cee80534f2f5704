// Reads JSON as Python's `json.loads` does: the same texts pass, and each refusal names the same place in the same words.
import { DEPTH_MAX } from './python-value.ts'
import type { PythonValue } from './python-value.ts'

export type ReadJson =
  | { readonly ok: true; readonly value: PythonValue }
  /** In the words of Python's JSONDecodeError. */
  | { readonly ok: false; readonly why: string }

/** The nesting is bounded, so the recursion is too; a repeated key keeps its first place and its last value, as in Python. */
export function readPythonJson(text: string): ReadJson {
  const reader: Reader = { text, position: 0 }
  try {
    if (text.startsWith('\ufeff'))
      throw new NotJson('Unexpected UTF-8 BOM (decode using utf-8-sig)', 0)
    skipSpace(reader)
    const value = readValue(reader, 0)
    skipSpace(reader)
    if (reader.position < text.length) throw new NotJson('Extra data', reader.position)
    return { ok: true, value }
  } catch (error) {
    if (!(error instanceof NotJson)) throw error
    return { ok: false, why: error.place === undefined ? error.message : located(error, text) }
  }
}

interface Reader {
  readonly text: string
  position: number
}

/** Ends the reading; a place is an offset into the text. */
class NotJson extends Error {
  readonly place: number | undefined
  constructor(message: string, place?: number) {
    super(message)
    this.place = place
  }
}

// Python counts characters, not the halves of surrogate pairs.
function located({ message, place = 0 }: NotJson, text: string): string {
  const before = text.slice(0, place)
  const lines = before.split('\n')
  const column = [...(lines.at(-1) ?? '')].length + 1
  return `${message}: line ${lines.length} column ${column} (char ${[...before].length})`
}

function skipSpace(reader: Reader): void {
  const { text } = reader
  while (' \t\n\r'.includes(text[reader.position] ?? 'x')) reader.position += 1
}

const WORDS: readonly (readonly [word: string, value: PythonValue])[] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['NaN', NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]

function readValue(reader: Reader, depth: number): PythonValue {
  const { text, position } = reader
  if (depth > DEPTH_MAX) throw new NotJson('maximum recursion depth exceeded')
  const first = text[position]
  if (first === '"') return readString(reader)
  if (first === '{') return readDict(reader, depth)
  if (first === '[') return readList(reader, depth)
  const word = WORDS.find(([spelled]) => text.startsWith(spelled, position))
  if (word === undefined) return readNumber(reader)
  reader.position += word[0].length
  return word[1]
}

function readDict(reader: Reader, depth: number): PythonValue {
  const members = new Map<string, PythonValue>()
  step(reader)
  if (reader.text[reader.position] === '}') return closed(reader, members)
  for (;;) {
    if (reader.text[reader.position] !== '"')
      throw new NotJson('Expecting property name enclosed in double quotes', reader.position)
    const key = readString(reader)
    skipSpace(reader)
    if (reader.text[reader.position] !== ':')
      throw new NotJson("Expecting ':' delimiter", reader.position)
    step(reader)
    members.set(key, readValue(reader, depth + 1))
    if (!goesOn(reader, '}')) return members
  }
}

function readList(reader: Reader, depth: number): PythonValue {
  const items: PythonValue[] = []
  step(reader)
  if (reader.text[reader.position] === ']') return closed(reader, items)
  for (;;) {
    items.push(readValue(reader, depth + 1))
    if (!goesOn(reader, ']')) return items
  }
}

function closed<Container>(reader: Reader, container: Container): Container {
  reader.position += 1
  return container
}

/** Over one character and the white space behind it. */
function step(reader: Reader): void {
  reader.position += 1
  skipSpace(reader)
}

function goesOn(reader: Reader, bracket: string): boolean {
  skipSpace(reader)
  const found = reader.text[reader.position]
  if (found === bracket) return closed(reader, false)
  if (found !== ',') throw new NotJson("Expecting ',' delimiter", reader.position)
  step(reader)
  return true
}

const NUMBER = /(-?(?:0|[1-9][0-9]*))(\.[0-9]+)?([eE][+-]?[0-9]+)?/y

/** Python refuses longer ones, because reading them takes quadratic time. */
const INTEGER_DIGITS_MAX = 4300

function readNumber(reader: Reader): PythonValue {
  NUMBER.lastIndex = reader.position
  const match = NUMBER.exec(reader.text)
  if (match === null) throw new NotJson('Expecting value', reader.position)
  reader.position += match[0].length
  if (match[2] !== undefined || match[3] !== undefined) return Number(match[0])
  const digits = match[0].replace('-', '').length
  if (digits <= INTEGER_DIGITS_MAX) return BigInt(match[0])
  throw new NotJson(
    `Exceeds the limit (${INTEGER_DIGITS_MAX} digits) for integer string conversion: value has ${digits} digits; use sys.set_int_max_str_digits() to increase the limit`,
  )
}

// A quote, a backslash, or a character that may not stand unescaped.
const PLAIN_END = /["\\]|[^ -\uffff]/g
const HEX = /^[0-9a-fA-F]{4}$/
const ESCAPED: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

function readString(reader: Reader): string {
  const { text } = reader
  const begin = reader.position
  const unterminated = () => new NotJson('Unterminated string starting at', begin)
  const parts: string[] = []
  let from = begin + 1
  for (;;) {
    PLAIN_END.lastIndex = from
    const end = PLAIN_END.exec(text)?.index
    if (end === undefined) throw unterminated()
    parts.push(text.slice(from, end))
    if (text[end] === '"') {
      reader.position = end + 1
      return parts.join('')
    }
    if (text[end] !== '\\') throw new NotJson('Invalid control character at', end)
    const escaped = text[end + 1]
    if (escaped === undefined) throw unterminated()
    if (escaped === 'u') {
      parts.push(readCodeUnit(text, end + 2))
      from = end + 6
    } else {
      const plain = ESCAPED[escaped]
      if (plain === undefined) throw new NotJson('Invalid \\escape', end)
      parts.push(plain)
      from = end + 2
    }
  }
}

// Halves of a pair that follow each other join by themselves; others stay alone, as in Python.
function readCodeUnit(text: string, from: number): string {
  const digits = text.slice(from, from + 4)
  if (from + 4 >= text.length || !HEX.test(digits))
    throw new NotJson('Invalid \\uXXXX escape', from - 1)
  return String.fromCharCode(Number.parseInt(digits, 16))
}
