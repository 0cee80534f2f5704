// Small checks of values that came from outside; together they make an allow-list.
import { UUID } from './uuid.ts'

/** One thing that is wrong: where, what, and what would be right. Never quotes a value. */
export interface EntryProblem {
  readonly pointer: string
  readonly message: string
  readonly fix: string
}

/**
 * Adds a problem for everything about `value` that does not fit. Pointers are relative to `value`:
 * whoever holds it puts its own step in front, so that a value that fits costs no text at all.
 */
export type Rule = (value: unknown, problems: EntryProblem[]) => void

export const must =
  (expected: string, fits: (value: unknown) => boolean): Rule =>
  (value, problems) => {
    if (fits(value)) return
    const message = value === undefined ? 'is missing' : 'has a value that is not allowed'
    problems.push({ pointer: '', message, fix: `Give ${expected}.` })
  }

export const matching = (expected: string, pattern: RegExp): Rule =>
  must(expected, (value) => typeof value === 'string' && pattern.test(value))

export const integer = (min: number, max: number): Rule =>
  must(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  )

export const oneOf = (...choices: readonly string[]): Rule =>
  must(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string))

export const orNull =
  (rule: Rule): Rule =>
  (value, problems) => {
    if (value !== null) rule(value, problems)
  }

/** For a member that may be left out. */
export const optional =
  (rule: Rule): Rule =>
  (value, problems) => {
    if (value !== undefined) rule(value, problems)
  }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Exactly the given members: a missing one and an unknown one are both problems. */
export function object(members: Readonly<Record<string, Rule>>): Rule {
  const rules = Object.entries(members)
  const known = new Set(Object.keys(members))
  const fix = `Give only ${Object.keys(members).join(', ')}.`
  return (value, problems) => {
    if (!isObject(value)) {
      problems.push({ pointer: '', message: 'is not an object', fix: 'Give a JSON object.' })
      return
    }
    let present = 0
    for (const [key, rule] of rules) {
      const before = problems.length
      const member = Object.hasOwn(value, key) ? value[key] : undefined
      if (member !== undefined) present += 1
      rule(member, problems)
      if (problems.length > before) placeUnder(problems, before, key)
    }
    const keys = Object.keys(value)
    if (keys.length === present) return
    for (const key of keys) {
      if (known.has(key)) continue
      problems.push({ pointer: '', message: 'has a member that is not allowed', fix })
    }
  }
}

export const list =
  (rule: Rule, itemsMax: number): Rule =>
  (value, problems) => {
    if (!Array.isArray(value) || value.length > itemsMax) {
      const fix = `Give an array of at most ${itemsMax} items.`
      problems.push({ pointer: '', message: 'is not such an array', fix })
      return
    }
    value.forEach((item, index) => {
      const before = problems.length
      rule(item, problems)
      if (problems.length > before) placeUnder(problems, before, index)
    })
  }

function placeUnder(problems: EntryProblem[], from: number, step: string | number): void {
  for (let at = from; at < problems.length; at += 1) {
    const problem = problems[at] as EntryProblem
    problems[at] = { ...problem, pointer: `/${step}${problem.pointer}` }
  }
}

// Names are for machines: printable ASCII without spaces at either end, so prose does not fit well.
const NAME = /^[!-~](?:[ -~]{0,254}[!-~])?$/
export const name = matching('a name of 1 to 256 printable characters', NAME)

/** Whether a record can hold it as a name. */
export const isName = (text: string): boolean => NAME.test(text)
export const uuid = matching('a lower-case UUID', UUID)
export const count = integer(0, Number.MAX_SAFE_INTEGER)
