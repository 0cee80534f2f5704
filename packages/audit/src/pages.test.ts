// Only a page that is not full says that there are no more.
import { expect, it } from 'vitest'
import { inPages, PAGE_ROWS } from './pages.ts'

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)

/** A table of so many rows; what was asked of it is remembered. */
function table(rows: number) {
  const asked: (number | undefined)[] = []
  const read = async (after: number | undefined) => {
    asked.push(after)
    const from = (after ?? -1) + 1
    return numbers(from, Math.min(PAGE_ROWS, rows - from))
  }
  return { asked, read }
}

it.each([
  [0, [undefined]],
  [1, [undefined]],
  [PAGE_ROWS - 1, [undefined]],
  [PAGE_ROWS, [undefined, PAGE_ROWS - 1]],
  [2 * PAGE_ROWS + 1, [undefined, PAGE_ROWS - 1, 2 * PAGE_ROWS - 1]],
])('%i rows are all read, once', async (rows, expected) => {
  const { asked, read } = table(rows)
  const found: number[] = []
  for await (const page of inPages(read)) found.push(...page)
  expect(found).toEqual(numbers(0, rows))
  expect(asked).toEqual(expected)
})
