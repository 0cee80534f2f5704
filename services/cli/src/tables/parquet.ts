// Parquet, for whoever analyses many rows: columns have a type, and what is unknown is null.
import { parquetWriteBuffer } from 'hyparquet-writer'
import type { Cell, Column, Table } from './write-table.ts'

const TYPES = { text: 'STRING', number: 'INT64', flag: 'BOOLEAN' } as const

export const formatParquet = ({ columns, rows }: Table): Uint8Array =>
  new Uint8Array(
    parquetWriteBuffer({
      columnData: columns.map(({ name, type }, at) => ({
        name,
        type: TYPES[type],
        nullable: true,
        data: rows.map((row) => valueOf(type, row[at] ?? null)),
      })),
    }),
  )

const valueOf = (type: Column['type'], cell: Cell) =>
  type === 'number' && cell !== null ? BigInt(cell) : cell
