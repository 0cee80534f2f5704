// What differs between two descriptions of a schema, in sentences: which thing, what was found, what the migrations made.
import { partitionsOf } from './describe-schema.ts'
import type { Description } from './describe-schema.ts'

export interface Difference {
  readonly object: string
  /** Undefined where it is gone. */
  readonly found: string | undefined
  /** Undefined where the migrations did not make it. */
  readonly expected: string | undefined
}

/** In order of what they are about; a table that is gone, or one too many, stands for all that belongs to it. */
export function differencesOf(found: Description, expected: Description): readonly Difference[] {
  const all = [...new Set([...expected.keys(), ...found.keys()])]
    .toSorted()
    .map((object) => ({ object, found: found.get(object), expected: expected.get(object) }))
    .filter((one) => one.found !== one.expected)
  const tables = new Set(
    all.flatMap((one) => {
      const isWhole = one.found === undefined || one.expected === undefined
      return isWhole && one.object.startsWith(TABLE) ? [one.object.slice(TABLE.length)] : []
    }),
  )
  return all.filter(({ object }) => {
    const [kind, ...words] = object.split(/[ .]/)
    return kind === 'table' || kind === 'rows' || !words.some((word) => tables.has(word))
  })
}

const TABLE = 'table '

/** One sentence for what differs in the same way in several partitions. */
export function sentencesOf(differing: readonly Difference[], found: Description): string[] {
  const partitions = partitionsOf(found)
  const alike = Map.groupBy(differing, ({ object, ...states }) => {
    const day = partitions.find(({ partition }) => object.includes(partition))
    const name = day === undefined ? object : object.replace(day.partition, day.pattern)
    return JSON.stringify([name, states.found, states.expected])
  })
  return [...alike.values()].map((same) => {
    const more = same.length === 1 ? '' : `, and of ${same.length - 1} more days`
    return same[0] === undefined ? '' : sentenceOf(same[0], more)
  })
}

function sentenceOf({ object, found, expected }: Difference, more: string): string {
  const name = clipped(object) + more
  if (expected === undefined)
    return `${name}: found “${clipped(found ?? '')}”, not made by the migrations`
  if (found === undefined) return `${name}: gone, made “${clipped(expected)}”`
  return `${name}: found “${excerpt(found, expected)}”, made “${excerpt(expected, found)}”`
}

const SHOWN_MAX = 120
const SHOWN_AROUND = 20

const clipped = (text: string): string =>
  text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`

/** Of a long text what differs from the other one, and a little around it. */
function excerpt(text: string, other: string): string {
  if (Math.max(text.length, other.length) <= SHOWN_AROUND * 3) return text
  const from = sharedBeginning(text, other)
  const rest = sharedBeginning(reversed(text.slice(from)), reversed(other.slice(from)))
  const start = Math.max(0, from - SHOWN_AROUND)
  const end = text.length - rest + SHOWN_AROUND
  const begun = start > 0 ? '…' : ''
  return `${begun}${clipped(text.slice(start, end))}${end < text.length ? '…' : ''}`.replace(
    '……',
    '…',
  )
}

const reversed = (text: string): string => [...text].toReversed().join('')

function sharedBeginning(one: string, other: string): number {
  let at = 0
  while (at < Math.min(one.length, other.length) && one[at] === other[at]) at += 1
  return at
}

const NAMES_MAX = 5

/** The first of them by name. */
export function namesOf(differing: readonly Difference[]): string {
  const names = differing.slice(0, NAMES_MAX).map(({ object }) => clipped(object))
  const more = differing.length - NAMES_MAX
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
