// How well a task's records are kept, in words: only the levels that occur, the best first.
import type { Assurance, TaskTrace } from '@baton/audit'
import { count, counted } from '../terminal/figures.ts'

type Kept = Pick<TaskTrace['records'][number], 'assurance' | 'tier'>

/** What is proven about the end of a task: that no record of it is missing until a moment. */
export function describeEnd({
  records,
  expired,
  ends: [end],
  seenBy,
}: Pick<TaskTrace, 'records' | 'expired' | 'ends' | 'seenBy'>): {
  readonly isProven: boolean
  readonly words: string
} {
  if (end === undefined)
    return {
      isProven: false,
      words: 'none missing between them; whether later ones are missing cannot be said yet',
    }
  const newer = records.length + expired - end.records
  const outside = seenBy === 'database' ? SEEN_BY_DATABASE : 'seen outside'
  const seen = end.proof === 'witnessed' ? outside : 'signed, not seen outside yet'
  const rest = newer <= 0 ? '' : `; ${counted(newer, 'newer record')} not under it yet`
  return { isProven: true, words: `none missing until ${end.until} (${seen})${rest}` }
}

/** Neither a policy nor an anchor file is known here. */
const SEEN_BY_DATABASE = 'signed; that it was seen outside is the database’s word alone'

const LEVELS: readonly (readonly [Assurance, string])[] = [
  ['archived', 'signed, seen outside, and copied to the cold store'],
  ['witnessed', 'signed, and the signature was seen outside the database'],
  ['sealed', 'signed; nobody outside has seen the signature yet'],
  ['committed', 'durable in the audit database; not signed yet'],
]

function countsOf(records: readonly Kept[]) {
  return LEVELS.flatMap(([level, meaning]) => {
    const found = records.filter(({ assurance }) => assurance === level).length
    return found === 0 ? [] : [{ level, found, meaning }]
  })
}

/** "6 archived, 2 sealed". */
export const summariseKept = (records: readonly Kept[]): string =>
  countsOf(records)
    .map(({ level, found }) => `${count(found)} ${level}`)
    .join(', ')

/** What the words in the column KEPT mean, and how many records left the database. */
export function keptLegend(records: readonly Kept[]): string[] {
  const levels = countsOf(records).map(({ level, meaning }) => `${level.padEnd(9)}  ${meaning}`)
  const alone = records.filter(({ tier }) => tier === 'cold').length
  if (alone === 0) return levels
  return [
    ...levels,
    `cold       ${counted(alone, 'record')} read from the cold store, which alone has them`,
  ]
}
