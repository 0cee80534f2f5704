// How backups lie in their folder: one folder for each, named after its time, whole or not there; beside them what all share.
import { createHash } from 'node:crypto'
import { mkdir, open, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { basename, isAbsolute, join, resolve } from 'node:path'
import { BatonError, permanent } from '@baton/runtime'
import type { Context } from '../context.ts'
import { openPlain, readPlain, requirePlain } from './plain-files.ts'

export const FORMAT = 'baton-backup/1'

/** Which databases a server holds. Both are one where they stand on the same server. */
export type ServerName = 'operational' | 'audit'

/** A copy of a whole server. */
export interface ServerCopy {
  readonly name: ServerName
  readonly databases: readonly string[]
  readonly systemId: string
  /** Of Postgres, for example 18.4. */
  readonly version: string
  readonly timeline: number
  readonly segmentBytes: number
  readonly startLsn: string
  /** All that was committed before is in the copy. */
  readonly endLsn: string
  readonly beganAt: string
  readonly endedAt: string
  readonly archive: string
  readonly manifest: string
}

export interface ListedFile {
  /** Below the folder of the backup. */
  readonly path: string
  readonly bytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

interface ChainPosition {
  readonly origin: string
  readonly records: number
  /** Of its last record, lower-case hex. */
  readonly lastHash: string
}

export interface BackupManifest {
  readonly format: typeof FORMAT
  readonly id: string
  readonly takenAt: string
  readonly ms: number
  /** Version of Baton. */
  readonly software: string
  /** What was copied, in the order in which it was: see infra/backup.md, “Why the order holds”. */
  readonly order: readonly string[]
  readonly servers: readonly ServerCopy[]
  /** What the log held at least: as it stood before the first server was copied. */
  readonly log: { readonly chains: readonly ChainPosition[]; readonly seals: number }
  /** The newest migration of each schema. */
  readonly schema: Readonly<Record<string, string>>
  /** What of the sealer and its watchers is in it, by what it is. */
  readonly seals: readonly string[]
  /** What should have been copied and could not be seen from here. */
  readonly missing: readonly string[]
  /** Objects of the cold store that were there; they stand in the pool that all backups share. */
  readonly cold: { readonly objects: number; readonly bytes: number; readonly list: string } | null
  /** Erasures that were known, by whom they were carried out. */
  readonly erasures: number
  readonly files: readonly ListedFile[]
}

export interface StoredBackup {
  readonly folder: string
  readonly manifest: BackupManifest
  /** Of the manifest, lower-case hex: what a record in the log names. */
  readonly sha256: string
}

const MANIFEST = 'manifest.json'
/** Until it had milliseconds, two of one second were one. */
const ID = /^\d{8}T\d{6}(?:\d{3})?Z$/
const DRAFT = '.draft'

export const isBackupId = (name: string): boolean => ID.test(name)

/** What all backups of a folder share. */
export const sharedPlaces = (root: string) => ({
  cold: join(root, 'cold'),
  wal: (systemId: string) => join(root, 'wal', systemId),
  wals: join(root, 'wal'),
  erasures: join(root, 'erasures.jsonl'),
})

export const idOf = (at: Date): string => at.toISOString().replaceAll(/[-:.]/g, '')

/** The folder of the backups: the one that is named, else one beside the instance. */
export const backupRoot = (
  { home, settings }: Pick<Context, 'home' | 'settings'>,
  given: string | undefined,
): string => resolve(given ?? settings.BATON_BACKUP_FOLDER ?? join(home, 'backups'))

const SHARED = new Set(['.lock', 'cold', 'erasures.jsonl', 'wal'])

/** Throws BATON_BACKUP_UNREADABLE where one of the names that are used there is a link, a pipe or a device. */
export const requirePlainRoot = async (root: string): Promise<void> =>
  requirePlain(await realpath(root).catch(() => root), (name) => SHARED.has(name) || ID.test(name))

/** Those that are whole, the oldest first. */
export async function listBackups(root: string): Promise<readonly StoredBackup[]> {
  await requirePlainRoot(root)
  const names = await readdir(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  const ids = names.filter((name) => ID.test(name)).toSorted()
  return Promise.all(ids.map((id) => readBackup(join(root, id))))
}

/** What a copy of a server is called in the folder of its backup. */
export const copyNames = (name: ServerName) => ({
  archive: `${name}.tar.zst`,
  manifest: `${name}.files.json`,
})

const SERVER_NAMES: readonly unknown[] = ['operational', 'audit'] satisfies ServerName[]
const LSN = /^[0-9A-F]{1,8}\/[0-9A-F]{1,8}$/
const SEGMENT_BYTES = { min: 1_048_576, max: 1_073_741_824 }

/**
 * Whoever may write to the folder may write this. What it names becomes paths and settings of a server, so it is taken only in the forms
 * that a backup itself writes.
 */
function readManifest(text: string): BackupManifest {
  const manifest = JSON.parse(text) as BackupManifest
  if (manifest.format !== FORMAT) throw new Error(`its format is ${String(manifest.format)}`)
  const { id, servers, files } = manifest
  const names = servers.map(({ name }) => name)
  const isWhole =
    ID.test(id) &&
    new Set(names).size === names.length &&
    servers.every(isPlainServer) &&
    files.every(({ path }) => isBelow(path))
  if (!isWhole) throw new Error('it names what no backup has')
  return manifest
}

function isPlainServer(server: ServerCopy): boolean {
  const { name, systemId, timeline, segmentBytes, startLsn, endLsn, archive, manifest } = server
  const { min, max } = SEGMENT_BYTES
  return (
    SERVER_NAMES.includes(name) &&
    archive === copyNames(name).archive &&
    manifest === copyNames(name).manifest &&
    /^\d{1,20}$/.test(systemId) &&
    Number.isSafeInteger(timeline) &&
    Number.isSafeInteger(segmentBytes) &&
    segmentBytes >= min &&
    segmentBytes <= max &&
    LSN.test(startLsn) &&
    LSN.test(endLsn)
  )
}

const isBelow = (path: string): boolean => !isAbsolute(path) && !path.split('/').includes('..')

/** Throws BATON_BACKUP_UNKNOWN and BATON_BACKUP_UNREADABLE. */
async function readBackup(folder: string): Promise<StoredBackup> {
  const path = join(folder, MANIFEST)
  await requirePlain(folder)
  await requirePlain(join(folder, 'seals'))
  const text = await readPlain(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') throw unknown(folder)
    throw cause instanceof BatonError ? cause : unreadable(path, cause)
  })
  try {
    const manifest = readManifest(text.toString())
    // An older one under a newer name would be the one that a restore takes.
    const name = basename(folder)
    if (ID.test(name) && name !== manifest.id) throw new Error(`it is the backup ${manifest.id}`)
    return { folder, manifest, sha256: createHash('sha256').update(text).digest('hex') }
  } catch (cause) {
    throw unreadable(path, cause)
  }
}

/** The one that is named by its id or folder, or the newest. */
export async function findBackup(root: string, given: string | undefined): Promise<StoredBackup> {
  await requirePlainRoot(root)
  if (given !== undefined && ID.test(given)) return readBackup(join(root, given))
  if (given !== undefined) return readBackup(resolve(given))
  const newest = (await listBackups(root)).at(-1)
  if (newest === undefined) throw unknown(root)
  return newest
}

/**
 * Makes the folder of a backup and has it filled; it gets its name once it is whole and on disk, and what a failed or killed one
 * left is deleted.
 */
export async function writeBackup(
  root: string,
  id: string,
  fill: (draft: string) => Promise<BackupManifest>,
): Promise<StoredBackup> {
  await mkdir(root, { recursive: true, mode: 0o700 })
  await removeDrafts(root)
  const draft = join(root, `${id}${DRAFT}`)
  const folder = join(root, id)
  await mkdir(draft, { mode: 0o700 })
  try {
    const manifest = await fill(draft)
    await writeDurably(join(draft, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
    await sync(draft)
    await rename(draft, folder)
    await sync(root)
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    throw error
  }
  return readBackup(folder)
}

async function removeDrafts(root: string): Promise<void> {
  const left = (await readdir(root)).filter((name) => name.endsWith(DRAFT))
  for (const name of left) await rm(join(root, name), { recursive: true, force: true })
}

export async function writeDurably(path: string, content: string | Uint8Array): Promise<void> {
  await writeFile(path, content, { mode: 0o600, flush: true })
}

/** Has what was written to a file or folder be on disk when it resolves. */
export async function sync(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/** Throws BATON_BACKUP_DAMAGED where a file is not what the manifest lists: the log knows the manifest by its digest, and it these. */
export function requireListed(
  { path, sha256 }: Pick<ListedFile, 'path' | 'sha256'>,
  { files }: BackupManifest,
): void {
  if (files.find((file) => file.path === path)?.sha256 !== sha256) throw changed(path)
}

/** The size and digest of a file, read in pieces. */
export async function listFile(folder: string, path: string): Promise<ListedFile> {
  const digest = createHash('sha256')
  let bytes = 0
  const file = await openPlain(join(folder, path))
  for await (const piece of file.createReadStream() as AsyncIterable<Buffer>) {
    bytes += piece.length
    digest.update(piece)
  }
  return { path, bytes, sha256: digest.digest('hex') }
}

const unknown = (folder: string) =>
  permanent('BATON_BACKUP_UNKNOWN', `there is no backup in ${folder}`, {
    fix: '`baton backup ls` lists those of a folder. `--to` of `backup`, `--from` of `restore` or BATON_BACKUP_FOLDER names another one.',
  })

const changed = (path: string) =>
  permanent('BATON_BACKUP_DAMAGED', `${path} in the backup is not what its manifest lists`, {
    fix: 'Take another backup: this one was changed or its disk is damaged. `baton backup ls` lists them.',
  })

const unreadable = (path: string, cause: unknown) =>
  permanent('BATON_BACKUP_UNREADABLE', `${path} cannot be read`, {
    cause,
    fix: 'Take another backup: this one was changed or its disk is damaged. `baton backup ls` lists them.',
  })
