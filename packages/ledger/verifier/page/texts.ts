// A text as a reader reads it: a message by its parts, each turn with its role, and whatever is no JSON as it stands.
// Values show all that the text has: a text that would read differently once taken apart is shown whole.
import { classed, definitions, make } from './dom.ts'
import type { Child, PageElement } from './dom.ts'
import { isObject, readMessage } from './message.ts'

/** What a message is about comes first; what stands in the table of records anyway, last. */
const PARTS: readonly (readonly [member: string, words: string])[] = [
  ['taskDescription', 'Task'],
  ['conversationHistorySummary', 'Conversation so far, in short'],
  ['conversationHistoryVerbatim', 'Conversation'],
  ['currentState', 'State'],
  ['completedSubtasks', 'Done'],
  ['remainingSubtasks', 'Still to do'],
  ['relevantContext', 'Context'],
  ['constraints', 'Constraints'],
  ['toolCallHistory', 'Tool calls'],
]
const DEPTH_MAX = 32

export function textElement(text: string): PageElement {
  const value = readMessage(text)
  if (value === undefined) return make('pre', text)
  const first = PARTS.filter(([member]) => Object.hasOwn(value, member))
  const known = new Set(first.map(([member]) => member))
  const rest = Object.entries(value).filter(([member]) => !known.has(member))
  const parts = definitions([
    ...first.map(([member, words]) => [words, valueElement(value[member], 0)] as const),
    ...rest.map(([member, inner]) => [member, valueElement(inner, 0)] as const),
  ])
  return classed('message', make('div', parts))
}

/** Fits beside its name. */
const isShort = (value: string): boolean => value.length <= 60 && !value.includes('\n')

function valueElement(value: unknown, depth: number): Child {
  if (value === '') return nothing('empty')
  if (typeof value === 'string')
    return isShort(value) ? value : classed('words', make('div', value))
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth >= DEPTH_MAX) return make('pre', JSON.stringify(value))
  if (Array.isArray(value)) return listElement(value, depth + 1)
  const members = Object.entries(value)
  if (members.length === 0) return nothing('none')
  return definitions(members.map(([name, inner]) => [name, valueElement(inner, depth + 1)]))
}

const nothing = (what: string): PageElement => classed('nothing', make('span', what))

function listElement(values: readonly unknown[], depth: number): Child {
  if (values.length === 0) return nothing('none')
  return make(
    'ul',
    ...values.map((value) => {
      const turn = isObject(value) ? turnElement(value, depth) : undefined
      return make('li', turn ?? valueElement(value, depth))
    }),
  )
}

/** Who spoke, what was said, and whatever else stands with it. */
function turnElement(turn: Readonly<Record<string, unknown>>, depth: number): Child | undefined {
  const { role, content, ...rest } = turn
  if (typeof role !== 'string' || typeof content !== 'string') return undefined
  const more = Object.entries(rest).map(
    ([name, inner]) => [name, valueElement(inner, depth)] as const,
  )
  const said = classed('words', make('div', content))
  const spoken = make('div', classed('role', make('b', role)), said)
  if (more.length > 0) spoken.append(definitions(more))
  return spoken
}
