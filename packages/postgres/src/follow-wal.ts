// Keeps a copy of a server's write-ahead log as it is written, as pg_receivewal does: what was committed survives the server.
// The files are those of pg_receivewal, so either goes on where the other stopped.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import type { Connection, Submittable } from 'pg'
import { permanent, transient } from '@baton/runtime'
import { hasCode } from './connect.ts'
import { identifyServer, withWalSender } from './base-backup.ts'
import { createSegmentWriter } from './segment-writer.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { formatLsn, listWalFiles, readLsn, segmentBytesOf } from './wal-files.ts'

export interface WalFollowing {
  readonly timeline: number
  /** Up to here everything is on the disk of this machine. */
  readonly flushed: string
  /** By the server's clock: everything that was committed until then is. */
  readonly coveredUntil: Date
}

interface FollowWalOptions {
  /** Where the files go; made where it is missing. One server, one folder. */
  readonly folder: string
  /** The position from which on the files are wanted: where the newest base backup begins. */
  readonly from: string
  /** A slot that keeps write-ahead log on the server while nobody follows; made where it is missing. Without it the server keeps what it likes. */
  readonly slot?: string | undefined
  readonly signal: AbortSignal
  /** Told about once a second, while this machine has all that the server has sent and the server has no more. */
  readonly onCovered: (following: WalFollowing) => void
}

/** The server answers each with its clock. */
const STATUS_EVERY_MS = 1_000
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
    const start = await startOf(options, { segmentBytes, timeline, lsn })
    const writer = createSegmentWriter(options.folder, { timeline, segmentBytes, start })
    const slot = options.slot === undefined ? '' : `SLOT "${options.slot}" `
    const text = `START_REPLICATION ${slot}PHYSICAL ${formatLsn(start)} TIMELINE ${timeline}`
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const query = new WalQuery(text, { writer, options, timeline, done: { resolve, reject } })
    const stop = (): void => query.stop()
    options.signal.addEventListener('abort', stop, { once: true })
    client.once('end', () => reject(ended()))
    try {
      client.query(query)
      if (options.signal.aborted) stop()
      await promise
    } catch (cause) {
      if (hasCode(cause, NOT_THERE)) throw gone(formatLsn(start), cause)
      throw cause
    } finally {
      options.signal.removeEventListener('abort', stop)
      await writer.close()
    }
  })
}

/** Lets the server drop what it kept for the slot. */
export async function dropSlot(client: pg.Client, slot: string): Promise<void> {
  await client.query(`DROP_REPLICATION_SLOT "${slot}"`).catch((error: unknown) => {
    if (!hasCode(error, UNDEFINED_SLOT)) throw error
  })
}

/** One that the server gave up, because too much was kept for it, is made anew. */
async function ensureSlot(client: pg.Client, slot: string): Promise<void> {
  const { rows } = await client.query<{ isLost: boolean }>(
    `select wal_status = 'lost' as "isLost" from pg_replication_slots where slot_name = '${slot}'`,
  )
  const [found] = rows
  if (found !== undefined && !found.isLost) return
  if (found !== undefined) await dropSlot(client, slot)
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

/** Where the server stands, and how long its files are. */
interface WalStanding {
  readonly segmentBytes: number
  readonly timeline: number
  readonly lsn: string
}

/** The beginning of the first segment that is wanted and not whole yet. What was kept of another timeline is of another history. */
async function startOf(
  { folder, from }: FollowWalOptions,
  { segmentBytes, timeline, lsn }: WalStanding,
): Promise<bigint> {
  const size = BigInt(segmentBytes)
  const whole = (await listWalFiles(folder, segmentBytes)).filter(
    (file) => !file.isPartial && file.timeline === timeline,
  )
  const next = whole.map(({ segment }) => segment + 1n)
  const segments = [readLsn(from) / size, ...next]
  const wanted = segments.reduce((a, b) => (a > b ? a : b))
  // A server that was put back to an earlier moment is behind what was kept of it.
  const now = readLsn(lsn) / size
  return (wanted > now ? now : wanted) * size
}

interface WalQueryParts {
  readonly writer: SegmentWriter
  readonly options: Pick<FollowWalOptions, 'onCovered'>
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
const STATUS_REPLY_AT = 33
const QUEUED_MAX = 64
/** Times on the wire are microseconds since then. */
const EPOCH_MS = Date.UTC(2_000, 0, 1)

/** A command of the form the driver runs itself: one that goes on in both directions. */
class WalQuery implements Submittable {
  readonly #text: string
  readonly #parts: WalQueryParts
  readonly #queue: { readonly at: bigint; readonly bytes: Buffer }[] = []
  #connection: WalConnection | undefined
  #isWriting = false
  #isEnded = false
  #isCaughtUp = true
  /** Where the server stood when it last said so, and when that was. */
  #before: { readonly end: bigint; readonly at: Date } | undefined
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
    this.#timer = setInterval(() => this.#tell('and asks for the clock'), STATUS_EVERY_MS)
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
      const at = chunk.readBigUInt64BE(1)
      const bytes = Buffer.from(chunk.subarray(WAL_HEADER_BYTES))
      this.#isCaughtUp = at + BigInt(bytes.length) >= chunk.readBigUInt64BE(9)
      this.#queue.push({ at, bytes })
      if (this.#queue.length > QUEUED_MAX) this.#connection?.stream.pause()
      if (!this.#isWriting) void this.#write()
      return
    }
    if (chunk[KEEPALIVE_REPLY_AT] === 1) this.#tell()
    const at = new Date(EPOCH_MS + Number(chunk.readBigUInt64BE(9) / 1_000n))
    this.#noteClock({ end: chunk.readBigUInt64BE(1), at })
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

  /**
   * What was committed before the last time but one that the server told its clock has been sent by now, where nothing is left to be
   * sent; and it is here where that is on disk.
   */
  #noteClock(now: { readonly end: bigint; readonly at: Date }): void {
    const { writer, options, timeline } = this.#parts
    if (this.#before !== undefined && this.#isCaughtUp && writer.flushed >= now.end)
      options.onCovered({
        timeline,
        flushed: formatLsn(writer.flushed),
        coveredUntil: this.#before.at,
      })
    this.#before = now
  }

  async #write(): Promise<void> {
    this.#isWriting = true
    const { writer, done } = this.#parts
    try {
      while (this.#queue.length > 0) {
        const some = this.#queue.splice(0)
        this.#connection?.stream.resume()
        for (const { at, bytes } of some) await writer.write(at, bytes)
        // One flush for all that came while the one before it took its time.
        await writer.flush()
        this.#tell()
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
  #tell(asking?: 'and asks for the clock'): void {
    const { flushed } = this.#parts.writer
    const status = Buffer.alloc(STATUS_BYTES)
    status.write('r', 'latin1')
    status.writeBigUInt64BE(flushed, 1)
    status.writeBigUInt64BE(flushed, 9)
    status.writeBigUInt64BE(flushed, 17)
    status.writeUInt8(asking === undefined ? 0 : 1, STATUS_REPLY_AT)
    this.#connection?.sendCopyFromChunk(status)
  }

  #end(): void {
    this.#connection?.endCopyFrom()
  }
}

const ended = () =>
  transient('BATON_BACKUP_INTERRUPTED', 'the server ended the connection', {
    fix: 'Follow it again: nothing that was written is lost.',
  })

const gone = (lsn: string, cause: unknown) =>
  permanent(
    'BATON_BACKUP_WAL_GONE',
    `the server has no longer the write-ahead log from ${lsn} on`,
    {
      cause,
      fix: 'Take a new backup with `baton backup`; the log is followed from there on.',
    },
  )
