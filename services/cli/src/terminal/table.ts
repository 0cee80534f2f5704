// Renders rows as aligned columns, as wide as a terminal shows them, also for wide and combined characters.
import { isPlain, widthOf, widthOfTerminal } from './width.ts'

export interface Column {
  readonly title: string
  readonly align?: 'left' | 'right'
  /** Longer cells are cut and end in `…`, earlier still where the table would be too wide. */
  readonly widthMax?: number
  /** Left out where the table would be too wide, the highest number first; without one it stays. */
  readonly dropAt?: number
}

const GAP = '  '
/** What is cut to less says nothing. */
const CUT_MIN = 16

type Cells = readonly (readonly string[])[]

/** Titles may be there twice: a column is known by its place in each row. */
interface PlacedColumn extends Column {
  readonly place: number
}

/**
 * Lines of a table with a heading line; no line ends in blanks. Cells beyond the columns are dropped. Where it would be wider than the
 * terminal, columns that may be cut are cut first, then columns are left out and named, and where that is not enough each row
 * becomes lines of its own, with everything in it. What is no terminal has no width.
 */
export function renderTable(
  columns: readonly Column[],
  rows: Cells,
  width: number = widthOfTerminal(),
): string {
  const kept = keptColumns(
    columns.map((column, place) => ({ ...column, place })),
    rows,
    width,
  )
  if (kept === undefined) return rowsAsLines(columns, rows, width)
  const aligned = alignedLines(kept, pick(kept, rows))
  const left = columns.filter((_, index) => !kept.some(({ place }) => place === index))
  const names = left.map(({ title }) => title).join(', ')
  return [...aligned, ...(left.length === 0 ? [] : [clip(`(no room for ${names})`, width)])].join(
    '\n',
  )
}

const pick = (kept: readonly PlacedColumn[], rows: Cells): Cells =>
  rows.map((row) => kept.map(({ place }) => row[place] ?? ''))

/** The columns with which the table fits, cut where they have to be; undefined where it fits with none. */
function keptColumns(
  all: readonly PlacedColumn[],
  rows: Cells,
  width: number,
): readonly PlacedColumn[] | undefined {
  let columns = all
  for (;;) {
    const cut = cutColumns(columns, pick(columns, rows), width)
    if (cut !== undefined) return cut
    const drop = Math.max(...columns.map(({ dropAt = 0 }) => dropAt))
    if (drop === 0) return undefined
    columns = columns.filter(({ dropAt = 0 }) => dropAt !== drop)
  }
}

function cutColumns(
  columns: readonly PlacedColumn[],
  rows: Cells,
  width: number,
): readonly PlacedColumn[] | undefined {
  const widths = columns.map(({ title, widthMax = Infinity }, index) =>
    Math.max(widthOf(title), ...rows.map((row) => Math.min(widthMax, widthOf(row[index] ?? '')))),
  )
  const gaps = GAP.length * (columns.length - 1)
  let over = widths.reduce((sum, one) => sum + one, gaps) - width
  if (over <= 0) return columns
  const cut = columns.map((column, index) => {
    const own = widths[index] ?? 0
    const least = Math.max(CUT_MIN, widthOf(column.title))
    if (column.widthMax === undefined || own <= least || over <= 0) return column
    const widthMax = Math.max(least, own - over)
    over -= own - widthMax
    return { ...column, widthMax }
  })
  return over <= 0 ? cut : undefined
}

function alignedLines(columns: readonly Column[], rows: Cells): readonly string[] {
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
}

function rowsAsLines(columns: readonly Column[], rows: Cells, width: number): string {
  const indent = Math.max(...columns.map(({ title }) => widthOf(title))) + GAP.length
  const blocks = rows.map((row) =>
    columns.flatMap(({ title }, index) => {
      const cell = clip(row[index] ?? '')
      if (cell === '') return []
      const [first = '', ...others] = foldedAt(cell, width - indent)
      return [
        title + ' '.repeat(indent - widthOf(title)) + first,
        ...others.map((line) => ' '.repeat(indent) + line),
      ]
    }),
  )
  return blocks.map((lines) => lines.join('\n')).join('\n\n')
}

/** Between words only: an id is there to be copied. */
function foldedAt(text: string, width: number): readonly string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && widthOf(`${last} ${word}`) <= width)
      lines.splice(-1, 1, `${last} ${word}`)
    else lines.push(word)
  }
  return lines
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
