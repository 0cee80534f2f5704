// Copies a Postgres server into a backup: one compressed archive and the server's own list of what is in it.
import { identifyServer, segmentBytesOf, takeBaseBackup, withWalSender } from '@baton/postgres'
import { copyNames } from './backup-folder.ts'
import type { ListedFile, ServerCopy, ServerName } from './backup-folder.ts'
import { createFileSink } from './file-sink.ts'

interface CopyOptions {
  readonly name: ServerName
  readonly databases: readonly string[]
  readonly folder: string
  readonly label: string
  readonly signal: AbortSignal
  readonly onProgress: (bytes: number) => void
}

interface CopiedServer {
  readonly server: ServerCopy
  readonly files: readonly ListedFile[]
}

/** The server goes on working. Throws what `takeBaseBackup` throws. */
export async function copyServer(url: string, options: CopyOptions): Promise<CopiedServer> {
  const { name, databases, folder, label, signal, onProgress } = options
  const beganAt = new Date()
  const facts = await withWalSender(url, async (client) => {
    const { rows } = await client.query<{ version: string }>(
      `select split_part(current_setting('server_version'), ' ', 1) as version`,
    )
    return {
      ...(await identifyServer(client)),
      segmentBytes: await segmentBytesOf(client),
      version: rows[0]?.version ?? '',
    }
  })
  const names = copyNames(name)
  const archive = createFileSink(folder, names.archive, 'compressed')
  const manifest = createFileSink(folder, names.manifest, 'plain')
  const copied = await takeBaseBackup(url, {
    label,
    archive: archive.write,
    manifest: manifest.write,
    onProgress,
    signal,
  }).catch(async (error: unknown) => {
    archive.abandon()
    manifest.abandon()
    throw error
  })
  const files = [await archive.end(), await manifest.end()]
  const { systemId, segmentBytes, version } = facts
  const server = {
    name,
    databases,
    systemId,
    version,
    segmentBytes,
    ...copied,
    beganAt: beganAt.toISOString(),
    endedAt: new Date().toISOString(),
    ...names,
  }
  return { server, files }
}
