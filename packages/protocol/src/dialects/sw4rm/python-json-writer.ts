// Writes JSON byte for byte as Python's `json.dumps(value, separators=(',', ':'))`.
import { isDict, isList } from './python-value.ts'
import type { PythonDict, PythonValue } from './python-value.ts'
import { Sw4rmError } from './sw4rm-error.ts'

export interface WriteOptions {
  /** True, as in Python by default: everything beyond ASCII is escaped. False writes UTF-8. */
  readonly ensureAscii?: boolean
}

/** Throws in Python's words for what has no JSON: a float that is no number, and half a surrogate pair in UTF-8. */
export function writePythonJson(
  value: PythonValue,
  { ensureAscii = true }: WriteOptions = {},
): string {
  const text = write(value, ensureAscii ? asciiString : utf8String)
  if (ensureAscii || text.isWellFormed()) return text
  throw new Sw4rmError(`Failed to serialize HandoffContext: ${loneSurrogate(text)}`)
}

type WriteString = (text: string) => string

function write(value: PythonValue, writeString: WriteString): string {
  if (typeof value === 'string') return writeString(value)
  if (typeof value === 'number') return floatText(value)
  if (isDict(value)) return writeDict(value, writeString)
  if (isList(value)) return `[${value.map((item) => write(item, writeString)).join(',')}]`
  return String(value)
}

const writeDict = (dict: PythonDict, writeString: WriteString): string =>
  `{${[...dict].map(([key, item]) => `${writeString(key)}:${write(item, writeString)}`).join(',')}}`

/** `float.__repr__`: the shortest digits that read back alike, with an exponent below 1e-4 and from 1e16 on. */
function floatText(value: number): string {
  if (!Number.isFinite(value))
    throw new Sw4rmError(
      'Failed to serialize HandoffContext: Out of range float values are not JSON compliant',
    )
  if (value === 0) return Object.is(value, -0) ? '-0.0' : '0.0'
  const [digits, exponentText] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent < -4 || exponent >= 16) return `${digits}e${exponentSign(exponent)}`
  // JavaScript writes this range without an exponent, but whole numbers without a fraction.
  const plain = String(value)
  return plain.includes('.') ? plain : `${plain}.0`
}

const exponentSign = (exponent: number): string =>
  `${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\f': '\\f',
  '\b': '\\b',
}

const unicodeEscape = (unit: string): string =>
  SHORT[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const asciiString = (text: string): string => `"${text.replaceAll(/["\\]|[^ -~]/g, unicodeEscape)}"`

// The letters before the space are the control characters.
const utf8String = (text: string): string =>
  `"${text.replaceAll(/["\\]|[^ -\uffff]/g, unicodeEscape)}"`

// Python names the first run of them.
function loneSurrogate(text: string): string {
  const characters = [...text]
  const first = characters.findIndex((character) => !character.isWellFormed())
  const behind = characters.slice(first).findIndex((character) => character.isWellFormed())
  const code = (characters[first] ?? '').charCodeAt(0).toString(16)
  const named =
    behind === 1
      ? `character '\\u${code}' in position ${first}`
      : `characters in position ${first}-${first + behind - 1}`
  return `'utf-8' codec can't encode ${named}: surrogates not allowed`
}
