// What a compression has to keep, in a form in which a receiver can look for it: digests, so that the list is short and tells
// nobody anything who does not have the text (E23).
import { hash } from 'node:crypto'
import type { PinnedFacts } from './generated/handoff.ts'
import { sentencesOf, STATEMENT_MAX, weightiestFirst } from './statements.ts'
import type { Statement, StatementKind } from './statements.ts'

const PINS = ['decisions', 'constraints', 'warnings', 'values'] as const
type Pin = (typeof PINS)[number]

/** What binds is kept word for word; of other statements, each number and id is. */
const PIN_OF = {
  decision: 'decisions',
  constraint: 'constraints',
  warning: 'warnings',
  tool: 'values',
  fact: 'values',
} as const satisfies Record<StatementKind, keyof PinnedFacts>

export const binds = ({ kind }: Statement): boolean => PIN_OF[kind] !== 'values'

/** What one of them adds to a message. */
const PIN_TOKENS = 7
const PINS_MAX = 10_000

/** Those of these statements, the weightiest first, that have room; undefined where there are none. */
export function pinnedFacts(
  statements: readonly Statement[],
  tokensMax: number,
): PinnedFacts | undefined {
  let left = Math.min(Math.floor(tokensMax / PIN_TOKENS), PINS_MAX)
  const pins = new Map(PINS.map((pin) => [pin, new Set<string>()]))
  for (const statement of statements.toSorted(weightiestFirst)) {
    const digests = pins.get(PIN_OF[statement.kind])
    for (const digest of factsOf(statement).map(digestOf)) {
      if (left <= 0 || digests?.has(digest) !== false) continue
      digests.add(digest)
      left -= 1
    }
  }
  const some = [...pins].filter(([, digests]) => digests.size > 0)
  if (some.length === 0) return undefined
  return Object.fromEntries(some.map(([pin, digests]) => [pin, [...digests]]))
}

const factsOf = (statement: Statement): readonly string[] =>
  binds(statement) ? [plainOf(statement.text)] : valuesIn(statement.text)

export interface LostFact {
  readonly pin: Pin
  readonly index: number
}

/** The pinned facts that none of these texts says. */
export function lostFacts(pinned: PinnedFacts, texts: readonly string[]): readonly LostFact[] {
  let lost = PINS.flatMap((pin) =>
    (pinned[pin] ?? []).map((digest, index) => ({ pin, index, digest })),
  )
  for (const text of texts) {
    if (lost.length === 0) break
    const said = saidIn(text)
    const statements = digestsOf(said.statements)
    const values = digestsOf(said.values)
    lost = lost.filter(({ pin, digest }) => !(pin === 'values' ? values : statements).has(digest))
  }
  return lost.map(({ pin, index }) => ({ pin, index }))
}

/** Short: it tells whether a fact was lost, and protects nothing. */
const DIGEST_LENGTH = 8

const digestOf = (fact: string): string => hash('sha256', fact).slice(0, DIGEST_LENGTH)

const digestsOf = (facts: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...facts].map(digestOf))

export interface Said {
  /** In plain form. */
  readonly statements: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

/** Every statement and every value that a text could be meant to say. */
export function saidIn(text: string): Said {
  const statements = new Set<string>()
  for (const line of text.split('\n')) {
    const item = line.startsWith('- ') ? line.slice(2) : line
    if (item === '') continue
    for (const said of [item, ...sentencesOf(item)])
      for (const one of withoutSpeakers(said)) statements.add(plainOf(one))
  }
  return { statements, values: new Set(valuesIn(text)) }
}

const SPEAKER_END = ': '
/** A role may have such ends in its name. */
const SPEAKERS_MAX = 8

/** The words, and what is left of them after each part that could be who said them. */
function withoutSpeakers(words: string): readonly string[] {
  const readings = [words]
  let rest = words
  while (readings.length <= SPEAKERS_MAX) {
    const end = rest.indexOf(SPEAKER_END)
    if (end < 0) break
    rest = rest.slice(end + SPEAKER_END.length)
    readings.push(rest)
  }
  return readings.filter((one) => one.length <= STATEMENT_MAX)
}

/** A full stop, a line break or a capital more or less loses nothing. */
export const plainOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/[.;!?]+$/, '')
    .trim()

const RUN = /[\p{L}\p{N}_$€£§#%/:.,-]+/gu
/** Between the parts of a value, and not a part of it where it stands at an end. */
const BETWEEN = '%/:.,-'
const NOT_LAST = '$€£§#/:.,-'

/** Everything with a digit in it: amounts, dates, ids, clauses; without the punctuation around it. Takes linear time for any text. */
export const valuesIn = (text: string): readonly string[] =>
  (text.match(RUN) ?? []).flatMap((run) => {
    const digit = run.search(/\p{N}/u)
    if (digit < 0) return []
    let start = digit
    while (start > 0 && !BETWEEN.includes(run.charAt(start - 1))) start -= 1
    let end = run.length
    while (NOT_LAST.includes(run.charAt(end - 1))) end -= 1
    return [run.slice(start, end).toLowerCase()]
  })
