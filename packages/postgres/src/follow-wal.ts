// Keeps a copy of a server's write-ahead log as it is written, as pg_receivewal does: what was committed survives the server.
// The files are those of pg_receivewal, so either goes on where the other stopped.
import { constants } from 'node:fs'
import { mkdir, open, rename, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Connection, Submittable } from 'pg'
import { permanent } from '@baton/runtime'
import { hasCode } from './connect.ts'
import { identifyServer, withWalSender } from './base-backup.ts'
import { formatLsn, listWalFiles, readLsn, walFileName } from './wal-files.ts'

export interface WalFollowing {
  readonly timeline: number
  /** Up to here everything is on the disk of this machine. */
  readonly flushed: string
}

interface FollowWalOptions {
  /** Where the files go; made where it is missing. One server, one folder. */
  readonly folder: string
  /** The position from which on the files are wanted, where there is none yet: where the newest base backup ends. */
  readonly from?: string | undefined
  /** A slot that keeps write-ahead log on the server while nobody follows; made where it is missing. Without it the server keeps what it likes. */
  readonly slot?: string | undefined
  readonly signal: AbortSignal
  readonly onFlushed?: ((following: WalFollowing) => void) | undefined
}

const { O_CREAT, O_RDWR } = constants
const STATUS_EVERY_MS = 5_000
const NOT_THERE = '58P01'
const UNDEFINED_SLOT = '42704'

/**
 * Follows until the signal, the end of the connection (which is thrown) or a change of timeline, after which it is called again.
 * Throws BATON_BACKUP_WAL_GONE where the server has no longer what should come next.
 */
export async function followWal(url: string, options: FollowWalOptions): Promise<void> {
  await mkdir(options.folder, { recursive: true, mode: 0o700 })
  await withWalSender(url, async (client) => {
    const segmentBytes = await segmentBytesOf(client)
    const { timeline, lsn } = await identifyServer(client)
    if (timeline > 1) await keepHistory(client, timeline, options.folder)
    if (options.slot !== undefined) await ensureSlot(client, options.slot)
    const start = await startOf(options, { segmentBytes, lsn })
    const writer = createSegmentWriter(options.folder, { timeline, segmentBytes, start })
    const slot = options.slot === undefined ? '' : `SLOT "${options.slot}" `
    const text = `START_REPLICATION ${slot}PHYSICAL ${formatLsn(start)} TIMELINE ${timeline}`
    try {
      await new Promise<void>((resolve, reject) => {
        const query = new WalQuery(text, { writer, options, timeline, done: { resolve, reject } })
        client.query(query)
        client.once('end', () => reject(new Error('the server ended the connection')))
        options.signal.addEventListener('abort', () => query.stop(), { once: true })
        if (options.signal.aborted) query.stop()
      })
    } catch (cause) {
      if (hasCode(cause, NOT_THERE)) throw gone(formatLsn(start), cause)
      throw cause
    } finally {
      await writer.close()
    }
  })
}

/** How long a file of a server's write-ahead log is. */
export async function segmentBytesOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `select setting::integer as bytes from pg_settings where name = 'wal_segment_size'`,
  )
  return rows[0]?.bytes ?? 16_777_216
}

/** Lets the server drop what it kept for the slot. */
export async function dropSlot(client: pg.Client, slot: string): Promise<void> {
  await client.query(`DROP_REPLICATION_SLOT "${slot}"`).catch((error: unknown) => {
    if (!hasCode(error, UNDEFINED_SLOT)) throw error
  })
}

async function ensureSlot(client: pg.Client, slot: string): Promise<void> {
  const { rows } = await client.query(
    `select 1 from pg_replication_slots where slot_name = '${slot}'`,
  )
  if (rows.length === 0)
    await client.query(`CREATE_REPLICATION_SLOT "${slot}" PHYSICAL RESERVE_WAL`)
}

async function keepHistory(client: pg.Client, timeline: number, folder: string): Promise<void> {
  const { rows } = await client.query<{ filename: string; content: Buffer | string }>(
    `TIMELINE_HISTORY ${timeline}`,
  )
  const [history] = rows
  if (history !== undefined)
    await writeFile(join(folder, history.filename), history.content, { mode: 0o600 })
}

/** The beginning of the segment that is not whole yet. */
async function startOf(
  { folder, from }: FollowWalOptions,
  { segmentBytes, lsn }: { readonly segmentBytes: number; readonly lsn: string },
): Promise<bigint> {
  const files = await listWalFiles(folder, segmentBytes)
  const whole = files.filter(({ isPartial }) => !isPartial).map(({ segment }) => segment)
  const newest = whole.length === 0 ? undefined : whole.reduce((a, b) => (a > b ? a : b))
  const now = readLsn(lsn) / BigInt(segmentBytes)
  const wanted = from === undefined ? now : readLsn(from) / BigInt(segmentBytes)
  const segment = newest === undefined ? wanted : newest + 1n
  // A server that was restored is behind what was kept of it before.
  return (segment > now ? now : segment) * BigInt(segmentBytes)
}

interface SegmentWriter {
  readonly flushed: bigint
  write(at: bigint, bytes: Buffer): Promise<void>
  flush(): Promise<void>
  close(): Promise<void>
}

/** Files are whole under their name, and `.partial` until then, filled up with zeros to the length that Postgres expects. */
function createSegmentWriter(
  folder: string,
  {
    timeline,
    segmentBytes,
    start,
  }: Readonly<{ timeline: number; segmentBytes: number; start: bigint }>,
): SegmentWriter {
  const size = BigInt(segmentBytes)
  let file: FileHandle | undefined
  let segment = 0n
  let written = start
  let flushed = start
  const pathOf = () => join(folder, walFileName(timeline, segment, segmentBytes))

  async function openAt(at: bigint): Promise<FileHandle> {
    segment = at / size
    // What an earlier run wrote stays there until the same comes again.
    const opened = await open(`${pathOf()}.partial`, O_RDWR | O_CREAT, 0o600)
    await opened.truncate(segmentBytes)
    return opened
  }

  async function finish(): Promise<void> {
    if (file === undefined) return
    await file.datasync()
    await file.close()
    file = undefined
    await rename(`${pathOf()}.partial`, pathOf())
    await using parent = await open(folder, 'r')
    await parent.sync()
    flushed = written
  }

  return {
    get flushed() {
      return flushed
    },
    async write(at, bytes) {
      let position = at
      let rest = bytes
      while (rest.length > 0) {
        file ??= await openAt(position)
        const within = Number(position % size)
        const part = rest.subarray(0, segmentBytes - within)
        await file.write(part, 0, part.length, within)
        position += BigInt(part.length)
        written = position
        rest = rest.subarray(part.length)
        if (position % size === 0n) await finish()
      }
    },
    async flush() {
      if (file === undefined || flushed === written) return
      const upTo = written
      await file.datasync()
      flushed = upTo
    },
    async close() {
      await file?.datasync()
      await file?.close()
      file = undefined
    },
  }
}

interface WalQueryParts {
  readonly writer: SegmentWriter
  readonly options: Pick<FollowWalOptions, 'onFlushed'>
  readonly timeline: number
  readonly done: Readonly<{ resolve: () => void; reject: (error: unknown) => void }>
}

type WalConnection = Connection & {
  sendCopyFromChunk(bytes: Buffer): void
  endCopyFrom(): void
  readonly stream: NodeJS.ReadableStream
}

const WAL_HEADER_BYTES = 25
const KEEPALIVE_REPLY_AT = 17
const STATUS_BYTES = 34
const QUEUED_MAX = 64

/** A command of the form the driver runs itself: one that goes on in both directions. */
class WalQuery implements Submittable {
  readonly #text: string
  readonly #parts: WalQueryParts
  readonly #queue: { readonly at: bigint; readonly bytes: Buffer }[] = []
  #connection: WalConnection | undefined
  #isWriting = false
  #isEnded = false
  #timer: NodeJS.Timeout | undefined

  constructor(text: string, parts: WalQueryParts) {
    this.#text = text
    this.#parts = parts
  }

  submit(connection: Connection): void {
    this.#connection = connection as WalConnection
    // At the end of a timeline the server says that it is done, and waits for the same word.
    connection.once('copyDone', () => this.stop())
    connection.query(this.#text)
    this.#timer = setInterval(() => this.#tell(), STATUS_EVERY_MS)
  }

  /** What came is written first. */
  stop(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    clearInterval(this.#timer)
    if (!this.#isWriting) this.#end()
  }

  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    if (chunk[0] === 'w'.charCodeAt(0)) {
      const bytes = Buffer.from(chunk.subarray(WAL_HEADER_BYTES))
      this.#queue.push({ at: chunk.readBigUInt64BE(1), bytes })
      if (this.#queue.length > QUEUED_MAX) this.#connection?.stream.pause()
      if (!this.#isWriting) void this.#write()
    } else if (chunk[KEEPALIVE_REPLY_AT] === 1) this.#tell()
  }

  handleRowDescription(): void {}

  handleDataRow(): void {}

  handleError(error: Error): void {
    clearInterval(this.#timer)
    this.#parts.done.reject(error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    clearInterval(this.#timer)
    this.#parts.done.resolve()
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    const { writer, options, timeline, done } = this.#parts
    try {
      while (this.#queue.length > 0) {
        const some = this.#queue.splice(0)
        this.#connection?.stream.resume()
        for (const { at, bytes } of some) await writer.write(at, bytes)
        // One flush for all that came while the one before it took its time.
        await writer.flush()
        this.#tell()
        options.onFlushed?.({ timeline, flushed: formatLsn(writer.flushed) })
      }
      if (this.#isEnded) this.#end()
    } catch (error) {
      clearInterval(this.#timer)
      done.reject(error)
    } finally {
      this.#isWriting = false
    }
  }

  /** Written and flushed are told as one: nothing counts that a crash of this machine could take. */
  #tell(): void {
    const { flushed } = this.#parts.writer
    const status = Buffer.alloc(STATUS_BYTES)
    status.write('r', 'latin1')
    status.writeBigUInt64BE(flushed, 1)
    status.writeBigUInt64BE(flushed, 9)
    status.writeBigUInt64BE(flushed, 17)
    this.#connection?.sendCopyFromChunk(status)
  }

  #end(): void {
    this.#connection?.endCopyFrom()
  }
}

const gone = (lsn: string, cause: unknown) =>
  permanent(
    'BATON_BACKUP_WAL_GONE',
    `the server has no longer the write-ahead log from ${lsn} on`,
    {
      cause,
      fix: 'Take a new backup with `baton backup`; the log is followed from there on.',
    },
  )
