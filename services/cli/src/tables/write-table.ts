// Answers as files that other programs read: CSV, JSON Lines and Parquet, chosen by how the file's name ends.
import { writeFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { permanent } from '@baton/runtime'
import { formatCsv } from './csv.ts'
import { formatParquet } from './parquet.ts'

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly Cell[])[]
}

export interface Column {
  /** In snake case, as it stands in the file. */
  readonly name: string
  readonly type: 'text' | 'number' | 'flag'
}

/** Numbers are whole. */
export type Cell = string | number | boolean | null

type Format = 'CSV' | 'JSONL' | 'PARQUET'

const FORMATS: Readonly<Record<string, Format>> = {
  '.csv': 'CSV',
  '.jsonl': 'JSONL',
  '.parquet': 'PARQUET',
}

/** Throws BATON_USAGE for a name that ends otherwise. */
export function formatOfFile(file: string): Format {
  const format = FORMATS[extname(file).toLowerCase()]
  if (format !== undefined) return format
  throw permanent('BATON_USAGE', `${file} does not say in which form it is to be written`, {
    fix: `Let its name end in ${Object.keys(FORMATS).join(', ')}.`,
  })
}

const WRITERS: Readonly<Record<Format, (table: Table) => string | Uint8Array>> = {
  CSV: formatCsv,
  JSONL: formatJsonLines,
  PARQUET: formatParquet,
}

/** Throws BATON_FILE_NOT_WRITTEN. Only its owner may read the file. */
export async function writeTable(file: string, table: Table): Promise<void> {
  const data = WRITERS[formatOfFile(file)](table)
  try {
    await writeFile(file, data, { mode: 0o600 })
  } catch (cause) {
    throw permanent('BATON_FILE_NOT_WRITTEN', `${file} cannot be written`, {
      cause,
      fix: 'Name another file with --out.',
    })
  }
}

/** One object a line, every column in each. */
function formatJsonLines({ columns, rows }: Table): string {
  const line = (row: readonly Cell[]) =>
    JSON.stringify(Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null])))
  return rows.map((row) => `${line(row)}\n`).join('')
}
