// Lists in pages: what one page shows, all of it up to a bound, and the line that says how much of the whole that is.
import { permanent } from '@baton/runtime'
import { ALL_MAX } from '../arguments.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { count } from '../terminal/figures.ts'
import { nextStep, quoted } from '../terminal/next-steps.ts'
import type { Output } from '../terminal/output.ts'

export interface PageFlags {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly all?: boolean | undefined
}

export interface Listed<Row> {
  readonly rows: readonly Row[]
  readonly nextCursor: string | null
  readonly total: number
  readonly totalIsExact: boolean
}

/**
 * The page that is wanted of what was read whole, in the order of its keys, each of which is of one row. A cursor is the key of the last
 * row that the page before showed, whether or not that still stands.
 */
export function pageOfAll<Row>(
  all: readonly Row[],
  { keyOf, flags }: { readonly keyOf: (row: Row) => string; readonly flags: PageFlags },
): Listed<Row> {
  const after = flags.cursor === undefined ? '' : readCursor(flags.cursor, ANY_KEY)
  const rest = all
    .map((row) => ({ row, key: keyOf(row) }))
    .filter(({ key }) => key > after)
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const page = rest.slice(0, wantedBy(flags))
  return {
    rows: page.map(({ row }) => row),
    nextCursor: rest.length > page.length ? cursorOf(page.at(-1)?.key ?? '') : null,
    total: all.length,
    totalIsExact: true,
  }
}

const ANY_KEY = /^\P{Cc}+$/u

/** How many rows are listed at most. */
export const wantedBy = ({ all, limit }: PageFlags): number => (all === true ? ALL_MAX : limit)

export const cursorOf = (position: string): string => Buffer.from(position).toString('base64url')

/** The position, of this form, that a cursor means. Throws BATON_CURSOR_INVALID. */
export function readCursor(cursor: string, form: RegExp): string {
  const position = Buffer.from(cursor, 'base64url').toString()
  if (form.test(position) && cursorOf(position) === cursor) return position
  throw permanent('BATON_CURSOR_INVALID', 'the cursor is none that this list gave', {
    fix: 'Copy it whole from the line that named it, or leave out --cursor to begin anew.',
  })
}

/** What one request may ask for. */
const PAGE_MAX = 1_000

/** `name` is that of the rows in the answer. */
export async function readPages<Row>(
  gateway: Pick<GatewayClient, 'get'>,
  {
    path,
    name,
    filter,
    flags,
  }: {
    readonly path: string
    readonly name: string
    readonly filter: Readonly<Record<string, string | undefined>>
    readonly flags: PageFlags
  },
): Promise<Listed<Row>> {
  const given = Object.entries(filter).filter(
    (one): one is [string, string] => one[1] !== undefined,
  )
  const wanted = wantedBy(flags)
  const rows: Row[] = []
  let cursor: string | null | undefined = flags.cursor
  for (;;) {
    const limit = String(Math.min(PAGE_MAX, wanted - rows.length))
    const query = new URLSearchParams({ ...Object.fromEntries(given), limit })
    if (typeof cursor === 'string') query.set('cursor', cursor)
    const answer = await gateway.get<
      Omit<Listed<Row>, 'rows'> & Readonly<Record<string, readonly Row[]>>
    >(`${path}?${query.toString()}`)
    rows.push(...(answer[name] ?? []))
    cursor = answer.nextCursor
    if (cursor === null || rows.length >= wanted) {
      const { total, totalIsExact } = answer
      return { rows, nextCursor: cursor, total, totalIsExact }
    }
  }
}

/** Says how much of the list is shown where that is not all of it. `command` repeats its filter. */
export function sayShown(
  output: Output,
  { rows, nextCursor, total, totalIsExact }: Listed<unknown>,
  command: string,
): void {
  if (nextCursor === null && rows.length === total) return
  const whole = totalIsExact ? count(total) : `more than ${count(total)}`
  const next =
    nextCursor === null
      ? 'this was the last page'
      : `next: ${nextStep(`${command} --cursor ${nextCursor}`)}`
  output.words(`${count(rows.length)} of ${whole} shown; ${next}`)
}

/** A filter as it is typed again, in the order of its options. */
export const typedAgain = (filter: Readonly<Record<string, string | number | undefined>>): string =>
  Object.entries(filter)
    .flatMap(([name, text]) => (text === undefined ? [] : [` --${name} ${quoted(String(text))}`]))
    .join('')
