// Copies a whole Postgres server while it works, as pg_basebackup does: the server itself makes the copy (BASE_BACKUP of the
// replication protocol), so nothing has to be installed here, and no tool has to be as new as the server.
import type pg from 'pg'
import type { Connection, Submittable } from 'pg'
import { permanent, transient } from '@baton/runtime'
import { hasCode } from './connect.ts'
import { connectToWritable } from './servers.ts'

/** Where a server stands: which cluster it is, and how far its write-ahead log has come. */
export interface ServerPosition {
  /** The same for a server, its standbys and what is restored of them. */
  readonly systemId: string
  readonly timeline: number
  /** For example `0/16B3748`. */
  readonly lsn: string
}

export interface BaseBackup {
  readonly startLsn: string
  /** From here on the copy is consistent: it holds all that was committed before. */
  readonly endLsn: string
  readonly timeline: number
}

/** Takes the bytes in order; resolves when more may come. */
export type Sink = (bytes: Buffer) => Promise<void>

interface BaseBackupOptions {
  /** Stands in the copy and in the server's log. */
  readonly label: string
  /** Takes the tar archive of the data folder, write-ahead log that it needs included. */
  readonly archive: Sink
  /** Takes the server's own list of files with the SHA-256 of each (`backup_manifest`, as pg_verifybackup reads it). */
  readonly manifest: Sink
  readonly onProgress?: ((bytes: number) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

const PERMISSION_DENIED = ['42501', '28000', '0A000']

/**
 * Connects as a walsender. Within a database, so that no line for `replication` is needed in pg_hba.conf. Throws
 * BATON_BACKUP_REFUSED where the role or the server lets nobody copy it.
 */
export async function withWalSender<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const bounds = {
    application_name: 'baton-backup',
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    // The driver hands it on as it is; its types know only whether.
    replication: 'database',
  }
  let client: pg.Client | undefined
  try {
    client = await connectToWritable(url, bounds)
    return await work(client)
  } catch (cause) {
    if (PERMISSION_DENIED.some((code) => hasCode(cause, code))) throw refused(cause)
    throw cause
  } finally {
    await client?.end().catch(() => undefined)
  }
}

/** Where the server stands now. */
export async function identifyServer(client: pg.Client): Promise<ServerPosition> {
  const { rows } = await client.query<{ systemid: string; timeline: number; xlogpos: string }>(
    'IDENTIFY_SYSTEM',
  )
  const [found] = rows
  if (found === undefined) throw refused(undefined)
  return { systemId: found.systemid, timeline: Number(found.timeline), lsn: found.xlogpos }
}

/**
 * Copies the server. Its write-ahead log is kept for that long by a slot that ends with the connection. Throws BATON_BACKUP_REFUSED, and
 * BATON_BACKUP_TABLESPACES for a server with more than its data folder.
 */
export function takeBaseBackup(url: string, options: BaseBackupOptions): Promise<BaseBackup> {
  return withWalSender(url, async (client) => {
    await requireOneFolder(client)
    await client.query(
      `CREATE_REPLICATION_SLOT "baton_backup_${process.pid}" TEMPORARY PHYSICAL RESERVE_WAL`,
    )
    const end = () => void client.end().catch(() => undefined)
    options.signal?.addEventListener('abort', end, { once: true })
    try {
      return await new Promise((resolve, reject) => {
        client.query(new BaseBackupQuery(options, { resolve, reject }))
        client.once('end', () => reject(interrupted()))
      })
    } finally {
      options.signal?.removeEventListener('abort', end)
    }
  })
}

async function requireOneFolder(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ names: string }>(
    `select string_agg(spcname, ', ') as names from pg_tablespace where spcname not in ('pg_default', 'pg_global')`,
  )
  const names = rows[0]?.names
  if (names) throw tablespaces(names)
}

type Settled = Readonly<
  Record<'resolve', (backup: BaseBackup) => void> & Record<'reject', (error: unknown) => void>
>

/** What a message of the copy is about, by its first byte. */
const KINDS = { archive: 'n', manifest: 'm', data: 'd', progress: 'p' } as const
const ARCHIVE_OF_DATA_FOLDER = 'base.tar'

/** A command of the form the driver runs itself. The socket waits while a sink takes what came. */
class BaseBackupQuery implements Submittable {
  readonly #options: BaseBackupOptions
  readonly #settled: Settled
  readonly #positions: { readonly lsn: string; readonly timeline: number }[] = []
  #columns: readonly string[] = []
  #sink: Sink | undefined
  #written: Promise<void> = Promise.resolve()
  #pending = 0
  #error: unknown

  constructor(options: BaseBackupOptions, settled: Settled) {
    this.#options = options
    this.#settled = settled
  }

  submit(connection: Connection): void {
    const label = this.#options.label.replaceAll("'", "''")
    connection.query(
      `BASE_BACKUP (LABEL '${label}', CHECKPOINT 'fast', PROGRESS true, WAL true, WAIT false, MANIFEST 'yes', MANIFEST_CHECKSUMS 'SHA256')`,
    )
  }

  handleRowDescription({
    fields,
  }: {
    readonly fields: readonly { readonly name: string }[]
  }): void {
    this.#columns = fields.map(({ name }) => name)
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const at = this.#columns.indexOf('recptr')
    if (at < 0) return
    const timeline = Number(fields[this.#columns.indexOf('tli')])
    this.#positions.push({ lsn: fields[at] ?? '', timeline })
  }

  handleCopyData(
    { chunk }: { readonly chunk: Buffer },
    connection: Connection & { readonly stream: NodeJS.ReadableStream },
  ): void {
    const kind = String.fromCharCode(chunk[0] ?? 0)
    if (kind === KINDS.data) this.#write(Buffer.from(chunk.subarray(1)), connection.stream)
    else if (kind === KINDS.progress) this.#options.onProgress?.(Number(chunk.readBigUInt64BE(1)))
    else if (kind === KINDS.manifest) this.#sink = this.#options.manifest
    else if (kind === KINDS.archive) this.#beginArchive(chunk.toString('utf8', 1))
  }

  handleError(error: Error): void {
    this.#settled.reject(this.#error ?? error)
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.#written.then(
      () => this.#finish(),
      (error: unknown) => this.#settled.reject(error),
    )
  }

  #beginArchive(names: string): void {
    const [name = ''] = names.split('\0')
    if (name !== ARCHIVE_OF_DATA_FOLDER) this.#error ??= tablespaces(name)
    this.#sink = this.#options.archive
  }

  #write(bytes: Buffer, stream: NodeJS.ReadableStream): void {
    const sink = this.#sink
    if (sink === undefined) return
    this.#pending += 1
    stream.pause()
    this.#written = this.#written
      .then(() => sink(bytes))
      .finally(() => {
        this.#pending -= 1
        if (this.#pending === 0) stream.resume()
      })
    this.#written.catch((error: unknown) => this.#settled.reject(error))
  }

  #finish(): void {
    const [start, end] = this.#positions
    if (this.#error !== undefined || start === undefined || end === undefined)
      this.#settled.reject(this.#error ?? interrupted())
    else this.#settled.resolve({ startLsn: start.lsn, endLsn: end.lsn, timeline: end.timeline })
  }
}

const refused = (cause: unknown) =>
  permanent('BATON_BACKUP_REFUSED', 'the server lets nobody copy it as this role', {
    cause,
    fix: 'Name a superuser, or a role with the attribute REPLICATION that may connect to this database. A Postgres that is rented without it is backed up by whoever rents it out: infra/backup.md, “A server that cannot be copied”.',
  })

const tablespaces = (names: string) =>
  permanent('BATON_BACKUP_TABLESPACES', `the server has tablespaces of its own: ${names}`, {
    fix: 'Move what is in them to pg_default, or back this server up with pg_basebackup, which is told where each goes: infra/backup.md, “A server that cannot be copied”.',
  })

const interrupted = () =>
  transient('BATON_BACKUP_INTERRUPTED', 'the server ended the copy before it was whole', {
    fix: 'Run the command again; what it had written is deleted.',
  })
