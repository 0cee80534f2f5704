// Lists in pages: the cursor is the position of the last thing that the page before answered, whether or not it still stands.
import { hash } from 'node:crypto'
import { ProblemError } from '@baton/http/server'
import { COUNTED_MAX, POSITION_PATTERN } from '@baton/store'

export const CURSOR = {
  type: 'string',
  pattern: POSITION_PATTERN,
  description: 'nextCursor of the page before.',
}

/** How many rows to ask for: one more than a page holds, which says whether another page follows. */
export const rowsFor = (limit: number): number => limit + 1

/** The page of rows that were asked for so, and where the next one begins; null where this is the last. */
export function pageOf<Row extends { readonly position: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly page: readonly Row[]; readonly nextCursor: string | null } {
  const page = rows.slice(0, limit)
  return { page, nextCursor: rows.length > limit ? (page.at(-1)?.position ?? null) : null }
}

/** A cursor that goes on in the list of one filter only. */
export const FILTERED_CURSOR = {
  type: 'string',
  pattern: '^[A-Za-z0-9_-]{1,8192}$',
  description: 'nextCursor of the page before, with the same filter.',
}

/** What is shown of a list; the list itself, where it has no filter. */
type Filter = Readonly<Record<string, string | undefined>>

const POSITION = new RegExp(POSITION_PATTERN)

/** Short, for it only tells filters apart: a cursor grants nothing. */
const markOf = (filter: Filter): string =>
  hash('sha256', JSON.stringify(Object.entries(filter).toSorted())).slice(0, 12)

/** The position, of this form, that a cursor of this filter means. Throws BATON_CURSOR_INVALID for any other. */
export function readCursor(
  cursor: string | undefined,
  filter: Filter,
  form: RegExp = POSITION,
): string | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const end = text.indexOf('/')
  const position = text.slice(end + 1)
  if (end === -1 || !form.test(position))
    throw cursorInvalid('the cursor is none that this list gave')
  if (text.slice(0, end) !== markOf(filter))
    throw cursorInvalid('the cursor is of another list, or of another filter')
  return position
}

/** A position in a list by name. */
export const NAME_POSITION = /^\P{Cc}{1,2048}$/u

const cursorInvalid = (detail: string) =>
  new ProblemError({
    status: 400,
    code: 'BATON_CURSOR_INVALID',
    detail,
    parameter: 'cursor',
    fix: 'Repeat the filter of the page that gave nextCursor, or leave out the cursor to begin anew.',
  })

function withoutPosition<Row extends { readonly position: string }>(
  row: Row,
): Omit<Row, 'position'> {
  const { position: _, ...rest } = row
  return rest
}

/** As `pageOf`, with a cursor that is bound to the filter, and how many there are in all. */
export function countedPageOf<Row extends { readonly position: string }>(
  rows: readonly Row[],
  {
    limit,
    filter,
    count,
  }: { readonly limit: number; readonly filter: Filter; readonly count: number },
) {
  const { page, nextCursor } = pageOf(rows, limit)
  return {
    // Where a list goes on is said once, by nextCursor.
    page: page.map(withoutPosition),
    shown: {
      nextCursor:
        nextCursor && Buffer.from(`${markOf(filter)}/${nextCursor}`).toString('base64url'),
      ...totalOf(count),
    },
  }
}

/** As answers say it. */
export const totalOf = (count: number) => ({
  total: Math.min(count, COUNTED_MAX),
  totalIsExact: count <= COUNTED_MAX,
})

/** What an answer says beside its rows. */
export const COUNTED_PAGE = {
  nextCursor: {
    type: ['string', 'null'],
    description: 'For the next page; null where this is the last.',
  },
  total: { type: 'integer', description: `How many there are in all; counted to ${COUNTED_MAX}.` },
  totalIsExact: { type: 'boolean', description: 'False where there are more than `total`.' },
}

/** An answer with a page of rows that are called `name`. */
export const countedListOf = (name: string, items: object) => ({
  type: 'object',
  properties: { [name]: { type: 'array', items }, ...COUNTED_PAGE },
})
