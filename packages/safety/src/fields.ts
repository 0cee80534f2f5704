// Lists every text of a message with its place and with how far it may steer the receiver.
import { CODES_MIN } from './pre-filter.ts'
import type { TrustClass } from './verdict.ts'

/** One step on the way to a field; a pointer is written out only when a finding needs it. */
export interface Path {
  readonly parent: Path | null
  readonly key: string | number
}

/** A string somewhere in the message (a value, a key that may carry words, or what an array of character codes lists). */
export interface Field {
  readonly text: string
  readonly trust: TrustClass
  readonly path: Path
}

interface Branch {
  readonly value: unknown
  readonly path: Path
  readonly trust: TrustClass
}

interface RecordBranch extends Branch {
  readonly value: Readonly<Record<string | number, unknown>>
}

/** A shorter key is a name, unless it has several words. */
const KEY_LENGTH_MIN = 24
const SPACE = /\s/

/** How deep arrays in one another are read as one list: deeper than a message may nest. */
const ARRAYS_DEPTH = 64

/** Fields that may steer the receiver; every other one is data. */
export const TRUST_BY_FIELD: Readonly<Record<string, TrustClass>> = {
  taskDescription: 'instruction',
  remainingSubtasks: 'instruction',
  constraints: 'instruction',
  conversationHistorySummary: 'dialogue',
}

/**
 * All text fields in an order that depends on the content only, not on key order. The contents of the conversation turns
 * follow one another directly, and so do excerpts, so that a payload split over them stands together.
 */
export function listFields(message: object): Field[] {
  const fields: Field[] = []
  for (const key of sortedKeys(message)) {
    const value: unknown = Reflect.get(message, key)
    const path: Path = { parent: null, key }
    // The other names here are those of the schema.
    if (key.startsWith('x-')) listKeys([key], { path: null, trust: 'data' }, fields)
    if (key === 'conversationHistoryVerbatim' && Array.isArray(value)) {
      listTogether(value, { path, member: 'content', trustOf: trustOfTurn }, fields)
    } else if (key === 'relevantContext' && Array.isArray(value)) {
      listTogether(value, { path, member: 'excerpt', trustOf: () => 'data' }, fields)
    } else if (key === 'completedSubtasks' && Array.isArray(value)) {
      listCompleted(value, path, fields)
    } else {
      listBranch({ value, path, trust: TRUST_BY_FIELD[key] ?? 'data' }, fields)
    }
  }
  return fields
}

/** RFC 6901 pointer of a path. */
export function pointerOf(path: Path): string {
  const steps: string[] = []
  for (let step: Path | null = path; step !== null; step = step.parent) {
    steps.push(String(step.key).replaceAll('~', '~0').replaceAll('/', '~1'))
  }
  return `/${steps.toReversed().join('/')}`
}

interface Together {
  readonly path: Path
  /** Whose texts follow one another; the other members stand behind all of them. */
  readonly member: string
  readonly trustOf: (item: Readonly<Record<string, unknown>>) => TrustClass
}

function listTogether(
  items: readonly unknown[],
  { path: parent, member, trustOf }: Together,
  fields: Field[],
): void {
  const rest: Branch[] = []
  for (const [index, item] of items.entries()) {
    const path: Path = { parent, key: index }
    if (!isRecord(item)) {
      rest.push({ value: item, path, trust: 'data' })
      continue
    }
    const { [member]: value, ...others } = item
    listBranch({ value, path: { parent: path, key: member }, trust: trustOf(item) }, fields)
    rest.push({ value: others, path, trust: 'data' })
  }
  for (const branch of rest) listBranch(branch, fields)
}

function trustOfTurn({ role }: Readonly<Record<string, unknown>>): TrustClass {
  return role === 'user' || role === 'assistant' || role === 'system' ? 'dialogue' : 'data'
}

function listCompleted(subtasks: readonly unknown[], parent: Path, fields: Field[]): void {
  for (const [index, subtask] of subtasks.entries()) {
    const path: Path = { parent, key: index }
    if (!isRecord(subtask)) {
      listBranch({ value: subtask, path, trust: 'data' }, fields)
      continue
    }
    const keys = sortedKeys(subtask)
    listKeys(keys, { path, trust: 'data' }, fields)
    for (const key of keys) {
      const trust = key === 'description' ? 'dialogue' : 'data'
      listBranch({ value: subtask[key], path: { parent: path, key }, trust }, fields)
    }
  }
}

/** An object or array on the way down, and the member to read next; an array has no keys. */
interface Frame {
  readonly value: Readonly<Record<string | number, unknown>>
  readonly keys: readonly string[] | null
  readonly length: number
  readonly path: Path
  next: number
}

/** Depth-first with an own stack, so that nesting cannot exhaust the call stack; a path is made for texts and branches only. */
function listBranch({ value: root, path, trust }: Branch, fields: Field[]): void {
  if (typeof root === 'string') {
    if (root.length > 0) fields.push({ text: root, trust, path })
    return
  }
  if (!isRecord(root)) return
  const stack: Frame[] = [openFrame({ value: root, path, trust }, fields)]
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    if (frame.next === frame.length) {
      stack.pop()
      continue
    }
    const key = frame.keys?.[frame.next] ?? frame.next
    frame.next += 1
    const value = frame.value[key]
    if (typeof value === 'string') {
      if (value.length > 0) fields.push({ text: value, trust, path: { parent: frame.path, key } })
    } else if (isRecord(value)) {
      const branch = { value, path: { parent: frame.path, key }, trust }
      stack.push(openFrame(branch, fields, frame.keys === null))
    }
  }
}

/**
 * What may be character codes in an array, and in arrays that stand in it, as one text; whatever else stands between them is left out.
 * Undefined where they are too few.
 */
export function textOfCodes(values: readonly unknown[]): string | undefined {
  const flat = values.some(Array.isArray) ? values.flat(ARRAYS_DEPTH) : values
  if (flat.length < CODES_MIN) return undefined
  const codes = flat.filter(isCode)
  return codes.length < CODES_MIN ? undefined : codes.join(' ')
}

const isCode = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 9 && Number(value) <= 0x10ffff

/** Begins to read an object or array; keys that are texts themselves stand before the values, and so do codes, at the outermost array. */
function openFrame({ value, path, trust }: RecordBranch, fields: Field[], inArray = false): Frame {
  if (Array.isArray(value)) {
    const text = inArray ? undefined : textOfCodes(value)
    if (text !== undefined) fields.push({ text, trust, path })
    return { value, keys: null, length: value.length, path, next: 0 }
  }
  const keys = sortedKeys(value)
  listKeys(keys, { path, trust }, fields)
  return { value, keys, length: keys.length, path, next: 0 }
}

/** Whether a key that a sender chose is read as a text. */
export const isReadKey = (key: string): boolean => key.length >= KEY_LENGTH_MIN || SPACE.test(key)

interface Named {
  readonly path: Path | null
  readonly trust: TrustClass
}

/** A key is placed where its value is. */
function listKeys(keys: readonly string[], { path: parent, trust }: Named, fields: Field[]): void {
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? ''
    if (isReadKey(key)) fields.push({ text: key, trust, path: { parent, key } })
  }
}

/** The keys in code unit order; a message read from canonical bytes has them so already, which spares the sort. */
function sortedKeys(value: object): readonly string[] {
  const keys = Object.keys(value)
  for (let index = 1; index < keys.length; index++) {
    if ((keys[index - 1] ?? '') > (keys[index] ?? '')) return keys.toSorted()
  }
  return keys
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
