// Rows into Postgres by COPY in binary form: what filling a log of ten million records needs.
import type { Pool } from '@baton/audit'

type PoolClient = Awaited<ReturnType<Pool['connect']>>

const HEADER = Buffer.concat([Buffer.from('PGCOPY\n\xff\r\n\0', 'latin1'), Buffer.alloc(8)])
const END = Buffer.from([0xff, 0xff])
const MICROS_2000 = 946_684_800_000_000
const START_BYTES = 1 << 20

/** Rows of one COPY; fields are added in the order of its columns. */
export class CopyRows {
  #bytes: Buffer = Buffer.alloc(START_BYTES)
  #length = 0

  constructor() {
    this.#append(HEADER)
  }

  row(fields: number): this {
    this.#room(2)
    this.#length = this.#bytes.writeInt16BE(fields, this.#length)
    return this
  }

  int2(value: number): this {
    this.#field(2)
    this.#length = this.#bytes.writeInt16BE(value, this.#length)
    return this
  }

  int4(value: number): this {
    this.#field(4)
    this.#length = this.#bytes.writeInt32BE(value, this.#length)
    return this
  }

  int8(value: number): this {
    this.#field(8)
    this.#length = this.#bytes.writeBigInt64BE(BigInt(value), this.#length)
    return this
  }

  /** Microseconds since 1970. */
  time(micros: number): this {
    return this.int8(micros - MICROS_2000)
  }

  bytes(value: Uint8Array): this {
    this.#field(value.length)
    this.#append(value)
    return this
  }

  end(): Buffer {
    this.#append(END)
    return this.#bytes.subarray(0, this.#length)
  }

  #field(length: number): void {
    this.#room(4 + length)
    this.#length = this.#bytes.writeInt32BE(length, this.#length)
  }

  #append(value: Uint8Array): void {
    this.#room(value.length)
    this.#bytes.set(value, this.#length)
    this.#length += value.length
  }

  #room(length: number): void {
    if (this.#length + length <= this.#bytes.length) return
    const larger = Buffer.alloc(Math.max(this.#bytes.length * 2, this.#length + length))
    this.#bytes.copy(larger)
    this.#bytes = larger
  }
}

/** What the driver lets a statement of its own form do. */
interface CopyConnection {
  query(text: string): void
  sendCopyFromChunk(chunk: Buffer): void
  endCopyFrom(): void
}

class CopyIn {
  readonly #text: string
  readonly #bytes: Buffer
  callback: (error: Error | null) => void

  constructor(text: string, bytes: Buffer, done: (error: Error | null) => void) {
    this.#text = text
    this.#bytes = bytes
    this.callback = done
  }

  submit(connection: CopyConnection): void {
    connection.query(this.#text)
  }

  handleCopyInResponse(connection: CopyConnection): void {
    connection.sendCopyFromChunk(this.#bytes)
    connection.endCopyFrom()
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.callback(null)
  }
}

/** A connection as its driver sees a statement of a form of its own. */
interface CopyClient {
  query(statement: CopyIn): void
}

/** Resolves when the rows are committed. `target` is a table with its columns. */
export const copyIn = (client: PoolClient, target: string, rows: CopyRows): Promise<void> =>
  new Promise((resolve, reject) => {
    const text = `copy ${target} from stdin (format binary)`
    const done = (error: Error | null) => (error === null ? resolve() : reject(error))
    const driver = client as unknown as CopyClient
    driver.query(new CopyIn(text, rows.end(), done))
  })
