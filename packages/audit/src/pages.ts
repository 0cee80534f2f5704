// Reads what may be any number of rows in statements that answer a bounded number each.

/** Rows that one statement answers at most. */
export const PAGE_ROWS = 1_000

/** Asks for the rows after the last one until a page is not full: only that says that there are no more. */
export async function* inPages<Row>(
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<readonly Row[]> {
  let after: Row | undefined
  for (;;) {
    const rows = await read(after)
    if (rows.length > 0) yield rows
    if (rows.length < PAGE_ROWS) return
    after = rows.at(-1)
  }
}
