// Lists every text of a message with its place and with how far it may steer the receiver.
import type { TrustClass } from './verdict.ts'

/** One step on the way to a field; a pointer is written out only when a finding needs it. */
export interface Path {
  readonly parent: Path | null
  readonly key: string | number
}

/** A string somewhere in the message (a value, or a key long enough to carry a sentence). */
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
  for (const key of Object.keys(message).toSorted()) {
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
    for (const key of Object.keys(subtask).toSorted()) {
      const trust = key === 'description' ? 'dialogue' : 'data'
      listBranch({ value: subtask[key], path: { parent: path, key }, trust }, fields)
    }
  }
}

/** Depth-first with an own stack, so that nesting cannot exhaust the call stack. */
function listBranch(root: Branch, fields: Field[]): void {
  const stack: Branch[] = [root]
  for (let branch = stack.pop(); branch !== undefined; branch = stack.pop()) {
    const { value, path, trust } = branch
    if (typeof value === 'string') {
      if (value.length > 0) fields.push({ text: value, trust, path })
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--) {
        stack.push({ value: value[index], path: { parent: path, key: index }, trust })
      }
    } else if (isRecord(value)) {
      pushMembers(value, branch, { stack, fields })
    }
  }
}

function pushMembers(
  value: Record<string, unknown>,
  branch: Branch,
  lists: { stack: Branch[]; fields: Field[] },
): void {
  const keys = Object.keys(value).toSorted()
  for (let index = keys.length - 1; index >= 0; index--) {
    const key = keys[index] ?? ''
    const path: Path = { parent: branch.path, key }
    if (key.length >= KEY_LENGTH_MIN) lists.fields.push({ text: key, trust: branch.trust, path })
    lists.stack.push({ value: value[key], path, trust: branch.trust })
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
