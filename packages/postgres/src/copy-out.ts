// Reads large sets in Postgres' binary copy format: bytes stay bytes, and nothing is quoted or parsed.
import type { Connection, PoolClient, Submittable } from 'pg'

const HEADER_BYTES = 19
const HEADER_EXTENSION_AT = 15
const FIELD_COUNT_BYTES = 2
const LENGTH_BYTES = 4
const END_OF_ROWS = -1
const MICROS_2000 = 946_684_800_000_000
const HALF = 0x1_0000_0000

/** The fields of the row that is being read, by their place in the statement. */
export class CopyFields {
  #row: Buffer = Buffer.alloc(0)
  readonly #starts: number[] = []
  readonly #lengths: number[] = []

  /** Moves to the row at `start`; answers where the next one begins, -1 after the last. */
  moveTo(rows: Buffer, start: number): number {
    this.#row = rows
    const count = rows.readInt16BE(start)
    if (count === END_OF_ROWS) return END_OF_ROWS
    let at = start + FIELD_COUNT_BYTES
    for (let field = 0; field < count; field += 1) {
      const length = rows.readInt32BE(at)
      at += LENGTH_BYTES
      this.#starts[field] = at
      this.#lengths[field] = length
      if (length > 0) at += length
    }
    return at
  }

  isNull(field: number): boolean {
    return this.#length(field) < 0
  }

  int2(field: number): number {
    return this.#row.readInt16BE(this.#start(field))
  }

  int4(field: number): number {
    return this.#row.readInt32BE(this.#start(field))
  }

  /** Exact below 2^53. */
  int8(field: number): number {
    const start = this.#start(field)
    return this.#row.readInt32BE(start) * HALF + this.#row.readUInt32BE(start + LENGTH_BYTES)
  }

  /** The microseconds since 1970 of a time. */
  micros(field: number): number {
    return this.int8(field) + MICROS_2000
  }

  bytes(field: number): Buffer {
    const start = this.#start(field)
    return this.#row.subarray(start, start + this.#length(field))
  }

  text(field: number): string {
    const start = this.#start(field)
    return this.#row.toString('utf8', start, start + this.#length(field))
  }

  uuid(field: number): string {
    const start = this.#start(field)
    const hex = this.#row.toString('hex', start, start + this.#length(field))
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
  }

  #start(field: number): number {
    return this.#starts[field] as number
  }

  #length(field: number): number {
    return this.#lengths[field] as number
  }
}

type Done = (error: Error | null) => void

/** A statement of the form the driver runs itself; see `copyOut`. */
class CopyOut<Row> implements Submittable {
  readonly rows: Row[] = []
  readonly #text: string
  readonly #read: (fields: CopyFields) => Row
  readonly #fields = new CopyFields()
  #started = false
  /** The driver replaces it, to end a read that takes too long. */
  callback: Done

  constructor(text: string, read: (fields: CopyFields) => Row, done: Done) {
    this.#text = text
    this.#read = read
    this.callback = done
  }

  submit(connection: Connection): void {
    connection.query(this.#text)
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    // The driver uses its buffer again, so the bytes are copied before they are looked at.
    const rows = Buffer.from(chunk)
    let at = 0
    if (!this.#started) {
      this.#started = true
      at = HEADER_BYTES + rows.readInt32BE(HEADER_EXTENSION_AT)
    }
    while (at < rows.length) {
      at = this.#fields.moveTo(rows, at)
      if (at === END_OF_ROWS) return
      this.rows.push(this.#read(this.#fields))
    }
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

/**
 * The rows of `select` in order, each made by `read` from its fields, which are gone afterwards.
 * Postgres takes no parameters here: the text may hold numbers and ids that the caller has checked
 * and written out, never foreign text. Takes the connection for itself until it resolves.
 */
export function copyOut<Row>(
  client: Pick<PoolClient, 'query'>,
  select: string,
  read: (fields: CopyFields) => Row,
): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const query = new CopyOut(`copy (${select}) to stdout (format binary)`, read, (error) =>
      error === null ? resolve(query.rows) : reject(error),
    )
    client.query(query)
  })
}
