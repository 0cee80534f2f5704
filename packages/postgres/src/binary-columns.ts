// Columns in Postgres' own binary form: bytes travel as they are, nothing is quoted or parsed.
import type { ColumnType } from './columns.ts'

interface ElementType<Value> {
  readonly sql: string
  /** The type's number in every Postgres. */
  readonly oid: number
  readonly bytes: (value: Value) => number
  readonly write: (value: Value, target: Buffer, offset: number) => void
}

const POSTGRES_EPOCH_MICROS = 946_684_800_000_000n

const binary = <Value>(element: ElementType<Value>): ColumnType<Value> => ({
  sql: element.sql,
  encode: (values) => encodeArray(element, values),
})

const fixed = (length: number) => () => length
const copied = (value: Uint8Array, target: Buffer, offset: number): void =>
  target.set(value, offset)

export const BINARY = {
  int2: binary<number>({
    sql: 'smallint',
    oid: 21,
    bytes: fixed(2),
    write: (value, target, offset) => void target.writeInt16BE(value, offset),
  }),
  int4: binary<number>({
    sql: 'integer',
    oid: 23,
    bytes: fixed(4),
    write: (value, target, offset) => void target.writeInt32BE(value, offset),
  }),
  int8: binary<number>({
    sql: 'bigint',
    oid: 20,
    bytes: fixed(8),
    write: (value, target, offset) => void target.writeBigInt64BE(BigInt(value), offset),
  }),
  /** Microseconds since 1970. */
  timestamptz: binary<number>({
    sql: 'timestamptz',
    oid: 1184,
    bytes: fixed(8),
    write: (value, target, offset) =>
      void target.writeBigInt64BE(BigInt(value) - POSTGRES_EPOCH_MICROS, offset),
  }),
  bytea: binary<Uint8Array>({
    sql: 'bytea',
    oid: 17,
    bytes: (value) => value.length,
    write: copied,
  }),
  /** The 16 bytes of a UUID. */
  uuid: binary<Uint8Array>({ sql: 'uuid', oid: 2950, bytes: fixed(16), write: copied }),
}

const HEADER_BYTES = 20
const EMPTY_HEADER_BYTES = 12
const LENGTH_BYTES = 4
const NULL_LENGTH = -1

/**
 * One array parameter. The driver sends a Buffer in binary form, and a cast in the statement names
 * the array type. `null` elements become SQL nulls.
 */
function encodeArray<Value>(type: ElementType<Value>, values: readonly (Value | null)[]): Buffer {
  if (values.length === 0) return emptyArray(type.oid)
  const target = Buffer.allocUnsafe(HEADER_BYTES + elementsBytes(type, values))
  target.writeInt32BE(1, 0) // dimensions
  target.writeInt32BE(values.includes(null) ? 1 : 0, 4)
  target.writeInt32BE(type.oid, 8)
  target.writeInt32BE(values.length, 12)
  target.writeInt32BE(1, 16) // the first index
  let offset = HEADER_BYTES
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : type.bytes(value)
    target.writeInt32BE(length, offset)
    offset += LENGTH_BYTES
    if (value === null) continue
    type.write(value, target, offset)
    offset += length
  }
  return target
}

function elementsBytes<Value>(type: ElementType<Value>, values: readonly (Value | null)[]): number {
  let total = values.length * LENGTH_BYTES
  for (const value of values) total += value === null ? 0 : type.bytes(value)
  return total
}

function emptyArray(oid: number): Buffer {
  const target = Buffer.alloc(EMPTY_HEADER_BYTES)
  target.writeInt32BE(oid, 8)
  return target
}
