// Deletes old backups, and what of the shared write-ahead log and cold objects no kept one needs.
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileColdStore } from '@baton/audit'
import { listWalFiles, readLsn, WAL_SEGMENT_BYTES_USUAL } from '@baton/postgres'
import { listBackups, sharedPlaces } from './backup-folder.ts'
import type { StoredBackup } from './backup-folder.ts'
import { readColdList } from './copy-cold.ts'

export interface Pruned {
  readonly deleted: readonly string[]
  readonly kept: readonly string[]
  readonly walFiles: number
  readonly objects: number
}

/** The newest `keep` stay. A backup goes as a whole: what the log, the keys and the texts of before can be read from is gone then. */
export async function pruneBackups(root: string, keep: number): Promise<Pruned> {
  const all = await listBackups(root)
  const kept = all.slice(-keep)
  const gone = all.slice(0, -keep)
  for (const { folder } of gone) await rm(folder, { recursive: true })
  const walFiles = await pruneWal(root, kept)
  const objects = gone.length === 0 ? 0 : await pruneCold(root, kept)
  return { deleted: gone.map(idOfBackup), kept: kept.map(idOfBackup), walFiles, objects }
}

const idOfBackup = ({ manifest }: StoredBackup): string => manifest.id

/** Files before the one in which the oldest kept copy of that server begins. */
async function pruneWal(root: string, kept: readonly StoredBackup[]): Promise<number> {
  const { wals, wal } = sharedPlaces(root)
  const servers = kept.flatMap(({ manifest }) => manifest.servers)
  let deleted = 0
  for (const systemId of await readdir(wals).catch(() => [])) {
    const oldest = servers.find((server) => server.systemId === systemId)
    // Of a server of which no copy is kept, no restore begins.
    const segmentBytes = oldest?.segmentBytes ?? WAL_SEGMENT_BYTES_USUAL
    const from = oldest === undefined ? undefined : readLsn(oldest.startLsn) / BigInt(segmentBytes)
    for (const file of await listWalFiles(wal(systemId), segmentBytes)) {
      if (file.isPartial || (from !== undefined && file.segment >= from)) continue
      await rm(join(wal(systemId), file.name))
      deleted += 1
    }
  }
  return deleted
}

async function pruneCold(root: string, kept: readonly StoredBackup[]): Promise<number> {
  const wanted = new Set<string>()
  for (const { folder } of kept)
    for (const name of (await readColdList(folder)).keys()) wanted.add(name)
  const pool = createFileColdStore(sharedPlaces(root).cold)
  const unwanted = (await pool.list('')).filter((name) => !wanted.has(name))
  await pool.remove(unwanted)
  return unwanted.length
}
