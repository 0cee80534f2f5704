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
  return write(value, [])
}

/** The UTF-8 bytes of `canonicalJson`; never contains a raw line feed. */
export const canonicalBytes = (value: unknown): Buffer => Buffer.from(canonicalJson(value), 'utf8')

/** Where the writer is: the keys and indexes from the root, pushed and popped as it goes. */
type Path = (string | number)[]

function refuse(what: string, path: Path): never {
  const pointer = path.map((step) => `/${escapePointer(String(step))}`).join('')
  throw new LedgerError('BATON_CANONICAL_INVALID', `${what} has no canonical form`, pointer)
}

const escapePointer = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

function write(value: unknown, path: Path): string {
  switch (typeof value) {
    case 'string':
      return writeString(value, path)
    case 'number':
      return Number.isFinite(value) ? JSON.stringify(value) : refuse('a non-finite number', path)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (path.length >= DEPTH_MAX) return refuse(`nesting deeper than ${DEPTH_MAX}`, path)
      return Array.isArray(value) ? writeArray(value, path) : writeObject(value, path)
    default:
      return refuse(`a value of type ${typeof value}`, path)
  }
}

const writeString = (value: string, path: Path): string =>
  value.isWellFormed() ? JSON.stringify(value) : refuse('a lone surrogate', path)

function writeArray(values: readonly unknown[], path: Path): string {
  let text = '['
  for (let index = 0; index < values.length; index += 1) {
    path.push(index)
    text += `${index === 0 ? '' : ','}${write(values[index], path)}`
    path.pop()
  }
  return `${text}]`
}

function writeObject(value: object, path: Path): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) refuse('a class instance', path)
  if (Object.getOwnPropertySymbols(value).length > 0) refuse('a symbol key', path)
  const members = value as Readonly<Record<string, unknown>>
  let text = '{'
  // The default order compares UTF-16 code units, which is what RFC 8785 asks for.
  for (const key of Object.keys(members).sort()) {
    path.push(key)
    if (text.length > 1) text += ','
    text += `${writeString(key, path)}:${write(members[key], path)}`
    path.pop()
  }
  return `${text}}`
}
