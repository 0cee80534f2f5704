// Rows as `psql --csv` and JSON write them, read as they are: every text stays the text that was shown.
import { permanent } from '@baton/runtime'

/** One row by name of its column; an empty field of CSV is an empty text. */
export type Row = Readonly<Record<string, unknown>>

/** JSON Lines, one JSON array, or CSV with its header. Throws BATON_USAGE with the line that cannot be read. */
export function parseRows(text: string): {
  readonly columns: readonly string[]
  readonly rows: readonly Row[]
} {
  const start = text.trimStart().slice(0, 1)
  if (start !== '{' && start !== '[') return parseCsv(text)
  const rows = start === '[' ? asRows(parseJson(text, 1)) : parseLines(text)
  return { columns: Object.keys(rows[0] ?? {}), rows }
}

const parseLines = (text: string): readonly Row[] =>
  text
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : asRows([parseJson(line, index + 1)])))

function parseJson(text: string, line: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw unreadable(`line ${line} is not JSON`)
  }
}

function asRows(value: unknown): readonly Row[] {
  const isRow = (one: unknown): one is Row =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
  if (!Array.isArray(value) || !value.every(isRow)) throw unreadable('a row is not a JSON object')
  return value
}

function parseCsv(text: string): ReturnType<typeof parseRows> {
  const [columns = [], ...records] = csvRecords(text)
  const rows = records.map((fields, index) => {
    if (fields.length !== columns.length) {
      throw unreadable(`row ${index + 1} has ${fields.length} fields, the header ${columns.length}`)
    }
    return Object.fromEntries(columns.map((name, at) => [name, fields[at]]))
  })
  return { columns, rows }
}

const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/** RFC 4180: quotes are doubled, and a quoted field may have line ends. */
function csvRecords(text: string): string[][] {
  const records: string[][] = []
  let fields: string[] = []
  FIELD.lastIndex = 0
  while (FIELD.lastIndex < text.length) {
    const [, quoted, plain = '', end] = FIELD.exec(text) ?? []
    if (end === undefined) throw unreadable(`row ${records.length} of the CSV has a stray quote`)
    fields.push(quoted?.replaceAll('""', '"') ?? plain)
    if (end === ',') continue
    records.push(fields)
    fields = []
  }
  return records
}

const unreadable = (problem: string) =>
  permanent('BATON_USAGE', `the rows cannot be read: ${problem}`, {
    fix: 'Give what `psql --csv` wrote, or JSON, one row a line.',
  })
