// How far the write-ahead log of a server was kept beside its backups, and until when everything that was committed is in it.
import { join } from 'node:path'
import { replaceFile } from '@baton/runtime'
import { sharedPlaces } from './backup-folder.ts'
import type { BackupManifest } from './backup-folder.ts'
import { readPlain } from './plain-files.ts'
import type { Until } from './prepare-data.ts'

export interface Followed {
  readonly timeline: number
  readonly flushed: string
  /** ISO 8601, by the server's clock. */
  readonly coveredUntil: string
}

const pathOf = (root: string, systemId: string): string =>
  join(sharedPlaces(root).wal(systemId), 'followed.json')

export const writeFollowed = (root: string, systemId: string, followed: Followed): Promise<void> =>
  replaceFile(pathOf(root, systemId), `${JSON.stringify(followed)}\n`)

/** Undefined where nobody has followed this server. */
export async function readFollowed(root: string, systemId: string): Promise<Followed | undefined> {
  try {
    return JSON.parse((await readPlain(pathOf(root, systemId))).toString()) as Followed
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const CLOCKS_APART_MS = 60_000

/** How a restored backup came up. */
interface Reached {
  readonly until: Until
  /** The newest transaction that the servers went through, where that is known. */
  readonly newestCommit: Date | null
}

/**
 * Until when everything that was committed is in what was restored, on every server of it. What was committed while a server was
 * copied is in the copy.
 */
export async function reached(
  root: string,
  { servers }: BackupManifest,
  { until, newestCommit }: Reached,
): Promise<Date> {
  const copied = Math.min(...servers.map(({ endedAt }) => Date.parse(endedAt)))
  if (until === 'backup') return new Date(copied)
  const kept = await Promise.all(
    servers.map(async ({ systemId, timeline }) => {
      const followed = await readFollowed(root, systemId)
      if (followed === undefined || followed.timeline < timeline) return 0
      const coveredMs = Date.parse(followed.coveredUntil)
      // Whoever may write to the folder may write this; nothing was covered until a time that has not come.
      return coveredMs <= Date.now() + CLOCKS_APART_MS ? coveredMs : 0
    }),
  )
  const known = Math.max(copied, newestCommit?.getTime() ?? 0, Math.min(...kept))
  return new Date(until instanceof Date ? Math.min(known, until.getTime()) : known)
}
