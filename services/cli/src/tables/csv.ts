// CSV as RFC 4180 has it, which no program that opens it can take for a formula.
import type { Cell, Table } from './write-table.ts'

/** With a heading line. A text that a spreadsheet would calculate begins with an apostrophe. */
export const formatCsv = ({ columns, rows }: Table): string =>
  [columns.map(({ name }) => name), ...rows]
    .map((row) => `${row.map(cellOf).join(',')}\r\n`)
    .join('')

const FORMULA = /^[=+\-@\t\r\n\uFF0B\uFF0D\uFF1D\uFF20]/

function cellOf(cell: Cell): string {
  if (typeof cell !== 'string') return String(cell ?? '')
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
