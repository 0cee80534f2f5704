// Renders rows as aligned columns, as wide as a terminal shows them, also for wide and combined characters.
import { isPlain, widthOf } from './width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Longer cells are cut and end in `…`. */
  readonly widthMax?: number
}

const GAP = '  '

/** Lines of a table with a heading line; no line ends in blanks. Cells beyond the columns are dropped. */
export function renderTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): string {
  const cells = rows.map((row) =>
    columns.map((column, index) => clip(row[index] ?? '', column.widthMax)),
  )
  const titles = columns.map((column) => column.title)
  const widths = columns.map((_, index) =>
    Math.max(...[titles, ...cells].map((line) => widthOf(line[index] ?? ''))),
  )
  return [titles, ...cells]
    .map((line) =>
      line.map((cell, index) => pad(cell, widths[index] ?? 0, columns[index])).join(GAP),
    )
    .map((line) => line.trimEnd())
    .join('\n')
}

function pad(cell: string, width: number, column: Column | undefined): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(cell)))
  return column?.align === 'right' ? blanks + cell : cell + blanks
}

/**
 * One line of at most so many columns; what is cut ends in `…`. Control characters would move the cursor or turn the
 * direction of text: they become a blank.
 */
export function clip(cell: string, widthMax = Number.POSITIVE_INFINITY): string {
  const line = cell.replace(/(?:(?!\u200d)[\p{Cc}\p{Cf}\u2028\u2029])+/gu, ' ')
  if (widthOf(line) <= widthMax) return line
  if (isPlain(line)) return `${line.slice(0, widthMax - 1)}…`
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (widthOf(kept + segment) > widthMax - 1) break
    kept += segment
  }
  return `${kept}…`
}
