// Makes the data folder of a server out of a backup and the write-ahead log that was kept since. Postgres itself then goes
// through the log, up to its end or to a time.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, mkdir, readdir, rm, statfs, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createZstdDecompress } from 'node:zlib'
import {
  isHistoryName,
  listWalFiles,
  readLsn,
  RESTORED_SETTING,
  walFileName,
} from '@baton/postgres'
import { permanent } from '@baton/runtime'
import { interrupted } from '../commands/follow.ts'
import { bytesText } from '../terminal/figures.ts'
import { listFile, requireListed, sharedPlaces } from './backup-folder.ts'
import type { ListedFile, ServerCopy, StoredBackup } from './backup-folder.ts'
import { readFollowed } from './followed.ts'
import { copyPlain, openPlain, readPlain, requirePlain } from './plain-files.ts'

/** Up to where a server is restored: all that is there, the end of the backup itself, or a time. */
export type Until = 'end' | 'backup' | Date

interface PrepareOptions {
  readonly root: string
  readonly stored: StoredBackup
  readonly server: ServerCopy
  readonly until: Until
  /** Whether it takes the settings of the server that was copied, or is one to throw away, on this machine alone. */
  readonly isThrowAway?: boolean
  readonly signal: AbortSignal
  readonly onProgress: (words: string) => void
}

export interface PreparedData {
  /** Files of write-ahead log that were added to those of the backup. */
  readonly walFiles: number
}

/**
 * Throws BATON_RESTORE_SPACE before anything is written where there is too little, and BATON_BACKUP_DAMAGED where a file is not what
 * the server said when it was copied.
 */
export async function prepareData(target: string, options: PrepareOptions): Promise<PreparedData> {
  const { root, stored, server, until, signal } = options
  const { folder, manifest } = stored
  const { isThrowAway = false } = options
  const onProgress = (words: string): void => {
    if (signal.aborted) throw interrupted()
    options.onProgress(words)
  }
  requireListed(await listFile(folder, server.manifest), manifest)
  const listed = await readListed(join(folder, server.manifest))
  await requireSpace(target, listed)
  onProgress(`unpacking ${server.archive}`)
  const unpacked = await unpack(join(folder, server.archive), target, signal)
  requireListed({ path: server.archive, ...unpacked }, manifest)
  await requireNoLink(target)
  await checkUnpacked(target, listed, onProgress)
  const walFiles = until === 'backup' ? 0 : await addWal(target, root, server)
  if (isThrowAway) await forgetSettings(target)
  await appendFile(join(target, 'postgresql.auto.conf'), recoverySettings(until, manifest.id))
  await writeFile(join(target, 'recovery.signal'), '', { mode: 0o600 })
  await rm(join(target, 'standby.signal'), { force: true })
  return { walFiles }
}

/**
 * What Postgres is told besides, by name. The id of the backup stands in the settings of the server until the restore is finished: no
 * service starts before. What it does not find where it looks for archived files, it takes from pg_wal.
 */
function recoverySettings(until: Until, backupId: string): string {
  const target =
    until === 'backup'
      ? [`recovery_target = 'immediate'`]
      : until === 'end'
        ? []
        : [`recovery_target_time = '${until.toISOString()}'`]
  const lines = [
    `restore_command = 'false'`,
    // Nobody is let in before it is through: whoever asks would be told what is not so any more.
    `hot_standby = off`,
    `recovery_target_timeline = 'latest'`,
    `recovery_target_action = 'promote'`,
    `primary_conninfo = ''`,
    `primary_slot_name = ''`,
    `synchronous_standby_names = ''`,
    `${RESTORED_SETTING} = '${backupId}'`,
    ...target,
  ]
  return `${lines.join('\n')}\n`
}

/**
 * What the copied server was told holds there: paths, libraries, addresses, who may connect. Here is nobody but who knows the password
 * of the superuser.
 */
async function forgetSettings(target: string): Promise<void> {
  const files = {
    'postgresql.conf': '',
    'postgresql.auto.conf': '',
    'pg_hba.conf': 'host all all 127.0.0.1/32 scram-sha-256\n',
    'pg_ident.conf': '',
  }
  for (const [name, content] of Object.entries(files))
    await writeFile(join(target, name), content, { mode: 0o600 })
}

/** Answers the digest of what was unpacked. */
async function unpack(
  archive: string,
  target: string,
  signal: AbortSignal,
): Promise<Pick<ListedFile, 'sha256'>> {
  const digest = createHash('sha256')
  const packed = (await openPlain(archive)).createReadStream()
  packed.on('data', (piece) => digest.update(piece))
  const child = spawn('tar', ['-x', '-f', '-', '-C', target], {
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', (cause) => reject(notUnpacked(archive, 'tar is not on PATH', cause)))
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(notUnpacked(archive, said.trim(), undefined)),
    )
  })
  await Promise.all([
    ended,
    pipeline(packed, createZstdDecompress(), child.stdin, { signal }).catch(
      async (cause: unknown) => {
        if (signal.aborted) {
          await ended.catch(() => undefined)
          throw interrupted()
        }
        await ended
        // tar was through before this process heard that it had taken the end. Whether it was the whole, the digest says.
        if ((cause as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return
        throw notUnpacked(archive, 'it is cut or was changed', cause)
      },
    ),
  ])
  return { sha256: digest.digest('hex') }
}

/** A link would lead what is written into the folder afterwards, also by the server, to any other place. */
async function requireNoLink(target: string): Promise<void> {
  const entries = await readdir(target, { recursive: true, withFileTypes: true })
  const other = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (other !== undefined) throw damaged(relative(target, join(other.parentPath, other.name)))
}

interface ServerManifest {
  readonly Files: readonly {
    readonly Path?: string
    readonly Size: number
    readonly Checksum?: string
  }[]
}

type Listed = ServerManifest['Files']

const readListed = async (manifest: string): Promise<Listed> =>
  (JSON.parse((await readPlain(manifest)).toString()) as ServerManifest).Files

/** Files and what recovery writes besides. A full disk would stop whatever else writes to it. */
const SPACE_FACTOR = 1.2

async function requireSpace(target: string, listed: Listed): Promise<void> {
  const needed = listed.reduce((sum, { Size: bytes }) => sum + bytes, 0) * SPACE_FACTOR
  const { bavail, bsize } = await statfs(target)
  const free = bavail * bsize
  if (free < needed) throw tooLittle(target, { needed, free })
}

/** Each file, as the server listed it while it was copied: what pg_verifybackup does. */
async function checkUnpacked(
  target: string,
  files: Listed,
  onProgress: (words: string) => void,
): Promise<void> {
  let checked = 0
  for (const { Path: path, Size: bytes, Checksum: sha256 } of files) {
    if (path === undefined || sha256 === undefined) continue
    const found = await listFile(target, path).catch(() => undefined)
    if (found?.bytes !== bytes || found.sha256 !== sha256) throw damaged(path)
    checked += 1
    onProgress(`checking ${checked} of ${files.length} files`)
  }
}

/**
 * What was kept since the backup began; the file that was still written to counts as a whole one, filled up with zeros. It is left out
 * where the backup itself holds more of it, because nobody followed any more when that was taken.
 */
async function addWal(target: string, root: string, server: ServerCopy): Promise<number> {
  const { segmentBytes, startLsn, endLsn, timeline, systemId } = server
  const from = sharedPlaces(root).wal(systemId)
  const size = BigInt(segmentBytes)
  await requirePlain(sharedPlaces(root).wals)
  await requirePlain(from)
  const files = (await listWalFiles(from, segmentBytes)).filter(
    (file) => file.segment >= readLsn(startLsn) / size && file.timeline >= timeline,
  )
  const folder = join(target, 'pg_wal')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const whole = new Set(files.filter(({ isPartial }) => !isPartial).map(({ name }) => name))
  const followed = await readFollowed(root, systemId)
  const isPast = followed !== undefined && readLsn(followed.flushed) >= readLsn(endLsn)
  let added = 0
  for (const file of files) {
    const name = walFileName(file.timeline, file.segment, segmentBytes)
    const isStale = !isPast && file.segment <= readLsn(endLsn) / size
    if (file.isPartial && (whole.has(name) || isStale)) continue
    await copyPlain(join(from, file.name), join(folder, name))
    added += 1
  }
  const names = await readdir(from).catch(() => [])
  for (const name of names.filter(isHistoryName))
    await copyPlain(join(from, name), join(folder, name))
  return added
}

const tooLittle = (target: string, { needed, free }: { needed: number; free: number }) =>
  permanent(
    'BATON_RESTORE_SPACE',
    `${target} has ${bytesText(free)} free, and the server needs ${bytesText(needed)}`,
    { fix: 'Free that much there, or name a place that has it.' },
  )

const notUnpacked = (archive: string, why: string, cause: unknown) =>
  permanent('BATON_BACKUP_DAMAGED', `${archive} cannot be unpacked: ${why}`, {
    cause,
    fix: 'Check it with `baton backup verify`, and take another backup where it is damaged. Unpacking needs `tar` and free space for the whole server.',
  })

const damaged = (path: string) =>
  permanent('BATON_BACKUP_DAMAGED', `${path} in the backup is not what the server listed`, {
    fix: 'Take another backup: `baton backup ls` lists them.',
  })
