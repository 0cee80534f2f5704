// What the definitions of commands share: how a command is run, and how its arguments are read.
import { InvalidArgumentError } from 'commander'
import type { Command } from 'commander'
import type { Context } from './context.ts'
import type { ExitCode } from './exit-codes.ts'

/**
 * Makes a command's action of its work: opens the context once the options are known. Commander gives
 * the arguments in their order, then the options, then the command.
 */
export type Run = <Given extends readonly unknown[]>(
  work: (context: Context, ...given: Given) => Promise<ExitCode>,
) => (...given: unknown[]) => Promise<void>

export const TASK = 'task id, or the first digits of one'

export const collect = (value: string, before: readonly string[]): readonly string[] => [
  ...before,
  value,
]

function number(words: string, fits: (value: number, text: string) => boolean) {
  return (text: string): number => {
    const value = Number(text)
    if (text.trim() !== '' && fits(value, text)) return value
    throw new InvalidArgumentError(`Expected a ${words}.`)
  }
}

export const positiveNumber = number(
  'number above 0',
  (value) => Number.isFinite(value) && value > 0,
)

/** Both bounds are allowed. */
export const numberBetween = (min: number, max: number) =>
  number(`number from ${min} to ${max}`, (value) => value >= min && value <= max)

export const wholeNumber = (min: number, max = Number.MAX_SAFE_INTEGER) =>
  number(
    `whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`,
    (value, text) => /^\d+$/.test(text) && value >= min && value <= max,
  )

/** How many rows a list has. */
export const limit = wholeNumber(1, 1_000)

/** Most rows that `--all` lists. */
export const ALL_MAX = 10_000

/** Of what a folder, a file or an operator has few of: all of it, in the ordinary case. */
export const FEW_MAX = 1_000

/** The options of every list: how many, from where on, or all of it up to a bound. */
export const paged = (command: Command, shown = 20): Command =>
  command
    .option('--limit <number>', 'how many', limit, shown)
    .option('--cursor <cursor>', 'go on where the page before ended')
    .option('--all', `every one, up to ${ALL_MAX}`)

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A span of time in milliseconds: 90m, 12h, 7d. */
export function span(text: string): number {
  const [, digits, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  if (digits === undefined)
    throw new InvalidArgumentError('Expected a span such as 90m, 12h or 7d.')
  return Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS]
}

/** A reason or ground that goes on record. */
export function code(text: string): string {
  if (/^[A-Z][A-Z0-9_]{0,63}$/.test(text)) return text
  throw new InvalidArgumentError('Expected capital letters, digits and underscores.')
}

export function httpUrl(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text
  throw new InvalidArgumentError('Expected a URL that begins with http:// or https://.')
}

const DAY = /^\d{4}-\d\d-\d\d$/
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z$/
const DAY_MS = 86_400_000

/** The beginning of a time: a day, or a moment. */
export const since = (text: string): string => (DAY.test(text) ? dayAfter(text, 0) : instant(text))
/** A day is meant as a whole. */
export const until = (text: string): string => (DAY.test(text) ? dayAfter(text, 1) : instant(text))

function dayAfter(day: string, days: number): string {
  const ms = Date.parse(`${day}T00:00:00Z`)
  if (!isTime(day, ms)) throw notATime()
  return new Date(ms + days * DAY_MS).toISOString()
}

function instant(text: string): string {
  if (INSTANT.test(text) && isTime(text.slice(0, 19), Date.parse(text))) return text
  throw notATime()
}

/** Date.parse takes February 30 for March 2. */
const isTime = (text: string, ms: number): boolean =>
  !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)

const notATime = () =>
  new InvalidArgumentError('Expected a day like 2026-11-20, or a time like 2026-11-20T10:00:00Z.')
