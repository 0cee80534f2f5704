// One byte form per value: RFC 8785, strict. What cannot be written exactly is refused, not mended.
import { LedgerError } from './ledger-error.ts'

/** Deepest nesting that is written; deeper input is refused before the stack is at risk. */
const DEPTH_MAX = 32

/**
 * The RFC 8785 text of `value`. Throws BATON_CANONICAL_INVALID with a JSON pointer for anything
 * that JSON has no exact form for: NaN, infinities, undefined, bigint, holes, lone surrogates,
 * class instances, functions, symbols, or nesting deeper than 32.
 */
export function canonicalJson(value: unknown): string {
  return write(value, '', 0)
}

/** The UTF-8 bytes of `canonicalJson`; never contains a raw line feed. */
export const canonicalBytes = (value: unknown): Buffer => Buffer.from(canonicalJson(value), 'utf8')

const refuse = (what: string, pointer: string): never => {
  throw new LedgerError('BATON_CANONICAL_INVALID', `${what} has no canonical form`, pointer)
}

function write(value: unknown, pointer: string, depth: number): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, pointer)
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : refuse('a non-finite number', pointer)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth >= DEPTH_MAX) return refuse(`nesting deeper than ${DEPTH_MAX}`, pointer)
      return Array.isArray(value)
        ? writeArray(value, pointer, depth)
        : writeObject(value, pointer, depth)
    default:
      return refuse(`a value of type ${typeof value}`, pointer)
  }
}

function writeString(value: string, pointer: string): string {
  return value.isWellFormed() ? JSON.stringify(value) : refuse('a lone surrogate', pointer)
}

function writeArray(values: readonly unknown[], pointer: string, depth: number): string {
  const parts: string[] = []
  for (let index = 0; index < values.length; index += 1) {
    parts.push(write(values[index], `${pointer}/${index}`, depth + 1))
  }
  return `[${parts.join(',')}]`
}

function writeObject(value: object, pointer: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) refuse('a class instance', pointer)
  if (Object.getOwnPropertySymbols(value).length > 0) refuse('a symbol key', pointer)
  const members = value as Readonly<Record<string, unknown>>
  const parts: string[] = []
  // The default order compares UTF-16 code units, which is what RFC 8785 asks for.
  for (const key of Object.keys(members).sort()) {
    const at = `${pointer}/${escapePointer(key)}`
    parts.push(`${writeString(key, at)}:${write(members[key], at, depth + 1)}`)
  }
  return `{${parts.join(',')}}`
}

const escapePointer = (key: string): string =>
  /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key
