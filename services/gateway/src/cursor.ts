// Lists in pages: the cursor is the position of the last thing that the page before answered, whether or not it still stands.
import { POSITION_PATTERN } from '@baton/store'

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
