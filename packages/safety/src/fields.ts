// Lists every text of a message with its place and with how far it may steer the receiver.
import { CODES_MIN } from './pre-filter.ts'
import type { TrustClass } from './verdict.ts'

/** One step on the way to a field; a pointer is written out only when a finding needs it. */
export interface Path {
  readonly parent: Path | null
  readonly key: string | number
}

/** A string somewhere in the message (a value, a key long enough to carry a sentence, or what an array of character codes lists). */
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

const KEY_LENGTH_MIN = 24

/** Fields that may steer the receiver; every other one is data. */
export const TRUST_BY_FIELD: Readonly<Record<string, TrustClass>> = {
  taskDescription: 'instruction',
  remainingSubtasks: 'instruction',
  constraints: 'instruction',
  conversationHistorySummary: 'dialogue',
}

/**
 * All text fields in an order that depends on the content only, not on key order. The contents of the conversation turns
 * follow one another directly, so that a payload split over turns stands together.
 */
export function listFields(message: object): Field[] {
  const fields: Field[] = []
  for (const key of sortedKeys(message)) {
    const value: unknown = Reflect.get(message, key)
    const path: Path = { parent: null, key }
    if (key === 'conversationHistoryVerbatim' && Array.isArray(value)) {
      listConversation(value, path, fields)
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

function listConversation(turns: readonly unknown[], parent: Path, fields: Field[]): void {
  const rest: Branch[] = []
  for (const [index, turn] of turns.entries()) {
    const path: Path = { parent, key: index }
    if (!isRecord(turn)) {
      rest.push({ value: turn, path, trust: 'data' })
      continue
    }
    const { content, ...others } = turn
    listBranch(
      { value: content, path: { parent: path, key: 'content' }, trust: trustOfRole(turn['role']) },
      fields,
    )
    rest.push({ value: others, path, trust: 'data' })
  }
  for (const branch of rest) listBranch(branch, fields)
}

function trustOfRole(role: unknown): TrustClass {
  return role === 'user' || role === 'assistant' || role === 'system' ? 'dialogue' : 'data'
}

function listCompleted(subtasks: readonly unknown[], parent: Path, fields: Field[]): void {
  for (const [index, subtask] of subtasks.entries()) {
    const path: Path = { parent, key: index }
    if (!isRecord(subtask)) {
      listBranch({ value: subtask, path, trust: 'data' }, fields)
      continue
    }
    for (const key of sortedKeys(subtask)) {
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
      stack.push(openFrame({ value, path: { parent: frame.path, key }, trust }, fields))
    }
  }
}

/** What may be character codes in an array, a text each; whatever else stands between them. */
function codesOf(values: readonly unknown[]): readonly unknown[] {
  return values.length < CODES_MIN ? [] : values.filter(isCode)
}

const isCode = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 9 && Number(value) <= 0x10ffff

/** Begins to read an object or array; long keys are texts themselves and stand before the values, and so are arrays of codes. */
function openFrame({ value, path, trust }: RecordBranch, fields: Field[]): Frame {
  if (Array.isArray(value)) {
    const codes = codesOf(value)
    if (codes.length >= CODES_MIN) fields.push({ text: codes.join(' '), trust, path })
    return { value, keys: null, length: value.length, path, next: 0 }
  }
  const keys = sortedKeys(value)
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? ''
    if (key.length >= KEY_LENGTH_MIN) fields.push({ text: key, trust, path: { parent: path, key } })
  }
  return { value, keys, length: keys.length, path, next: 0 }
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
